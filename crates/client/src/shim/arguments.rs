//! The arguments of `evermoor connect` as editors write them, read without the parser of all commands.
//!
//! This recognises the usual form only. Everything else, such as `--help`, a mistake, or a flag that changes
//! what is printed, is left to that parser.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// What an editor's entry says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ShimArguments {
    pub home: Option<PathBuf>,
    pub upstream: Option<String>,
    pub editor: Option<String>,
}

/// The command.
const CONNECT: &str = "connect";
/// Where all files are, unless `--home` says so.
const HOME: &str = "EVERMOOR_HOME";
/// Settings that only the whole program understands.
const OTHER_SETTINGS: [&str; 1] = ["EVERMOOR_LOG"];

impl ShimArguments {
    /// Reads the arguments after the name of the program; `None` if they are anything unusual. `variable`
    /// returns a variable of the environment.
    pub fn read(args: &[OsString], variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let (command, args) = args.split_first()?;
        if command != CONNECT || OTHER_SETTINGS.iter().any(|name| variable(name).is_some()) {
            return None;
        }
        let (mut read, mut rest) = (Self::default(), args.iter());
        while let Some(arg) = rest.next() {
            let text = arg.to_str();
            let (name, given) = match text.and_then(|text| text.split_once('=')) {
                Some((name, value)) if name.starts_with("--") => (name, Some(OsStr::new(value))),
                Some(_) | None => (text?, None),
            };
            match name {
                "--home" => {
                    let home = PathBuf::from(value(given, &mut rest)?);
                    set(&mut read.home, home)?;
                }
                "--editor" => {
                    let editor = value(given, &mut rest)?.to_str()?.to_owned();
                    set(&mut read.editor, editor)?;
                }
                name if name.is_empty() || name.starts_with('-') => return None,
                name => set(&mut read.upstream, name.to_owned())?,
            }
        }
        if read.home.is_none() {
            read.home = match variable(HOME) {
                Some(home) if home.is_empty() => return None,
                home => home.map(PathBuf::from),
            };
        }
        Some(read)
    }
}

/// The value of an option, after its `=` or as the next argument.
fn value<'a>(
    given: Option<&'a OsStr>,
    rest: &mut std::slice::Iter<'a, OsString>,
) -> Option<&'a OsStr> {
    let value = match given {
        Some(given) => given,
        None => rest.next().filter(|next| !next.as_encoded_bytes().starts_with(b"-"))?,
    };
    (!value.is_empty()).then_some(value)
}

/// Nothing is given twice.
fn set<T>(member: &mut Option<T>, value: T) -> Option<()> {
    member.replace(value).is_none().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_with(args: &[&str], variables: &[(&str, &str)]) -> Option<ShimArguments> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        ShimArguments::read(&args, |wanted| {
            let found = variables.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    fn read(args: &[&str]) -> Option<ShimArguments> {
        read_with(args, &[])
    }

    #[test]
    fn what_editors_write_is_read() {
        let (home, upstream, editor) =
            (Some("/h".into()), Some("notes".to_owned()), Some("zed".to_owned()));
        assert_eq!(read(&["connect"]), Some(ShimArguments::default()));
        let all = Some(ShimArguments { home, upstream, editor });
        assert_eq!(read(&["connect", "notes", "--editor", "zed", "--home", "/h"]), all);
        assert_eq!(read(&["connect", "--home=/h", "--editor=zed", "notes"]), all);
        let variable = [("EVERMOOR_HOME", "/h")];
        assert_eq!(read_with(&["connect", "notes", "--editor", "zed"], &variable), all);
        let other = read_with(&["connect", "--home", "/other"], &variable).unwrap();
        assert_eq!(other.home, Some("/other".into()));
    }

    #[test]
    fn everything_else_is_left_to_the_whole_program() {
        for args in [
            &[][..],
            &["serve"],
            &["--home", "/h", "connect"],
            &["connect", "--help"],
            &["connect", "-v"],
            &["connect", "--in-process"],
            &["connect", "a", "b"],
            &["connect", "--home"],
            &["connect", "--home", ""],
            &["connect", "--home", "-x"],
            &["connect", "--home", "a", "--home", "b"],
            &["connect", "--editor="],
            &["connect", "--"],
            &["connect", ""],
        ] {
            assert_eq!(read(args), None, "{args:?}");
        }
        assert_eq!(read_with(&["connect"], &[("EVERMOOR_HOME", "")]), None);
        assert_eq!(read_with(&["connect"], &[("EVERMOOR_LOG", "debug")]), None);
    }
}

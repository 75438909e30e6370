//! The arguments of the benchmark. A mistake in them must not start a long run that overwrites the page.

use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
Usage: bench [--quick] [--peers <folder>]
       bench eras | load | sign-in

  no arguments      measures everything and writes docs/performance.md
  --quick           fewer repetitions; prints the tables and writes nothing
  --peers <folder>  also measures the other proxies that are installed there
  eras              only measures calls between MCP versions
  load              only measures many sessions and calls at once
  sign-in           only measures what a sign-in to the server costs a call
  --help            prints this text";

/// What is to be measured.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Help,
    Eras,
    Load,
    SignIn,
    Routes { quick: bool, peers: Option<PathBuf> },
}

impl Task {
    /// Reads the arguments, or says what is wrong with them.
    pub(crate) fn read(args: &[String]) -> Result<Self, String> {
        let (mut quick, mut peers) = (false, None);
        let mut rest = args.iter().map(String::as_str);
        while let Some(arg) = rest.next() {
            match arg {
                "--help" | "-h" => return Ok(Self::Help),
                "eras" | "load" | "sign-in" if args.len() > 1 => {
                    return Err(format!("\"{arg}\" is used alone."));
                }
                "eras" => return Ok(Self::Eras),
                "load" => return Ok(Self::Load),
                "sign-in" => return Ok(Self::SignIn),
                "--quick" => quick = true,
                "--peers" => {
                    let folder = rest.next().filter(|folder| !folder.starts_with('-'));
                    peers = Some(folder.ok_or("--peers needs a folder.")?.into());
                }
                other => return Err(format!("There is no argument \"{other}\".")),
            }
        }
        Ok(Self::Routes { quick, peers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> Result<Task, String> {
        Task::read(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn every_documented_argument_is_read() {
        assert_eq!(read(&[]), Ok(Task::Routes { quick: false, peers: None }));
        let peers = Some(PathBuf::from("/p"));
        assert_eq!(read(&["--quick", "--peers", "/p"]), Ok(Task::Routes { quick: true, peers }));
        assert_eq!((read(&["eras"]), read(&["load"])), (Ok(Task::Eras), Ok(Task::Load)));
        assert_eq!(read(&["sign-in"]), Ok(Task::SignIn));
        assert_eq!((read(&["--quick", "--help"]), read(&["-h"])), (Ok(Task::Help), Ok(Task::Help)));
    }

    #[test]
    fn a_mistake_is_named_and_measures_nothing() {
        for (args, part) in [
            (&["--quik"][..], "--quik"),
            (&["5"], "5"),
            (&["load", "--quick"], "alone"),
            (&["--peers"], "folder"),
            (&["--peers", "--quick"], "folder"),
        ] {
            assert!(read(args).is_err_and(|mistake| mistake.contains(part)), "{args:?}");
        }
    }
}

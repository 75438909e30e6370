//! The arguments of the benchmark. A mistake in them must not start a long run that overwrites the page.

use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
Usage: bench [--quick] [--peers <folder>]
       bench versions | load | sign-in

  no arguments      measures everything and writes docs/performance.md
  --quick           fewer repetitions; prints the tables and writes nothing
  --peers <folder>  also measures the other proxies that are installed there
  versions          only measures calls between MCP versions
  load              only measures many sessions and calls at once
  sign-in           only measures what a sign-in to the server costs a call
  --help            prints this text";

/// What is to be measured.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BenchTask {
    Help,
    Versions,
    Load,
    SignIn,
    Routes { quick: bool, peers: Option<PathBuf> },
}

impl BenchTask {
    /// Reads the arguments, or says what is wrong with them.
    pub(crate) fn read(args: &[String]) -> Result<Self, String> {
        let (mut quick, mut peers) = (false, None);
        let mut rest = args.iter().map(String::as_str);
        while let Some(arg) = rest.next() {
            match arg {
                "--help" | "-h" => return Ok(Self::Help),
                "versions" | "load" | "sign-in" if args.len() > 1 => {
                    return Err(format!("\"{arg}\" is used alone."));
                }
                "versions" => return Ok(Self::Versions),
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

    fn read(args: &[&str]) -> Result<BenchTask, String> {
        BenchTask::read(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn every_documented_argument_is_read() {
        assert_eq!(read(&[]), Ok(BenchTask::Routes { quick: false, peers: None }));
        let peers = Some(PathBuf::from("/p"));
        assert_eq!(
            read(&["--quick", "--peers", "/p"]),
            Ok(BenchTask::Routes { quick: true, peers })
        );
        assert_eq!(
            (read(&["versions"]), read(&["load"])),
            (Ok(BenchTask::Versions), Ok(BenchTask::Load))
        );
        assert_eq!(read(&["sign-in"]), Ok(BenchTask::SignIn));
        assert_eq!(
            (read(&["--quick", "--help"]), read(&["-h"])),
            (Ok(BenchTask::Help), Ok(BenchTask::Help))
        );
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

//! `evermoor completions` and `evermoor man`, generated from the command line definition.

use clap::CommandFactory as _;

use crate::args::Args;
use crate::exit::Exit;
use crate::terminal;

pub(crate) fn completions(shell: clap_complete::Shell) -> Exit {
    let mut made = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "evermoor", &mut made);
    write(&made)
}

/// The manual page of the program, followed by those of its commands.
pub(crate) fn page() -> Exit {
    let mut command = Args::command();
    command.build();
    let mut made = Vec::new();
    let pages = std::iter::once(command.clone()).chain(command.get_subcommands().cloned());
    for page in pages.filter(|page| !page.is_hide_set()) {
        if let Err(error) = clap_mangen::Man::new(page).render(&mut made) {
            return Exit::failure(&error);
        }
    }
    write(&made)
}

fn write(made: &[u8]) -> Exit {
    terminal::print_raw(made);
    Exit::Ok
}

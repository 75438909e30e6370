//! The help of every command, so that a change of the command line can be read.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory as _};

use crate::args::Args;

#[test]
fn the_help_of_every_command_reads_well() {
    let mut command = Args::command().term_width(100).mut_args(|arg| arg.hide_env_values(true));
    command.build();
    insta::assert_snapshot!(help(&mut command));
}

/// The help of a command, then that of its commands, without what is the same for all of them.
fn help(command: &mut Command) -> String {
    let mut text = format!("{}\n", command.render_long_help());
    for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help") {
        let name = inner.get_bin_name().unwrap_or_default();
        writeln!(text, "\n==== {name}\n").unwrap();
        let shared = ["help", "version"];
        let is_shared = |arg: &Arg| arg.is_global_set() || shared.contains(&arg.get_id().as_str());
        *inner = inner.clone().mut_args(|arg| if is_shared(&arg) { arg.hide(true) } else { arg });
        text.push_str(&help(inner));
    }
    text
}

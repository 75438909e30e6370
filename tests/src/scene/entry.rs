//! Entries of upstreams in `config.toml`, as a person would write them.

use std::path::Path;

/// An upstream at an address.
pub fn at(name: &str, url: &str) -> String {
    format!("\n[upstreams.{name}]\nurl = {url:?}\n")
}

/// An upstream that is a program.
pub fn program(name: &str, program: &Path, args: &[String]) -> String {
    format!("\n[upstreams.{name}]\ncommand = {program:?}\nargs = {args:?}\n")
}

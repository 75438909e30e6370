//! Upstream entries for `config.toml`, as a user writes them.

use std::path::Path;

/// An upstream at a URL.
pub fn at(name: &str, url: &str) -> String {
    format!("\n[upstreams.{name}]\nurl = {url:?}\n")
}

/// A stdio upstream.
pub fn program(name: &str, program: &Path, args: &[String]) -> String {
    format!("\n[upstreams.{name}]\ncommand = {program:?}\nargs = {args:?}\n")
}

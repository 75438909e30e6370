//! The end-to-end tests, in one binary. The name of each test is a sentence about behaviour.
//!
//! There is one folder per subject:
//! - `calls`, `catalog`, `versions`: what editors see
//! - `upstreams`, `apps`: servers and applications, and their failures
//! - `access`, `commands`, `tray`: what people use, and who may
//! - `takeover`: one gateway replaces another; `interop`: third-party programs
//!
//! The scenarios use the language of `evermoor_tests` (`tests/src`) and start real processes. `tidy`
//! is different: it checks the sources against the architecture.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod access;
mod apps;
mod calls;
mod catalog;
mod commands;
mod interop;
mod takeover;
mod tidy;
#[cfg(target_os = "linux")]
mod tray;
mod upstreams;
mod versions;

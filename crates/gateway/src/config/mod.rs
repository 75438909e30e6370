//! The configuration, and what follows from it.
//!
//! - [`file`](mod@file), [`watch`], [`edit`]: `config.toml` is read, watched and changed
//! - [`presets`]: the user's presets beside it
//! - [`upstream_set`]: the upstreams that run, as the configuration says
//! - [`secrets`]: the secrets that upstreams refer to
//! - [`warnings`]: what the user should know although nothing is broken
//! - [`pauses`], [`first_run`]: small state files about what the user did
//! - [`programs`]: which programs in the file the user knows about
//!
//! Uses `upstream` (which it starts), `apps`, `history` and `system`. `lifecycle`, `server`,
//! `editors` and `monitoring` use it; `upstream` uses only [`secrets`].

pub mod edit;
pub mod file;
pub mod first_run;
pub mod pauses;
pub mod presets;
pub mod programs;
pub mod secrets;
pub mod upstream_set;
pub mod warnings;
pub mod watch;

//! An upstream that speaks one revision of MCP and no other, over any transport of that revision.
//!
//! `era-upstream PROTOCOL_VERSION TRANSPORT LEDGER [ADDRESS]` is a process; [`Upstream`] starts one. It knows its
//! revision strictly: a request in the words of another one is refused. Every tool call is written into
//! the ledger before it is answered.
//!
//! # Layout
//! - [`desk`]: what it knows and remembers, and its answers; [`tools`]: what its tools do
//! - [`tasks`]: work that goes on after its call; [`words`]: results and errors in the words of its revision
//! - [`web`], [`events`], [`pipes`]: its transports
//! - [`upstream`]: one of them, as a test sees it

pub mod http;
pub mod replies;
pub mod server;
pub mod sse;
pub mod stdio;
pub mod tasks;
pub mod tools;
pub mod upstream;

pub use upstream::{Transport, Upstream};

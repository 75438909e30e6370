//! The endpoint that editors see.
//!
//! # Layout
//! - [`guard`]: who may speak: Host, Origin, token
//! - [`endpoint`]: what all ways in share
//! - [`mcp`]: `/mcp` and `/mcp/<upstream>`: which era a message is of
//! - [`legacy`]: editors that shake hands; [`batch`]: several of their messages in one
//! - [`listen`]: a session's stream of news, and the taking up of streams that broke
//! - [`events`]: `/sse`, the transport of 2024-11-05
//! - [`newer`]: editors of 2026-07-28; [`subscription`]: their stream of news
//! - [`continuation`]: their calls that wait for input; [`input`]: the other way round
//! - [`finished`]: tasks of the gateway's own; [`parked`]: tasks that wait for their editor
//! - [`asker`]: who makes a request; [`exchange`]: one request from its arrival to its answer
//! - [`lost`]: an answer in place of it
//! - [`session`], [`sessions`]: what is known of a session beyond its id
//! - [`wishes`]: what a session wants to hear of; [`notes`]: the same on the disk
//! - [`listener`]: which news are for whom; [`transcript`]: what was said about a call
//! - [`visitor`]: who speaks; [`stream`]: streams of events as bodies

pub mod dispatch;
pub mod endpoint;
mod event_stream;
pub mod exchange;
mod http_message;
mod notifications;
pub mod session;
mod stateless;
pub(crate) mod tasks;

pub use session::store::{Notes, Remembered};
pub use session::table::Sessions;
pub use stateless::pending_input::Continuations;
pub use tasks::finished::Finished;
pub use tasks::input_required::Parked;

//! The eras of MCP: what differs between its revisions, and how one is put into the words of another.
//!
//! Up to 2025-11-25 there is a handshake and a session; in 2026-07-28 each request speaks for itself.
//! Everything that depends on the revision of either side is decided here, without I/O; the gateway
//! only carries it out. The next revision is a new variant of [`crate::protocol::version::Spoken`], and the compiler
//! shows where it matters.
//!
//! # Layout
//! - [`spoken`]: which revision somebody speaks; [`dialect`]: and over which transport
//! - [`refusal`]: which revision a server wants that refuses another
//! - [`introduction`]: how the gateway introduces itself to an editor
//! - [`stateless`]: requests of 2026-07-28, which speak for themselves; [`who_asks`]: in whose name
//! - [`mirrored`]: parameters of tools that are repeated in headers
//! - [`wording`]: a request in the words of an upstream; [`answer`]: an answer in those of an editor
//! - [`content`]: what an older editor cannot read, in what it can
//! - [`abilities`]: what an editor can do for an upstream that asks it back
//! - [`question`]: what an upstream asks; [`seal`]: the word under which a call waits for the answer
//! - [`task`]: tasks in the words of both eras; [`errand`]: requests about them in several steps

pub mod client_capabilities;
pub mod client_meta;
pub mod content;
pub mod input_request;
pub mod param_headers;
pub mod request;
pub mod request_state;
pub mod response;
pub mod server_info;
pub mod task;
pub mod task_adapter;

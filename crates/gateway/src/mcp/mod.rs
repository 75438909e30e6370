//! The MCP endpoint: answers the messages that editors send.
//!
//! # Layout
//! - [`endpoint`]: the state that all transports share; `http_message`: header checks and responses
//! - [`dispatch`]: `/mcp` and `/mcp/<upstream>`, stateless or with a session
//! - [`session`]: editors with a session, over Streamable HTTP or HTTP+SSE
//! - `stateless`: editors of 2026-07-28
//! - [`exchange`]: one request, from its arrival to its response
//! - `tasks`: tasks that the gateway keeps itself
//! - `handover_queue`: what a gateway that was taken over hands to its successor;
//!   `predecessor_handle`: the other side, while the predecessor finishes its calls
//! - `notifications`: which notifications an editor receives; `event_stream`: SSE responses
//!
//! Uses `editors`, `monitoring`, `routing`, `system` and `upstream`. Only `server` and `lifecycle`
//! use it.

pub mod dispatch;
pub mod endpoint;
mod event_stream;
pub mod exchange;
pub mod handover_queue;
mod http_message;
mod notifications;
pub mod predecessor_handle;
pub(crate) mod request_body;
pub mod session;
mod stateless;
pub(crate) mod tasks;

pub use session::store::{StoredSubscriptions, SubscriptionStore};
pub use session::table::Sessions;
pub use stateless::pending_input::PendingInput;
pub use tasks::finished::FinishedTasks;
pub use tasks::input_required::InputRequiredTasks;

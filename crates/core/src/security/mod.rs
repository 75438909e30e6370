//! Access control and the protection of secrets.
//!
//! - `request_access`: who may use the endpoint: Host, Origin and token of a request
//! - `request_smuggling`: rejects requests that two HTTP parsers would read differently
//! - `tokens`: one token per editor; `session_id`: signed session ids
//! - `secret_ref`: references such as `${keyring:NAME}` in settings
//! - `redaction`: removes secrets from texts: `known` ones by value, others by `patterns`
//! - `foreign_text`: makes what others wrote safe for a terminal, a log, Markdown and a page
//! - `personal_names`: removes the home folder, the user name and the machine name
//!
//! This module uses `failure` and `protocol`. `config`, `history`, `import` and `protocol` use it.

pub mod foreign_text;
pub mod personal_names;
pub mod redaction;
pub mod request_access;
pub mod request_smuggling;
pub mod secret_ref;
pub mod session_id;
pub mod tokens;

//! Access control and the protection of secrets.
//!
//! - `access`, `request_head`: checks of HTTP requests before anything else reads them
//! - `tokens`: one token per editor; `session_id`: signed session ids
//! - `secret_ref`: references such as `${keyring:NAME}` in settings
//! - `redact`: removes known secrets from texts; `scrub`: removes what looks like a secret;
//!   `anonymize`: removes the user's names
//!
//! Every other module may depend on this one; it depends on `failure` and `protocol`.

pub mod known_secrets;
pub mod personal_names;
pub mod request_access;
pub mod request_smuggling;
pub mod secret_patterns;
pub mod secret_ref;
pub mod session_id;
pub mod tokens;

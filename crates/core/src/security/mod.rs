//! Who may connect, and what must never be shown: session ids, tokens, secrets, redaction.

pub mod access;
pub mod anonymize;
pub mod redact;
pub mod request_head;
pub mod scrub;
pub mod secret_ref;
pub mod session_id;
pub mod tokens;

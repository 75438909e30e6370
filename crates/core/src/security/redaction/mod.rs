//! Removes secrets from texts before anyone reads them.
//!
//! - [`known`]: secrets in use, by value. The gateway registers them when it reads them (`config/secrets`)
//! - [`patterns`]: what looks like a secret, which nobody registered
//!
//! The gateway's log passes both in `monitoring/log`, and the tray's log `patterns` in `src-tauri/src/system/log.rs`. Failures and
//! answers of the control API pass `known` in the gateway's `system/redaction`.

pub mod known;
pub mod patterns;

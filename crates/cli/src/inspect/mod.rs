//! Commands that show how things are: status, incidents, logs, doctor, diagnostics.

pub(crate) mod diagnostics;
pub(crate) mod doctor;
pub(crate) mod incidents;
pub(crate) mod logs;
pub(crate) mod status;

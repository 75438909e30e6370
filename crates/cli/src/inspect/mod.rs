//! Commands that show the current state: `status`, `incidents`, `logs`, `doctor`, `diagnostics`.
//! They read the control API through `evermoor-client`, or files if no gateway is running.

pub(crate) mod diagnostics;
pub(crate) mod doctor;
pub(crate) mod incidents;
pub(crate) mod logs;
pub(crate) mod status;

//! The gateway itself: what the doctor finds, the self-test, and moving to another port.
//!
//! - `doctor`: the checks, and fixing a problem
//! - `self_test`: a client session over the public endpoint, and the end of the first run
//! - `move_port`: a restart at the address that the configuration now names
//!
//! Only the routes of the control API depend on it.

pub(super) mod doctor;
pub(super) mod move_port;
pub(super) mod self_test;

//! The gateway itself: doctor, self-test, and moving to another port.

pub(super) mod doctor;
pub(super) mod move_port;
pub(super) mod self_test;

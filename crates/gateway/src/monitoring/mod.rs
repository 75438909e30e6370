//! What the gateway knows about its own work and shows to people: status, calls, clients, log, doctor.

pub mod activity;
pub mod clients;
pub mod doctor;
pub mod log;
pub mod redaction;
pub mod status;
pub mod user_actions;
pub mod warnings;

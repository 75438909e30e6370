//! Tasks that the gateway keeps itself because the upstream or the editor cannot.

pub(crate) mod finished;
pub(crate) mod input_required;

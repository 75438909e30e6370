//! Tasks that the gateway keeps where the upstream or the editor cannot: `finished` for calls that
//! completed without a task, `input_required` for tasks that wait for input. Depends on
//! `mcp::exchange`; only the MCP handlers use it.

pub(crate) mod finished;
pub(crate) mod input_required;

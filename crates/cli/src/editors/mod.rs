//! Commands about editors: `setup` connects them, `import` moves their servers behind Evermoor,
//! `tokens` manages their tokens. They use `evermoor-setup` and `evermoor_gateway::editors` for the
//! work; this folder parses arguments and prints results.

pub(crate) mod import;
pub(crate) mod setup;
pub(crate) mod tokens;

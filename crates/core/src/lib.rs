//! The pure heart of Evermoor: what is known and decided, without I/O, async, clock or OS.
//!
//! # Layout
//! - [`json`]: raw JSON values that keep their bytes, and shallow edits of raw objects
//! - [`envelope`]: the JSON-RPC envelope, the only part of a message that is parsed
//! - [`protocol`]: MCP revisions, methods and the few messages the gateway writes itself
//! - [`era`]: what differs between the revisions of MCP, and how one is put into the words of another
//! - [`name`]: names of upstreams, and the names of their tools in the merged view
//! - [`alerts`]: what a person is told unasked, and when
//! - [`call`]: what may be sent again
//! - [`catalog`]: what an upstream offers, and the merged view of several
//! - [`filter`]: allow and deny lists
//! - [`sight`]: what an editor is shown of an upstream; [`audience`]: who is told when that changes
//! - [`config`]: `config.toml`, parsed and validated as a whole
//! - [`preset`]: what is known of applications that host an MCP server
//! - [`app`]: what is decided about such an application
//! - [`adopt`]: the MCP servers that editors have already, as upstreams
//! - [`size`]: amounts of memory, as people write and read them
//! - [`incident`]: one outage, as it is kept and shown
//! - [`latency`]: how long calls take, minute by minute; [`timeline`]: how an upstream fared
//! - [`level`]: how loud a log message is, and who hears it
//! - [`memory`]: what an upstream last said of itself, as it lies on the disk
//! - [`failure`]: failures with a code for programs and a remedy for people
//! - [`outcome`]: the answer to a call that its upstream did not answer
//! - [`backoff`]: how long to wait before the next attempt
//! - [`reference`]: `${keyring:NAME}` and the like; [`redact`]: taking secrets out of texts
//! - [`runtime`]: how a running gateway is reached
//! - [`paused`]: which upstreams a person paused
//! - [`progress`]: progress tokens, minted anew on each hop
//! - [`pace`]: which connections to suspect, and when to slow down
//! - [`samples`]: what an application took of the machine, and how much of that is kept
//! - [`scrub`]: a text without what looks like a secret
//! - [`session`]: session ids that survive a restart
//! - [`event_id`]: by which an editor says where its stream broke
//! - [`sse`]: server-sent events, parsed from chunks
//! - [`tokens`]: one token per editor
//! - [`guard`]: who may speak to the endpoint
//! - [`head`]: requests that could be read in two ways
//! - [`version`]: which version is newer, and who takes over from whom
//! - [`handover`]: what two gateways say while one takes the other's place
//! - [`view`]: what the control API says

pub mod api;
pub mod catalog;
pub mod config;
pub mod failure;
pub mod history;
pub mod import;
pub mod lifecycle;
pub mod policy;
pub mod preset;
pub mod protocol;
pub mod security;

//! The gateway: one endpoint for editors that never goes away, and a connection to each upstream
//! that is always brought back.
//!
//! # Layout
//! - [`gateway`]: a gateway from its start to its end
//! - `inside`: its parts, put together; `place`: where it serves; `start_error`: why it does not
//! - [`takeover`]: taking the place of a gateway that runs; `handover`: giving it away
//! - [`predecessor`]: the gateway before this one, while it has calls under way
//! - `outbox`: what is still to be given; `pen`: who may write what is remembered
//! - [`secrets`]: the secrets that upstreams need; [`redaction`]: taking them out of what is said
//! - [`roster`]: the upstreams that run, as the configuration of the moment wants them
//! - [`config_file`]: `config.toml` on the disk
//! - [`config_watch`]: tells what it says when it changes
//! - `file_watch`: tells when a file changes, or a folder of files
//! - [`presets`]: the presets of the person
//! - [`editors`]: the editors that may speak, each with a token of its own
//! - `exits`: how a process ended, in words
//! - [`history`]: the outages of upstreams, on the disk
//! - [`store`]: what upstreams last said of themselves, on the disk
//! - [`config_book`]: changes of `config.toml` that a person makes through the gateway
//! - [`activity`]: the calls of editors, as people are shown them
//! - [`attendance`]: who is connected; [`welcome`]: whether anybody has set anything up
//! - [`timelines`]: how each upstream fared over the last day
//! - [`touches`]: what people last did to upstreams
//! - [`warnings`]: what is worth knowing although nothing is broken
//! - [`upstream`]: one supervised connection per upstream, and the delivery of calls
//! - [`doctor`]: looks at everything that ever goes wrong
//! - [`downstream`]: the endpoint that editors see
//! - [`log`]: what is said with `tracing`, in memory and on the disk
//! - [`listener`]: takes connections and keeps each of them within limits
//! - [`view`]: what one editor sees at one address; [`sights`]: who sees what of all upstreams
//! - `routes`: every HTTP route; [`router`]: from an editor's request to the upstream that answers it
//! - [`control`]: the control API for tray, dashboard and command line
//! - [`dashboard`]: the dashboard's files
//! - [`status`]: the state of the whole, kept up to date
//! - [`apps`]: applications that somebody else started
//! - [`pauses`]: what a person paused
//! - [`setup`]: connecting editors, as far as it takes a running program
//! - [`import`]: the servers that editors have already, taken over and given back
//! - [`news`]: what upstreams say to nobody in particular
//! - [`interests`]: what editors want to hear of, added up per upstream
//! - [`chance`]: chance and the time of day, which a simulation gives itself
//! - [`keys`]: the gateway's own token file and keys
//! - `wake`: notices that the machine slept
//! - [`demo`]: the upstream that answers when nothing is configured

pub mod apps;
pub mod config;
pub mod editors;
pub mod history;
pub mod lifecycle;
pub mod mcp;
pub mod monitoring;
pub mod routing;
pub mod server;
pub mod system;
pub mod upstream;

pub use lifecycle::gateway::Gateway;
pub use lifecycle::start_error::StartError;
pub use lifecycle::takeover::Terms;

/// The version that the gateway speaks of.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

//! The client that makes a request.

use evermoor_core::protocol::envelope::Request;
use evermoor_core::protocol::event_id::Call;
use evermoor_core::protocol::translate::client_capabilities::Abilities;
use evermoor_core::protocol::translate::client_meta::WhoAsks;
use evermoor_core::protocol::version::Spoken;

use crate::mcp::endpoint::Endpoint;
use crate::monitoring::activity::Record;
use crate::routing::router::View;
use crate::upstream::Owner;

/// The client that makes a request, as far as the exchange needs to know it.
pub struct Requester {
    pub session: u64,
    /// The editor's name in the token file.
    pub editor: String,
    pub spoken: Spoken,
    /// Whose upstream connection to use where connections are not shared.
    pub owner: Owner,
    pub abilities: Abilities,
    /// Whether the client supports tasks.
    pub tasks: bool,
    /// Whether the client receives log messages with its call only.
    pub logs: bool,
    /// What to tell a stateless upstream about the client; `None` if the request already contains
    /// it.
    pub who_asks: Option<WhoAsks>,
    /// The client's own name.
    pub client: Option<String>,
}

impl Requester {
    /// Starts the entry in the list of recent calls.
    pub(super) fn record(
        &self,
        endpoint: &Endpoint,
        view: &View,
        request: &Request,
        call: &Call,
    ) -> Record {
        Record::begin(&endpoint.activity, view, self.client.as_deref(), request, call)
    }
}

//! Who makes a request.

use evermoor_core::protocol::envelope::Request;
use evermoor_core::protocol::event_id::Call;
use evermoor_core::protocol::translate::client_capabilities::Abilities;
use evermoor_core::protocol::translate::client_meta::WhoAsks;
use evermoor_core::protocol::version::Spoken;

use crate::mcp::endpoint::Endpoint;
use crate::monitoring::activity::Record;
use crate::routing::router::View;
use crate::upstream::Owner;

/// Who makes the request, as far as it matters here.
pub struct Requester {
    pub session: u64,
    /// The editor's name in the token file.
    pub editor: String,
    pub spoken: Spoken,
    /// Whose upstreams are used, where they are not shared.
    pub owner: Owner,
    pub abilities: Abilities,
    /// Whether it can follow tasks.
    pub tasks: bool,
    /// Whether it hears log messages on its call alone.
    pub logs: bool,
    /// What an upstream without sessions is told; `None` if the request says it itself.
    pub who_asks: Option<WhoAsks>,
    /// What the program calls itself.
    pub client: Option<String>,
}

impl Requester {
    /// Begins what people will be shown of the request.
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

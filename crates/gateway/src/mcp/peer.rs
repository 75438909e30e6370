//! Who speaks, for the list of those who are connected.

use http::HeaderMap;

use evermoor_core::api::Wire;
use evermoor_core::protocol::envelope::Request;
use evermoor_core::protocol::mcp::{Program, STATELESS, meta};

use super::endpoint::{Endpoint, value};
use super::session::Live;
use crate::editors::Editor;
use crate::monitoring::clients::{Stream, Who};
use crate::routing::router::View;

/// What the shim says that it is.
const SHIM: &str = "evermoor-connect";

impl Endpoint {
    /// A session speaks.
    pub(super) fn attend(&self, live: &Live, wire: Wire, view: &View) {
        self.attendance.speaks(&Who::Session(live.number), wire, view.one(), || {
            let said = live.session();
            (said.editor, said.client, said.revision.as_str().to_owned())
        });
    }

    /// A session listens.
    pub(super) fn attend_listening(&self, live: &Live) -> Stream {
        self.attendance.listens(Who::Session(live.number))
    }

    /// A session is over.
    pub(super) fn attend_no_more(&self, live: &Live) {
        self.attendance.leaves(&Who::Session(live.number));
    }

    /// A program without a session speaks.
    pub(super) fn attend_program(
        &self,
        editor: &Editor,
        request: &Request,
        headers: &HeaderMap,
        view: &View,
    ) -> Who {
        let program = program(request);
        let who = Who::Program {
            editor: editor.name.clone(),
            client: program.name.clone(),
            version: program.version.clone(),
        };
        self.attendance.speaks(&who, wire(headers), view.one(), || {
            (editor.name.clone(), program, STATELESS.to_owned())
        });
        who
    }
}

/// How a message came to the endpoint.
pub(super) fn wire(headers: &HeaderMap) -> Wire {
    let agent = value(headers, http::header::USER_AGENT.as_str()).unwrap_or_default();
    if agent.starts_with(SHIM) { Wire::Stdio } else { Wire::Http }
}

/// What a request that speaks for itself says of the program that makes it.
fn program(request: &Request) -> Program {
    let said = request.params.as_ref().and_then(|params| params.member("_meta"));
    let program = said.and_then(|said| said.member(meta::CLIENT));
    program.and_then(|raw| raw.read().ok()).unwrap_or_default()
}

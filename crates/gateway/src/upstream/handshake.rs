//! The handshake of the older revisions, over a channel with messages both ways.

use std::time::Duration;

use tokio::time::timeout;

use evermoor_core::envelope::{Id, Notification, Request};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::{self, Handshake, Revision, method};

use super::connection::answer_of;
use super::duplex::Duplex;

/// A server that takes longer to say who it is has not started.
const LIMIT: Duration = Duration::from_secs(10);

/// Says who we are, and hears who the server is.
pub(super) async fn initialize(duplex: &Duplex) -> Result<Handshake, Failure> {
    let shake = async {
        let params = protocol::initialize_params(Revision::LATEST, crate::VERSION);
        let request = Request::new(Id::number(0), method::INITIALIZE, Some(params));
        let result = answer_of(method::INITIALIZE, duplex.call(&request).await).await?;
        let handshake = Handshake::read(&result).ok_or_else(not_mcp)?;
        duplex.notify(&Notification::new(method::INITIALIZED, None)).await?;
        Ok(handshake)
    };
    timeout(LIMIT, shake).await.unwrap_or_else(|_| Err(silent()))
}

fn not_mcp() -> Failure {
    let what = "Its answer to `initialize` is not one of MCP.";
    Failure::new(Code::NotMcp, what, "Check that it is an MCP server.")
}

fn silent() -> Failure {
    let what = format!("It did not answer `initialize` within {} s.", LIMIT.as_secs());
    Failure::new(
        Code::Timeout,
        what,
        "Look at the server's own log; Evermoor tries again by itself.",
    )
}

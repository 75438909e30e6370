//! A `url` alone is enough: which era and which transport a server speaks is found out.
//!
//! The order is the specification's. A request of 2026-07-28 comes first; a server that does not
//! know it answers with an error of its own, and gets the handshake of the older revisions; one
//! that has no POST at its address at all may be an HTTP+SSE server of 2024-11-05. What was found
//! is remembered and tried first the next time; when it fails, everything is tried again.

use url::Url;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::dialect::Dialect;

use super::connection::Connected;
use super::http::{Clients, HttpConnection};
use super::sse;
use tokio_util::task::TaskTracker;

/// Finds out how a server wants to be spoken to, and connects.
pub(crate) async fn connect(
    clients: &Clients,
    url: &Url,
    known: Option<Dialect>,
    tasks: &TaskTracker,
) -> Result<(Connected, Dialect), Failure> {
    if let Some(dialect) = known {
        match try_dialect(dialect, clients, url, tasks).await {
            Ok(connected) => return Ok((connected, dialect)),
            Err(failure) if nobody_is_there(failure.code) => return Err(failure),
            Err(_) => {}
        }
    }
    let mut worst = None;
    for dialect in order(url) {
        match try_dialect(dialect, clients, url, tasks).await {
            Ok(connected) => return Ok((connected, dialect)),
            // Nobody is there, or nobody lets us in: another dialect would not help.
            Err(failure) if !another_may_help(failure.code) => return Err(failure),
            Err(failure) => worst = worst.or(Some(failure)),
        }
    }
    Err(worst
        .unwrap_or_else(|| Failure::new(Code::NotMcp, "It speaks no MCP.", "Check its address.")))
}

/// An address that ends in `/sse` says itself what it is.
fn order(url: &Url) -> [Dialect; 3] {
    if url.path().trim_end_matches('/').ends_with("/sse") {
        [Dialect::Events, Dialect::Stateless, Dialect::Session]
    } else {
        [Dialect::Stateless, Dialect::Session, Dialect::Events]
    }
}

async fn try_dialect(
    dialect: Dialect,
    clients: &Clients,
    url: &Url,
    tasks: &TaskTracker,
) -> Result<Connected, Failure> {
    match dialect {
        Dialect::Stateless => HttpConnection::discover(clients.clone(), url.clone(), tasks).await,
        Dialect::Session => HttpConnection::initialize(clients.clone(), url.clone(), tasks).await,
        Dialect::Events => sse::connect(clients.clone(), url.clone(), tasks).await,
    }
}

/// What was known is not refuted by a server that is away.
fn nobody_is_there(code: Code) -> bool {
    matches!(code, Code::ConnectionRefused | Code::DnsFailure | Code::ConnectTimeout | Code::Tls)
}

fn another_may_help(code: Code) -> bool {
    matches!(code, Code::Refused | Code::NotMcp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_names_its_transport_is_believed_first() {
        let first = |url: &str| order(&Url::parse(url).unwrap())[0];
        assert_eq!(
            first("http://127.0.0.1:39300/model_context_protocol/2024-11-05/sse"),
            Dialect::Events
        );
        assert_eq!(first("http://127.0.0.1:3001/mcp"), Dialect::Stateless);
    }
}

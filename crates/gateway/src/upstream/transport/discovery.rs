//! Finds out which transport and protocol version the server at a `url` speaks.
//!
//! The order is that of the specification. First comes a `server/discover` of 2026-07-28. A server
//! that does not know it answers with an error and gets the `initialize` of the older versions. One
//! that accepts no POST may be an HTTP+SSE server of 2024-11-05. The result is remembered and tried
//! first the next time; if that fails, everything is tried again.

use url::Url;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::version::transport::Transport;

use super::connection::Connected;
use super::http::{HttpClients, HttpConnection};
use super::sse;
use tokio_util::task::TaskTracker;

/// Connects with the first transport and version that works.
pub(crate) async fn connect(
    clients: &HttpClients,
    url: &Url,
    known: Option<Transport>,
    tasks: &TaskTracker,
) -> Result<(Connected, Transport), Failure> {
    if let Some(transport) = known {
        match try_transport(transport, clients, url, tasks).await {
            Ok(connected) => return Ok((connected, transport)),
            Err(failure) if is_unreachable(failure.code) => return Err(failure),
            Err(_) => {}
        }
    }
    let mut first = None;
    for transport in order(url) {
        match try_transport(transport, clients, url, tasks).await {
            Ok(connected) => return Ok((connected, transport)),
            // The server is unreachable or requires credentials: no other transport would help.
            Err(failure) if !another_may_help(failure.code) => return Err(failure),
            Err(failure) => first = first.or(Some(failure)),
        }
    }
    Err(first.unwrap_or_else(|| {
        Failure::new(Code::NotMcp, "It is not an MCP server.", "Check its URL.")
    }))
}

/// A path that ends in `/sse` most likely belongs to an HTTP+SSE server.
fn order(url: &Url) -> [Transport; 3] {
    if url.path().trim_end_matches('/').ends_with("/sse") {
        [Transport::Events, Transport::Stateless, Transport::Session]
    } else {
        [Transport::Stateless, Transport::Session, Transport::Events]
    }
}

async fn try_transport(
    transport: Transport,
    clients: &HttpClients,
    url: &Url,
    tasks: &TaskTracker,
) -> Result<Connected, Failure> {
    match transport {
        Transport::Stateless => HttpConnection::discover(clients.clone(), url.clone(), tasks).await,
        Transport::Session => HttpConnection::initialize(clients.clone(), url.clone(), tasks).await,
        Transport::Events => sse::connect(clients.clone(), url.clone(), tasks).await,
    }
}

/// A server that cannot be reached does not prove that the remembered transport is wrong.
fn is_unreachable(code: Code) -> bool {
    matches!(code, Code::ConnectionRefused | Code::DnsFailure | Code::ConnectTimeout | Code::Tls)
}

fn another_may_help(code: Code) -> bool {
    matches!(code, Code::Refused | Code::NotMcp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_names_its_transport_is_tried_with_it_first() {
        let first = |url: &str| order(&Url::parse(url).unwrap())[0];
        assert_eq!(
            first("http://127.0.0.1:39300/model_context_protocol/2024-11-05/sse"),
            Transport::Events
        );
        assert_eq!(first("http://127.0.0.1:3001/mcp"), Transport::Stateless);
    }
}

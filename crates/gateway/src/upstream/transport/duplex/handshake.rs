//! The handshake over a duplex channel: which protocol version the server speaks, and its details.
//!
//! # Theory of operation
//! 2026-07-28 has only `server/discover`; the older versions begin with `initialize`. `server/discover`
//! is sent first. A server that does not know it answers with an error, does not answer, or exits
//! because it expects `initialize`. After an error, `initialize` is sent. After a silence it is sent
//! too, but the first request stays open, because a program that is still being downloaded is also
//! silent and answers both in the end. If the program exits, the transport starts it again with
//! `initialize`. If the error says that the server supports 2026-07-28, `server/discover` is sent once
//! more.

use std::time::Duration;

use tokio::time::timeout;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::envelope::{Id, Notification, Outcome, Request};
use evermoor_core::protocol::mcp;
use evermoor_core::protocol::mcp::{Handshake, SessionVersion, method};
use evermoor_core::protocol::translate::client_meta::ClientMeta;
use evermoor_core::protocol::version::ProtocolVersion;
use evermoor_core::protocol::version::transport::Transport;
use evermoor_core::protocol::version::unsupported::newest_common_version;

use super::super::outbound::OutboundCall;
use super::Duplex;
use crate::upstream::transport::connection::{CallReply, result_of};

/// How long the handshake with a server over the network may take.
const LIMIT: Duration = Duration::from_secs(10);
/// After this long without an answer to `server/discover`, `initialize` is sent as well.
const PROBE: Duration = Duration::from_secs(2);

/// The handshake of the versions up to 2025-11-25.
pub(crate) async fn initialize(duplex: &mut Duplex) -> Result<Handshake, Failure> {
    let initialized = timeout(LIMIT, send_initialize(duplex)).await;
    let handshake = initialized.unwrap_or_else(|_| Err(silent(LIMIT)))?;
    duplex.set_version(ProtocolVersion::Session(handshake.revision));
    Ok(handshake)
}

/// Finds out whether a server has sessions, unless that is `known`, and does the handshake.
pub(crate) async fn negotiate(
    duplex: &mut Duplex,
    known: Option<Transport>,
    limit: Duration,
) -> Result<(Handshake, Transport), Failure> {
    let found = match known {
        Some(Transport::Stateless) => {
            let discovered = timeout(limit, discover(duplex)).await;
            discovered
                .map(|discovered| discovered.map(|handshake| (handshake, Transport::Stateless)))
        }
        Some(Transport::Session | Transport::Events) => {
            let initialized = timeout(limit, send_initialize(duplex)).await;
            initialized
                .map(|initialized| initialized.map(|handshake| (handshake, Transport::Session)))
        }
        None => timeout(limit, probe(duplex)).await,
    };
    let (handshake, transport) = found.unwrap_or_else(|_| Err(silent(limit)))?;
    duplex.set_version(match transport {
        Transport::Stateless => ProtocolVersion::Stateless,
        Transport::Session | Transport::Events => ProtocolVersion::Session(handshake.revision),
    });
    Ok((handshake, transport))
}

async fn probe(duplex: &Duplex) -> Result<(Handshake, Transport), Failure> {
    let stateless = |handshake| (handshake, Transport::Stateless);
    let session = |handshake| (handshake, Transport::Session);
    let mut discovering = std::pin::pin!(discover(duplex));
    match timeout(PROBE, &mut discovering).await {
        Ok(Ok(handshake)) => return Ok(stateless(handshake)),
        Ok(Err(failure)) if duplex.is_closed() => return Err(failure),
        Ok(Err(_)) => return send_initialize(duplex).await.map(session),
        Err(_) => {}
    }
    let mut initializing = std::pin::pin!(send_initialize(duplex));
    tokio::select! {
        discovered = &mut discovering => match discovered {
            Ok(handshake) => Ok(stateless(handshake)),
            Err(_) => initializing.await.map(session),
        },
        initialized = &mut initializing => match initialized {
            Ok(handshake) => Ok(session(handshake)),
            Err(failure) if duplex.is_closed() => Err(failure),
            Err(failure) => discovering.await.map(stateless).map_err(|_| failure),
        },
    }
}

async fn discover(duplex: &Duplex) -> Result<Handshake, Failure> {
    let params = Some(ClientMeta::gateway(crate::VERSION).attach(None));
    let request = Request { id: Id::number(0), method: method::DISCOVER.to_owned(), params };
    let mut answer = duplex.call(OutboundCall::of_gateway(&request)).await;
    if let Ok(CallReply::Whole(refusal)) = &answer
        && let Outcome::Error(error) = &refusal.response.outcome
        && newest_common_version(error) == Some(ProtocolVersion::Stateless)
    {
        answer = duplex.call(OutboundCall::of_gateway(&request)).await;
    }
    let result = result_of(method::DISCOVER, answer).await?;
    Handshake::from_discover(&result).ok_or_else(|| not_mcp(method::DISCOVER))
}

async fn send_initialize(duplex: &Duplex) -> Result<Handshake, Failure> {
    let params = mcp::initialize_params(SessionVersion::LATEST, crate::VERSION);
    let request = Request::new(Id::number(0), method::INITIALIZE, Some(params));
    let result =
        result_of(method::INITIALIZE, duplex.call(OutboundCall::of_gateway(&request)).await)
            .await?;
    let handshake = Handshake::read(&result).ok_or_else(|| not_mcp(method::INITIALIZE))?;
    duplex.notify(&Notification::new(method::INITIALIZED, None)).await?;
    Ok(handshake)
}

fn not_mcp(method: &str) -> Failure {
    let what = format!("Its answer to `{method}` is not valid MCP.");
    Failure::new(Code::NotMcp, what, "Check that it is an MCP server.")
}

pub(crate) fn silent(limit: Duration) -> Failure {
    let what = format!("It did not complete the handshake within {} s.", limit.as_secs());
    Failure::new(Code::Timeout, what, "Check the server's log. Evermoor retries automatically.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::transport::duplex;
    use crate::upstream::transport::duplex::{Inbox, Outgoing};
    use evermoor_core::protocol::envelope::{Message, Response};
    use evermoor_core::protocol::json::Raw;
    use tokio::sync::mpsc;
    use tokio::time::sleep;

    /// What a server does with `server/discover` or `initialize`.
    #[derive(Clone, Copy)]
    enum ServerReply {
        Success,
        Error,
        /// First an error that lists this version, then success.
        ErrorThenSuccess(&'static str),
        Never,
        Exit,
    }

    async fn serve(
        mut received: mpsc::Receiver<Outgoing>,
        inbox: Inbox,
        starts_after: Duration,
        discover: ServerReply,
        initialize: ServerReply,
    ) {
        sleep(starts_after).await;
        let mut failed_once = false;
        while let Some(Outgoing { text, receipt }) = received.recv().await {
            receipt.send(Ok(()));
            let Ok(Message::Request(request)) = Message::parse(&text) else { continue };
            let (answer, result) = match request.method.as_str() {
                method::DISCOVER => {
                    (discover, serde_json::json!({ "supportedVersions": ["2026-07-28"] }))
                }
                _ => (
                    initialize,
                    serde_json::json!({ "protocolVersion": "2025-06-18", "serverInfo": { "name": "s" } }),
                ),
            };
            match answer {
                ServerReply::ErrorThenSuccess(listed)
                    if !std::mem::replace(&mut failed_once, true) =>
                {
                    let data = serde_json::json!({ "supported": [listed] });
                    let error =
                        serde_json::json!({ "code": -32022, "message": "no", "data": data });
                    let outcome = Outcome::Error(Raw::of(&error));
                    let id = Some(request.id);
                    inbox.deliver(Message::Response(Response { id, outcome }), None);
                }
                ServerReply::Success | ServerReply::ErrorThenSuccess(_) => inbox.deliver(
                    Message::Response(Response::result(request.id, Raw::of(&result))),
                    None,
                ),
                ServerReply::Error => {
                    inbox.deliver(
                        Message::Response(Response::error(Some(request.id), -32601, "no")),
                        None,
                    );
                }
                ServerReply::Never => {}
                ServerReply::Exit => return inbox.close(silent(LIMIT)),
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the runtime of the test ends it")]
    async fn found(
        starts_after: u64,
        discover: ServerReply,
        initialize: ServerReply,
    ) -> Result<Transport, Code> {
        let (mut duplex, inbox, received, _incoming) = duplex::channel();
        let starts_after = Duration::from_secs(starts_after);
        drop(tokio::spawn(serve(received, inbox, starts_after, discover, initialize)));
        let found = negotiate(&mut duplex, None, Duration::from_secs(60)).await;
        let found = found.map(|(_, transport)| transport).map_err(|failure| failure.code);
        assert_eq!(duplex.is_stateless(), found == Ok(Transport::Stateless));
        found
    }

    #[tokio::test(start_paused = true)]
    async fn the_version_is_found_whatever_a_server_does_with_discover() {
        use ServerReply::{Error, Exit, Never, Success};
        assert_eq!(found(0, Success, Error).await, Ok(Transport::Stateless));
        assert_eq!(found(0, Error, Success).await, Ok(Transport::Session));
        assert_eq!(found(0, Never, Success).await, Ok(Transport::Session));
        assert_eq!(found(0, Exit, Success).await, Err(Code::Timeout));
        assert_eq!(found(0, Never, Never).await, Err(Code::Timeout));
        assert_eq!(found(0, Error, Error).await, Err(Code::Refused));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_rejects_a_version_is_asked_again_if_it_lists_it() {
        use ServerReply::{Error, ErrorThenSuccess, Success};
        assert_eq!(found(0, ErrorThenSuccess("2026-07-28"), Error).await, Ok(Transport::Stateless));
        assert_eq!(
            found(0, ErrorThenSuccess("2026-07-28"), Success).await,
            Ok(Transport::Stateless)
        );
        assert_eq!(found(0, ErrorThenSuccess("2025-06-18"), Success).await, Ok(Transport::Session));
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_that_starts_slowly_is_not_taken_for_an_older_version() {
        use ServerReply::{Error, Success};
        assert_eq!(found(30, Success, Error).await, Ok(Transport::Stateless));
        assert_eq!(found(30, Error, Success).await, Ok(Transport::Session));
        assert_eq!(found(90, Error, Success).await, Err(Code::Timeout));
    }
}

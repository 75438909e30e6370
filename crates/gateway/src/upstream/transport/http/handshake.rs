//! The handshake over HTTP.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use evermoor_core::failure::Failure;
use evermoor_core::protocol::envelope::{Message, Outcome, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp;
use evermoor_core::protocol::mcp::method;
use evermoor_core::protocol::version::ProtocolVersion;
use evermoor_core::protocol::version::unsupported::newest_common_version;

use super::super::connection::CallReply;
use super::super::outbound::OutboundCall;
use super::client::HttpAnswer;
use super::target::HttpTarget;
use super::{reply, status};

const LIMIT: Duration = Duration::from_secs(10);

/// Why a handshake failed.
pub(super) struct HandshakeError {
    failure: Failure,
    /// The protocol version that the server asks for instead.
    instead: Option<ProtocolVersion>,
}

impl From<Failure> for HandshakeError {
    fn from(failure: Failure) -> Self {
        Self { failure, instead: None }
    }
}

impl From<HandshakeError> for Failure {
    fn from(refused: HandshakeError) -> Self {
        refused.failure
    }
}

/// Sends `server/discover`. If the server refuses it but lists 2026-07-28 as supported, it is sent
/// once more, because `initialize` cannot succeed.
pub(super) async fn discover(target: &HttpTarget, tasks: &TaskTracker) -> Result<Raw, Failure> {
    let attempt = async || {
        let request = Request::new(target.next_id(), method::DISCOVER, None);
        let (sent, _) = target.encode(OutboundCall::of_gateway(&request));
        exchange(target, &sent, tasks).await.map(|(result, _)| result)
    };
    let mut answer = attempt().await;
    if let Err(HandshakeError { instead: Some(ProtocolVersion::Stateless), .. }) = answer {
        answer = attempt().await;
    }
    Ok(answer?)
}

/// Sends a request of the handshake, and returns its result and the session id that came with it.
pub(super) async fn exchange(
    target: &HttpTarget,
    request: &Request,
    tasks: &TaskTracker,
) -> Result<(Raw, Option<HeaderValue>), HandshakeError> {
    let exchange = async {
        let answer = target.post(&request.clone().into()).await;
        let answer = answer.map_err(|error| status::failure(&target.url, &error))?;
        if !answer.status().is_success() {
            return Err(refused(target, answer).await);
        }
        let session = answer.headers().get(mcp::header::SESSION).cloned();
        let pending = reply::PendingRequest {
            id: request.id.clone(),
            sent: request.id.clone(),
            version: target.version(),
            token: None,
            caller: None,
            answered: Arc::default(),
        };
        let answer = match reply::read(answer, pending, None, &target.clients.buffers, tasks).await
        {
            Ok(CallReply::Whole(answer)) => Some(answer),
            Ok(CallReply::Stream(parts)) => parts.answer().await,
            Err(_) => None,
        };
        match answer.map(|answer| answer.response.outcome) {
            Some(Outcome::Result(result)) => Ok((result, session)),
            Some(Outcome::Error(error)) => {
                let instead = newest_common_version(&error);
                Err(HandshakeError { failure: status::not_mcp(&target.url), instead })
            }
            None => Err(status::not_mcp(&target.url).into()),
        }
    };
    timeout(LIMIT, exchange).await.unwrap_or_else(|_| Err(status::silent(&target.url).into()))
}

async fn refused(target: &HttpTarget, answer: HttpAnswer) -> HandshakeError {
    if let Some(redirected) = status::redirected(&target.url, &answer) {
        return redirected.into();
    }
    let status = answer.status();
    let body = reply::body_or_nothing(answer).await;
    let instead = match Message::parse(&body) {
        Ok(Message::Response(Response { outcome: Outcome::Error(error), .. })) => {
            newest_common_version(&error)
        }
        Ok(_) | Err(_) => None,
    };
    let credential = target.clients.credential();
    let failure = status::refused_with(&target.url, credential, status, &body);
    HandshakeError { failure, instead }
}

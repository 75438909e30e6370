//! The first words to a server, and whether it takes them.

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
use evermoor_core::protocol::unsupported_version::wanted_instead;
use evermoor_core::protocol::version::Spoken;

use super::super::connection::Reply;
use super::target::Line;
use super::{errors, reply};

const LIMIT: Duration = Duration::from_secs(10);

/// Why the first words were not taken.
pub(super) struct Refused {
    failure: Failure,
    /// The revision that the server would rather hear.
    instead: Option<Spoken>,
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self { failure, instead: None }
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        refused.failure
    }
}

/// Asks a server that may speak 2026-07-28 who it is. One that refuses, and lists that revision
/// among those it speaks, is asked once more: it has nothing against the words, so `initialize`
/// would be the wrong ones.
pub(super) async fn discover(line: &Line, tasks: &TaskTracker) -> Result<Raw, Failure> {
    let ask = async || {
        let request = Request::new(line.next_id(), method::DISCOVER, None);
        let (sent, _) = line.outbound(&request, None);
        shake_hands(line, &sent, tasks).await.map(|(result, _)| result)
    };
    let mut answer = ask().await;
    if let Err(Refused { instead: Some(Spoken::Stateless), .. }) = answer {
        answer = ask().await;
    }
    Ok(answer?)
}

/// A request that is part of connecting, with its result and the session that came with it.
pub(super) async fn shake_hands(
    line: &Line,
    request: &Request,
    tasks: &TaskTracker,
) -> Result<(Raw, Option<HeaderValue>), Refused> {
    let shake = async {
        let answer = line.post(&request.clone().into()).await;
        let answer = answer.map_err(|error| errors::failure(&line.url, &error))?;
        if !answer.status().is_success() {
            return Err(refused(line, answer).await);
        }
        let session = answer.headers().get(mcp::header::SESSION).cloned();
        let addressee = reply::Addressee {
            id: request.id.clone(),
            sent: request.id.clone(),
            token: None,
            caller: None,
            answered: Arc::default(),
        };
        let response = match reply::read(answer, addressee, None, tasks).await {
            Ok(Reply::Whole(response)) => Some(response),
            Ok(Reply::Stream(messages)) => messages.answer().await,
            Err(_) => None,
        };
        match response.map(|response| response.outcome) {
            Some(Outcome::Result(result)) => Ok((result, session)),
            Some(Outcome::Error(error)) => {
                let instead = wanted_instead(&error);
                Err(Refused { failure: errors::not_mcp(&line.url), instead })
            }
            None => Err(errors::not_mcp(&line.url).into()),
        }
    };
    timeout(LIMIT, shake).await.unwrap_or_else(|_| Err(errors::silent(&line.url).into()))
}

async fn refused(line: &Line, answer: reqwest::Response) -> Refused {
    if let Some(elsewhere) = errors::elsewhere(&line.url, &answer) {
        return elsewhere.into();
    }
    let status = answer.status();
    let body = reply::body_or_nothing(answer).await;
    let instead = match Message::parse(&body) {
        Ok(Message::Response(Response { outcome: Outcome::Error(error), .. })) => {
            wanted_instead(&error)
        }
        Ok(_) | Err(_) => None,
    };
    Refused { failure: errors::refused_with(&line.url, status, &body), instead }
}

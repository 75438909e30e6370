//! The handshake over a channel with messages both ways: which era, and who is there.
//!
//! # Theory of operation
//! 2026-07-28 has no handshake but a question, `server/discover`; the older revisions begin with
//! `initialize`. The question comes first. A server that does not know it answers with an error,
//! or not at all, or, if it takes the first message for `initialize` or nothing, by ending. An error
//! is answered with `initialize`, and so is silence, but then the question stays open: a program
//! that is still being downloaded is silent too, and answers both in the end. What it ended over is
//! for the transport to see and to avoid the next time. An error that says that the server knows
//! 2026-07-28 is no reason to try another: it is asked once more.

use std::time::Duration;

use tokio::time::timeout;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::dialect::Dialect;
use evermoor_core::protocol::envelope::{Id, Notification, Outcome, Request, Response};
use evermoor_core::protocol::mcp;
use evermoor_core::protocol::mcp::{Handshake, Revision, method};
use evermoor_core::protocol::translate::client_meta::WhoAsks;
use evermoor_core::protocol::unsupported_version::wanted_instead;
use evermoor_core::protocol::version::Spoken;

use super::connection::{Reply, answer_of};
use super::duplex::Duplex;

/// A server that is reached over the network and takes longer to say who it is has not started.
const LIMIT: Duration = Duration::from_secs(10);
/// After this long without an answer, the older way is tried beside the newer one.
const PROBE: Duration = Duration::from_secs(2);

/// Which kind of revision a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2026-07-28: every request speaks for itself.
    Stateless,
    /// Up to 2025-11-25: it begins with a handshake.
    Session,
}

impl From<Dialect> for Era {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Stateless => Self::Stateless,
            Dialect::Session | Dialect::Events => Self::Session,
        }
    }
}

impl From<Era> for Dialect {
    fn from(era: Era) -> Self {
        match era {
            Era::Stateless => Self::Stateless,
            Era::Session => Self::Session,
        }
    }
}

/// Says who we are to a server of the older revisions, and hears who it is.
pub(crate) async fn initialize(duplex: &Duplex) -> Result<Handshake, Failure> {
    timeout(LIMIT, shake(duplex)).await.unwrap_or_else(|_| Err(silent(LIMIT)))
}

/// Finds out which era a server speaks, or takes `known` for it, and who it is.
pub(crate) async fn negotiate(
    duplex: &mut Duplex,
    known: Option<Era>,
    limit: Duration,
) -> Result<(Handshake, Era), Failure> {
    let found = match known {
        Some(Era::Stateless) => {
            let discovered = timeout(limit, discover(duplex)).await;
            discovered.map(|discovered| discovered.map(|handshake| (handshake, Era::Stateless)))
        }
        Some(Era::Session) => {
            let shaken = timeout(limit, shake(duplex)).await;
            shaken.map(|shaken| shaken.map(|handshake| (handshake, Era::Session)))
        }
        None => timeout(limit, probe(duplex)).await,
    };
    let (handshake, era) = found.unwrap_or_else(|_| Err(silent(limit)))?;
    if era == Era::Stateless {
        duplex.speak_stateless();
    }
    Ok((handshake, era))
}

async fn probe(duplex: &Duplex) -> Result<(Handshake, Era), Failure> {
    let stateless = |handshake| (handshake, Era::Stateless);
    let session = |handshake| (handshake, Era::Session);
    let mut question = std::pin::pin!(discover(duplex));
    match timeout(PROBE, &mut question).await {
        Ok(Ok(handshake)) => return Ok(stateless(handshake)),
        Ok(Err(failure)) if duplex.is_closed() => return Err(failure),
        Ok(Err(_)) => return shake(duplex).await.map(session),
        Err(_) => {}
    }
    let mut greeting = std::pin::pin!(shake(duplex));
    tokio::select! {
        discovered = &mut question => match discovered {
            Ok(handshake) => Ok(stateless(handshake)),
            Err(_) => greeting.await.map(session),
        },
        shaken = &mut greeting => match shaken {
            Ok(handshake) => Ok(session(handshake)),
            Err(failure) if duplex.is_closed() => Err(failure),
            Err(failure) => question.await.map(stateless).map_err(|_| failure),
        },
    }
}

async fn discover(duplex: &Duplex) -> Result<Handshake, Failure> {
    let params = WhoAsks::gateway(crate::VERSION).sign(None);
    let request = Request::new(Id::number(0), method::DISCOVER, Some(params));
    let mut answer = duplex.call(&request, None).await;
    if let Ok(Reply::Whole(Response { outcome: Outcome::Error(error), .. })) = &answer
        && wanted_instead(error) == Some(Spoken::Stateless)
    {
        answer = duplex.call(&request, None).await;
    }
    let result = answer_of(method::DISCOVER, answer).await?;
    Handshake::discovered(&result).ok_or_else(|| not_mcp(method::DISCOVER))
}

async fn shake(duplex: &Duplex) -> Result<Handshake, Failure> {
    let params = mcp::initialize_params(Revision::LATEST, crate::VERSION);
    let request = Request::new(Id::number(0), method::INITIALIZE, Some(params));
    let result = answer_of(method::INITIALIZE, duplex.call(&request, None).await).await?;
    let handshake = Handshake::read(&result).ok_or_else(|| not_mcp(method::INITIALIZE))?;
    duplex.notify(&Notification::new(method::INITIALIZED, None)).await?;
    Ok(handshake)
}

fn not_mcp(called: &str) -> Failure {
    let what = format!("Its answer to `{called}` is not one of MCP.");
    Failure::new(Code::NotMcp, what, "Check that it is an MCP server.")
}

fn silent(limit: Duration) -> Failure {
    let what = format!("It did not say who it is within {} s.", limit.as_secs());
    Failure::new(
        Code::Timeout,
        what,
        "Look at the server's own log; Evermoor tries again by itself.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::transport::duplex;
    use crate::upstream::transport::duplex::{Inbox, Outgoing};
    use evermoor_core::protocol::envelope::Message;
    use evermoor_core::protocol::json::Raw;
    use tokio::sync::mpsc;
    use tokio::time::sleep;

    /// What a server does with each of the two first messages.
    #[derive(Clone, Copy)]
    enum Answer {
        Well,
        Error,
        /// The first time with an error that lists this revision, then well.
        Hesitant(&'static str),
        Never,
        End,
    }

    async fn serve(
        mut received: mpsc::Receiver<Outgoing>,
        inbox: Inbox,
        starts_after: Duration,
        discover: Answer,
        initialize: Answer,
    ) {
        sleep(starts_after).await;
        let mut hesitated = false;
        while let Some(Outgoing { text, fate }) = received.recv().await {
            fate.send(Ok(()));
            let Ok(Message::Request(request)) = Message::parse(&text) else { continue };
            let (answer, well) = match request.method.as_str() {
                method::DISCOVER => {
                    (discover, serde_json::json!({ "supportedVersions": ["2026-07-28"] }))
                }
                _ => (
                    initialize,
                    serde_json::json!({ "protocolVersion": "2025-06-18", "serverInfo": { "name": "s" } }),
                ),
            };
            match answer {
                Answer::Hesitant(listed) if !std::mem::replace(&mut hesitated, true) => {
                    let data = serde_json::json!({ "supported": [listed] });
                    let error =
                        serde_json::json!({ "code": -32022, "message": "no", "data": data });
                    let outcome = Outcome::Error(Raw::of(&error));
                    let id = Some(request.id);
                    inbox.deliver(Message::Response(Response { id, outcome }));
                }
                Answer::Well | Answer::Hesitant(_) => {
                    inbox.deliver(Message::Response(Response::result(request.id, Raw::of(&well))))
                }
                Answer::Error => {
                    inbox.deliver(Message::Response(Response::error(
                        Some(request.id),
                        -32601,
                        "no",
                    )));
                }
                Answer::Never => {}
                Answer::End => return inbox.close(silent(LIMIT)),
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the runtime of the test ends it")]
    async fn found(starts_after: u64, discover: Answer, initialize: Answer) -> Result<Era, Code> {
        let (mut duplex, inbox, received, _incoming) = duplex::channel();
        let starts_after = Duration::from_secs(starts_after);
        drop(tokio::spawn(serve(received, inbox, starts_after, discover, initialize)));
        let found = negotiate(&mut duplex, None, Duration::from_secs(60)).await;
        let found = found.map(|(_, era)| era).map_err(|failure| failure.code);
        assert_eq!(duplex.is_stateless(), found == Ok(Era::Stateless));
        found
    }

    #[tokio::test(start_paused = true)]
    async fn the_era_is_found_whatever_a_server_does_with_the_question() {
        use Answer::{End, Error, Never, Well};
        assert_eq!(found(0, Well, Error).await, Ok(Era::Stateless));
        assert_eq!(found(0, Error, Well).await, Ok(Era::Session));
        assert_eq!(found(0, Never, Well).await, Ok(Era::Session));
        assert_eq!(found(0, End, Well).await, Err(Code::Timeout));
        assert_eq!(found(0, Never, Never).await, Err(Code::Timeout));
        assert_eq!(found(0, Error, Error).await, Err(Code::Refused));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_refuses_a_revision_is_asked_again_in_the_one_it_lists() {
        use Answer::{Error, Hesitant, Well};
        assert_eq!(found(0, Hesitant("2026-07-28"), Error).await, Ok(Era::Stateless));
        assert_eq!(found(0, Hesitant("2026-07-28"), Well).await, Ok(Era::Stateless));
        assert_eq!(found(0, Hesitant("2025-06-18"), Well).await, Ok(Era::Session));
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_that_takes_long_to_start_is_not_taken_for_another() {
        use Answer::{Error, Well};
        assert_eq!(found(30, Well, Error).await, Ok(Era::Stateless));
        assert_eq!(found(30, Error, Well).await, Ok(Era::Session));
        assert_eq!(found(90, Error, Well).await, Err(Code::Timeout));
    }
}

//! How far an exchange is.

use futures_util::future::BoxFuture;

use evermoor_core::protocol::envelope::Message;

use super::super::exchange::input_rounds::Gathered;
use crate::routing::router::Addressee;
use crate::upstream::{Reply, ReplyStream};

pub(super) enum Stage {
    Finding(BoxFuture<'static, Addressee>),
    Asking(BoxFuture<'static, Reply>),
    Hearing(Box<ReplyStream>),
    /// The upstream needs input that the editor is being asked for.
    Gathering(BoxFuture<'static, Gathered>),
    Over,
}

/// What happened to a stage.
pub(super) enum Step {
    Found(Addressee),
    Replied(Reply),
    Heard(Option<Message>),
    Gathered(Gathered),
    Over,
}

/// Waits for what happens next. Nothing is lost if the future is dropped.
pub(super) async fn advance(stage: &mut Stage) -> Step {
    match stage {
        Stage::Finding(finding) => Step::Found(finding.await),
        Stage::Asking(asking) => Step::Replied(asking.await),
        Stage::Hearing(messages) => Step::Heard(messages.next().await),
        Stage::Gathering(gathering) => Step::Gathered(gathering.await),
        Stage::Over => Step::Over,
    }
}

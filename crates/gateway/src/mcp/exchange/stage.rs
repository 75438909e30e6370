//! The stages of an exchange.

use futures_util::future::BoxFuture;

use evermoor_core::protocol::json::Raw;

use super::super::exchange::input_rounds::GatheredInput;
use super::translation::{ReplyAction, Translation};
use crate::routing::router::Destination;
use crate::upstream::{CallReply, ReplyPart, ReplyStream};

pub(super) enum ExchangeStage {
    Routing(BoxFuture<'static, Destination>),
    Calling(BoxFuture<'static, CallReply>),
    Streaming(Box<ReplyStream>),
    /// A large reply is translated on another thread.
    Translating(BoxFuture<'static, Box<TranslatedReply>>),
    /// The editor is being asked for input that the upstream needs.
    GatheringInput(BoxFuture<'static, GatheredInput>),
    Done,
}

/// What a reply means, and the translation in the state after it.
pub(super) struct TranslatedReply {
    pub(super) translation: Translation,
    pub(super) action: ReplyAction,
    /// The payload as it arrived.
    pub(super) before: Raw,
}

/// What a stage produced.
pub(super) enum StageEvent {
    Routed(Destination),
    Replied(CallReply),
    Received(Option<ReplyPart>),
    Translated(Box<TranslatedReply>),
    GatheredInput(GatheredInput),
    Done,
}

/// Waits for the current stage. Cancel safe.
pub(super) async fn advance(stage: &mut ExchangeStage) -> StageEvent {
    match stage {
        ExchangeStage::Routing(finding) => StageEvent::Routed(finding.await),
        ExchangeStage::Calling(asking) => StageEvent::Replied(asking.await),
        ExchangeStage::Streaming(parts) => StageEvent::Received(parts.next().await),
        ExchangeStage::Translating(translating) => StageEvent::Translated(translating.await),
        ExchangeStage::GatheringInput(gathering) => StageEvent::GatheredInput(gathering.await),
        ExchangeStage::Done => StageEvent::Done,
    }
}

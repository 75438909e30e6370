//! Faults of an upstream and of the network in front of it, chosen at random.
//!
//! Injecting one takes as long as the fault lasts. Nothing is broken afterwards.

use std::time::Duration;

use tokio::time::sleep;

use super::random::Dice;
use crate::fakes::upstream::Upstream;
use crate::fakes::upstream::script::{Act, Forgotten, ScriptedReply};
use crate::network::proxy::{NetworkFault, Proxy};

/// A fault to inject.
#[derive(Clone, Debug)]
pub enum InjectedFault {
    /// A network fault, for everything or only for calls.
    Network(NetworkFault),
    Calls(NetworkFault),
    /// The process is killed and started again, at once or after every hold has ended.
    Kill,
    StayAway,
    /// The process is frozen for a while.
    Freeze,
    Forget(Forgotten),
    /// The server treats some calls in this way.
    Server(Act),
}

impl InjectedFault {
    /// Every fault. A kill is in it more than once, because nothing else happens to users as often.
    pub fn all() -> Vec<Self> {
        let network = [
            NetworkFault::Refuse,
            NetworkFault::ResetAtAccept,
            NetworkFault::Blackhole,
            NetworkFault::HalfOpen,
            NetworkFault::Latency(Duration::from_millis(50)),
        ];
        let calls = [
            NetworkFault::ResetUnforwarded,
            NetworkFault::ResetAfterRequest,
            NetworkFault::FinMidHeaders,
            NetworkFault::FinMidBody,
            NetworkFault::Drip(400),
        ];
        let server = [
            Act::refuse(500),
            Act::refuse(502),
            Act::refuse(503),
            Act::refuse_until(429, "1"),
            Act::Wait { millis: 200 },
            Act::Reply(ScriptedReply::Malformed),
            Act::Reply(ScriptedReply::CutStream),
            Act::Reply(ScriptedReply::WrongId),
            Act::Reply(ScriptedReply::Twice),
        ];
        let forgotten = [Forgotten::NotFound, Forgotten::BadRequest, Forgotten::Gone];
        let mut all = vec![Self::Kill, Self::Kill, Self::Kill, Self::StayAway, Self::Freeze];
        all.extend(network.map(Self::Network));
        all.extend(calls.map(Self::Calls));
        all.extend(server.map(Self::Server));
        all.extend(forgotten.map(Self::Forget));
        all
    }

    /// Injects it, repairs everything, and rests. `too_long` is longer than a call is held.
    pub async fn inject(
        self,
        upstream: &mut Upstream,
        network: &Proxy,
        dice: &mut Dice,
        too_long: Duration,
    ) {
        let (lasts, rest) = (dice.millis(20, 300), dice.millis(5, 100));
        match self {
            Self::Network(fault) => network.set(fault).await,
            Self::Calls(fault) => network.set_on("tools/call", fault).await,
            Self::Kill => {
                upstream.kill().await;
                sleep(lasts).await;
                upstream.start_again().await;
            }
            Self::StayAway => {
                network.set(NetworkFault::Refuse).await;
                sleep(too_long).await;
            }
            Self::Freeze => {
                upstream.freeze();
                sleep(lasts).await;
                upstream.thaw();
            }
            Self::Forget(style) => upstream.forget(style).await,
            Self::Server(act) => upstream.next(3, "tools/call", act).await,
        }
        sleep(lasts).await;
        network.heal().await;
        upstream.behave().await;
        sleep(rest).await;
    }
}

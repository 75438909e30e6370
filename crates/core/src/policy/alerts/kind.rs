//! The kinds of trouble that a person is told of.

use super::timing::Times;
use crate::api::Upstream;
use crate::failure::{Code, Failure};

/// The kinds of trouble, the worse the later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// It runs, and does not get ready.
    NotReady,
    /// It may run, and does not answer.
    Unreachable,
    /// Its process is gone, and nobody wanted that.
    Gone,
    SignIn,
    /// A person asked for a restart, and it did not come back.
    NotBack,
    CrashLoop,
    /// The gateway itself does not serve.
    Gateway,
}

impl Kind {
    /// What is wrong with it, if that is worth telling. Who was quit or removed by a person is not.
    pub(super) fn of(upstream: &Upstream, failure: &Failure) -> Option<Self> {
        if upstream.app.as_ref().is_some_and(|app| app.gave_up) {
            return Some(Self::CrashLoop);
        }
        match failure.code {
            Code::Quit | Code::NotInstalled | Code::Paused => None,
            Code::Crashed | Code::NotRunning | Code::ConnectionRefused => Some(Self::Gone),
            Code::CrashLoop => Some(Self::CrashLoop),
            Code::AuthRequired => Some(Self::SignIn),
            // The state says it, and nothing that Evermoor could restart would help.
            Code::KeychainLocked | Code::KeychainMissing | Code::SecretMissing => None,
            Code::Starting => Some(Self::NotReady),
            Code::DnsFailure
            | Code::ConnectTimeout
            | Code::Tls
            | Code::ConnectionLost
            | Code::SessionLost
            | Code::Timeout
            | Code::Refused
            | Code::NotMcp
            | Code::Configuration
            | Code::TokenOff
            | Code::PortTaken
            | Code::NotFound
            | Code::Forbidden
            | Code::Internal => Some(Self::Unreachable),
        }
    }

    /// Whether several that fail together are told as one.
    pub(super) fn is_shared(self) -> bool {
        matches!(self, Self::NotReady | Self::Unreachable | Self::Gone)
    }

    pub(super) fn grace(self, times: &Times) -> u64 {
        match self {
            Self::NotReady => times.starting,
            Self::Unreachable | Self::Gateway => times.unreachable,
            Self::Gone | Self::SignIn => times.gone,
            Self::NotBack | Self::CrashLoop => 0,
        }
    }
}

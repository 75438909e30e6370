//! The kinds of problem that the user is alerted to.

use super::timing::AlertTiming;
use crate::api::UpstreamStatus;
use crate::failure::{Code, Failure};

/// The kinds of problem, from the least to the most severe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProblemKind {
    /// It is running but does not finish starting.
    NotReady,
    /// It may be running but does not respond.
    Unreachable,
    /// Its process exited, and nobody asked for that.
    Exited,
    SignInRequired,
    /// The user asked for a restart, and it did not come back.
    RestartFailed,
    CrashLoop,
    /// The gateway itself is not running.
    GatewayDown,
}

impl ProblemKind {
    /// The problem behind a failure; `None` if it needs no alert, such as an app that the user quit
    /// or uninstalled.
    pub(super) fn of(upstream: &UpstreamStatus, failure: &Failure) -> Option<Self> {
        if upstream.app.as_ref().is_some_and(|app| app.gave_up) {
            return Some(Self::CrashLoop);
        }
        match failure.code {
            Code::Quit | Code::NotInstalled | Code::Paused => None,
            Code::Crashed | Code::NotRunning | Code::ConnectionRefused => Some(Self::Exited),
            Code::CrashLoop => Some(Self::CrashLoop),
            Code::AuthRequired => Some(Self::SignInRequired),
            // The menu says so, and no button of an alert could help.
            Code::KeychainLocked
            | Code::KeychainRefused
            | Code::KeychainMissing
            | Code::SecretMissing => None,
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

    /// Whether outages of this kind that begin together share an alert.
    pub(super) fn is_groupable(self) -> bool {
        matches!(self, Self::NotReady | Self::Unreachable | Self::Exited)
    }

    pub(super) fn grace(self, timing: &AlertTiming) -> u64 {
        match self {
            Self::NotReady => timing.startup_grace,
            Self::Unreachable | Self::GatewayDown => timing.unreachable_grace,
            Self::Exited | Self::SignInRequired => timing.exit_grace,
            Self::RestartFailed | Self::CrashLoop => 0,
        }
    }
}

//! What is tried between which versions, and what is left out, with the reason.

use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_core::protocol::version::ProtocolVersion;
use evermoor_tests::fakes::single_version::FakeTransport;

/// A step that an editor takes with a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    Lists,
    Call,
    Progress,
    Cancel,
    Logging,
    Completion,
    Subscription,
    Sampling,
    Form,
    Url,
    Roots,
    Tasks,
    Kill,
}

impl Feature {
    /// All steps, in the order in which they are tried.
    pub(crate) const ALL: [Self; 13] = [
        Self::Lists,
        Self::Call,
        Self::Progress,
        Self::Cancel,
        Self::Logging,
        Self::Completion,
        Self::Subscription,
        Self::Sampling,
        Self::Form,
        Self::Url,
        Self::Roots,
        Self::Tasks,
        Self::Kill,
    ];

    /// Why a step is not tried between an editor and a server of these versions.
    pub(crate) fn left_out(
        self,
        editor: ProtocolVersion,
        server: ProtocolVersion,
    ) -> Option<&'static str> {
        let both = |revision: SessionVersion| editor.min(server).knows(revision);
        match self {
            Self::Form if !both(SessionVersion::V2025_06_18) => Some("forms came with 2025-06-18"),
            Self::Url if !both(SessionVersion::V2025_11_25) => Some("links came with 2025-11-25"),
            Self::Tasks if !both(SessionVersion::V2025_11_25) => Some("tasks came with 2025-11-25"),
            Self::Form | Self::Url | Self::Tasks => None,
            Self::Lists | Self::Call | Self::Progress | Self::Cancel | Self::Logging => None,
            Self::Completion | Self::Subscription | Self::Sampling | Self::Roots => None,
            Self::Kill => None,
        }
    }
}

/// Every server: each version over each of its transports.
pub(crate) fn servers() -> Vec<(ProtocolVersion, FakeTransport)> {
    let of = |protocol_version: ProtocolVersion| {
        let oldest = protocol_version == ProtocolVersion::Session(SessionVersion::V2024_11_05);
        let web = if oldest { FakeTransport::Sse } else { FakeTransport::Http };
        [(protocol_version, web), (protocol_version, FakeTransport::Stdio)]
    };
    ProtocolVersion::ALL.into_iter().flat_map(of).collect()
}

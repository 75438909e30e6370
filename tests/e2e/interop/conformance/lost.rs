//! What the gateway does not pass on of what a server can do, each on purpose.

/// The checks that pass directly and not through the gateway: which comparison, the scenario, the
/// check. A check leaves this list when it passes; none may come in.
pub(super) const LOST: &[&str] = &[
    // Whoever sends an Origin is a web page, and pages are turned away.
    "2025-11-25 dns-rebinding-protection localhost-host-valid-accepted",
    "2026-07-28 dns-rebinding-protection localhost-host-valid-accepted",
    "legacy dns-rebinding-protection localhost-host-valid-accepted",
    // An answer that is the first thing to come is plain JSON, however the server sent it.
    "2025-11-25 server-sse-multiple-streams server-sse-streams-functional",
    "legacy server-sse-multiple-streams server-sse-streams-functional",
    // A server that closes its stream in the middle of a call is polled by the gateway, not by the
    // editor, which sees one answer.
    "2025-11-25 server-sse-polling server-sse-disconnect-resume",
    "2025-11-25 server-sse-polling server-sse-priming-event",
    "2025-11-25 server-sse-polling server-sse-retry-field",
    "legacy server-sse-polling server-sse-disconnect-resume",
    "legacy server-sse-polling server-sse-priming-event",
    "legacy server-sse-polling server-sse-retry-field",
    // The same, when the suite speaks 2026-07-28 and the server knows sessions alone.
    "bridged dns-rebinding-protection localhost-host-valid-accepted",
    // A question of a session has no name, and these look for one that the server has chosen.
    "bridged input-required-result-basic-elicitation sep-2322-elicitation-complete",
    "bridged input-required-result-basic-elicitation sep-2322-elicitation-incomplete",
    // This one brings three answers before anything was asked. Which is meant, only a name could say.
    "bridged input-required-result-ignore-extra-params sep-2322-ignore-unexpected-params",
];

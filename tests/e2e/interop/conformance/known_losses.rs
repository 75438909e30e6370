//! What the gateway deliberately does not pass on.

/// The checks that pass directly but not through the gateway: comparison, scenario, check. A check
/// leaves this list when it passes; none may be added.
pub(super) const LOST: &[&str] = &[
    // A request with an Origin comes from a web page, and web pages are refused.
    "2025-11-25 dns-rebinding-protection localhost-host-valid-accepted",
    "2026-07-28 dns-rebinding-protection localhost-host-valid-accepted",
    "legacy dns-rebinding-protection localhost-host-valid-accepted",
    // If nothing precedes an answer, the gateway sends it as plain JSON, however the server sent
    // it.
    "2025-11-25 server-sse-multiple-streams server-sse-streams-functional",
    "legacy server-sse-multiple-streams server-sse-streams-functional",
    // If a server closes its stream in the middle of a call, the gateway polls it. The editor sees
    // one answer.
    "2025-11-25 server-sse-polling server-sse-disconnect-resume",
    "2025-11-25 server-sse-polling server-sse-priming-event",
    "2025-11-25 server-sse-polling server-sse-retry-field",
    "legacy server-sse-polling server-sse-disconnect-resume",
    "legacy server-sse-polling server-sse-priming-event",
    "legacy server-sse-polling server-sse-retry-field",
    // The same, when the suite speaks 2026-07-28 and the server only supports sessions.
    "bridged dns-rebinding-protection localhost-host-valid-accepted",
    // A request to the client has no name in a session, and these checks look for the name that the
    // server chose.
    "bridged input-required-result-basic-elicitation sep-2322-elicitation-complete",
    "bridged input-required-result-basic-elicitation sep-2322-elicitation-incomplete",
    // This check sends three answers before anything was asked. Only a name could say which one is
    // meant.
    "bridged input-required-result-ignore-extra-params sep-2322-ignore-unexpected-params",
];

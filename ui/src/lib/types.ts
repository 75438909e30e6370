// Generated from crates/core/src/view.rs by `npm run types`. Do not edit.

export type Status = { version: string, pid: number, endpoint: string, overall: Overall, sentence: string, upstreams: Array<Upstream>, warnings: Array<Failure>, };

export type Overall = "healthy" | "busy" | "degraded" | "down" | "paused";

export type Upstream = { name: string, title: string, target: string, endpoint: string, link: Link, tools: number, };

export type Link = { "state": "connecting" } | { "state": "connected", since: number, server: string, } | { "state": "down", since: number, retryAt: number, attempts: number, failure: Failure, };

export type Failure = { code: Code, what: string, remedy: string, };

export type Code = "connection_refused" | "dns_failure" | "connect_timeout" | "tls" | "connection_lost" | "timeout" | "refused" | "auth_required" | "not_mcp" | "configuration" | "token_off" | "port_taken" | "not_found" | "forbidden" | "internal";

export type Refusal = { error: Failure, };

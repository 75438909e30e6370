// Generated from crates/core/src/view.rs by `npm run types`. Do not edit.

export type Status = { 
/**
 * Version of the gateway that speaks.
 */
version: string, 
/**
 * The gateway's process.
 */
pid: number, 
/**
 * The address editors use for all upstreams in one.
 */
endpoint: string, 
/**
 * One word for the icon.
 */
overall: Overall, 
/**
 * One sentence for a person.
 */
sentence: string, 
/**
 * Every upstream, in the order of the configuration.
 */
upstreams: Array<Upstream>, 
/**
 * What is worth knowing although nothing is broken.
 */
warnings: Array<Failure>, 
/**
 * Every editor that has a token.
 */
editors: Array<Editor>, };

export type Overall = "healthy" | "busy" | "degraded" | "down" | "paused";

export type Upstream = { 
/**
 * Its name in the configuration, in paths and in tool names.
 */
name: string, 
/**
 * What a person calls it.
 */
title: string, 
/**
 * Where it is: an address or a command, never with a secret in it.
 */
target: string, 
/**
 * The address editors use for this upstream alone.
 */
endpoint: string, 
/**
 * Whether it can be used.
 */
link: Link, 
/**
 * How many tools it offers, as last known.
 */
tools: number, 
/**
 * How many of them its own lists hide from every editor.
 */
hidden: number, };

export type Link = { "state": "off" } | { "state": "connecting" } | { "state": "connected", since: number, 
/**
 * What the server calls itself.
 */
server: string, } | { "state": "down", since: number, 
/**
 * When the next attempt is made (milliseconds of the Unix epoch).
 */
retryAt: number, 
/**
 * Attempts made since it went down.
 */
attempts: number, failure: Failure, };

export type Failure = { code: Code, 
/**
 * One sentence: what happened, to what.
 */
what: string, 
/**
 * One sentence: what to do next.
 */
remedy: string, };

export type Code = "connection_refused" | "dns_failure" | "connect_timeout" | "tls" | "connection_lost" | "session_lost" | "timeout" | "refused" | "auth_required" | "not_mcp" | "crash_loop" | "not_installed" | "not_running" | "starting" | "crashed" | "quit" | "paused" | "configuration" | "token_off" | "port_taken" | "not_found" | "forbidden" | "internal";

export type Editor = { name: string, 
/**
 * When its token was made (milliseconds of the Unix epoch); unknown if it was written by hand.
 */
made: number | null, 
/**
 * When it last spoke, to the minute; unknown if it has not since the gateway started.
 */
seen: number | null, 
/**
 * Evermoor's own programs use it, so it cannot be revoked.
 */
own: boolean, 
/**
 * How much it is shown; unknown while no gateway runs.
 */
shown: Shown | null, 
/**
 * What is worth knowing about that, if anything.
 */
hint: string | null, };

export type Shown = { tools: number, prompts: number, resources: number, };

export type Refusal = { error: Failure, };

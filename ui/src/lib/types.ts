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
editors: Array<Editor>, 
/**
 * The machine woke: until this moment (milliseconds of the Unix epoch), which may have passed,
 * nobody is to be disturbed with what is down.
 */
mutedUntil: number | null, };

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
hidden: number, 
/**
 * What is seen of the application that it is, if it is one.
 */
app: App | null, };

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
attempts: number, failure: Failure, } | { "state": "paused", since: number, };

export type App = { 
/**
 * How it stands, in a word or two.
 */
word: string, 
/**
 * How it stands, in a sentence.
 */
what: string, 
/**
 * What to do, in a sentence.
 */
remedy: string, 
/**
 * The one thing that helps.
 */
next: Next, 
/**
 * What else is worth knowing.
 */
notes: Array<string>, version: string | null, 
/**
 * Where it was found.
 */
port: number | null, 
/**
 * Its process, where that can be seen.
 */
pid: number | null, 
/**
 * In bytes.
 */
memory: number | null, 
/**
 * In thousandths of one processor.
 */
load: number | null, 
/**
 * Where its memory is going, in a sentence.
 */
trend: string | null, 
/**
 * What a person is offered, in a sentence.
 */
offer: string | null, 
/**
 * It ended too often: it is not started again until a person asks for it.
 */
gaveUp: boolean, 
/**
 * The restart that is under way, or the last one.
 */
restart: Restart | null, };

export type Next = "nothing" | "wait" | "install" | "start" | "restart" | "resume" | "open";

export type Restart = { 
/**
 * Counts the restarts of this application.
 */
number: number, 
/**
 * When it began, in milliseconds of the Unix epoch.
 */
began: number, steps: Array<Event>, 
/**
 * How it ended; nothing while it is under way.
 */
end: RestartEnd | null, };

export type RestartEnd = { 
/**
 * In milliseconds of the Unix epoch.
 */
at: number, 
/**
 * Why it failed, if it did.
 */
failure: Failure | null, };

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

export type Incidents = { incidents: Array<Incident>, };

export type Incident = { 
/**
 * Grows with time.
 */
id: number, 
/**
 * The upstream's name in the configuration.
 */
upstream: string, 
/**
 * What a person called it then.
 */
title: string, 
/**
 * When the first sign was seen.
 */
began: number, 
/**
 * The first sign.
 */
sign: Failure, 
/**
 * Why it happened, if that was found out.
 */
cause: Cause | null, 
/**
 * The memory that its process last had, in bytes.
 */
memory: number | null, 
/**
 * How long its process had run, in milliseconds.
 */
uptime: number | null, calls: Calls, 
/**
 * What was seen and done, in the order of time.
 */
events: Array<Event>, 
/**
 * How it ended; nothing while it lasts.
 */
end: End | null, 
/**
 * How much of it no gateway watched, because none ran, in milliseconds.
 */
unwatched: number, };

export type Calls = { 
/**
 * They waited for the upstream.
 */
held: number, 
/**
 * They waited, and were answered by the upstream.
 */
answered: number, 
/**
 * Nobody knows whether they ran.
 */
unknown: number, 
/**
 * They were given back without having been sent.
 */
notSent: number, };

export type Cause = { 
/**
 * One sentence.
 */
what: string, evidence: Evidence | null, };

export type Evidence = { 
/**
 * Where it was found, such as the name of a crash report.
 */
source: string, 
/**
 * The part that says most: the top of a crash report.
 */
excerpt: string, };

export type Event = { at: number, 
/**
 * One sentence.
 */
what: string, };

export type End = { at: number, how: How, };

export type How = "reconnected" | "answered" | "removed" | "changed" | "paused";

export type Sample = { 
/**
 * When it was, in milliseconds of the Unix epoch; the beginning of `span`.
 */
at: number, 
/**
 * How much time it stands for, in milliseconds.
 */
span: number, 
/**
 * In bytes; the highest of the span.
 */
memory: number, 
/**
 * In thousandths of one processor; the mean of the span.
 */
load: number, 
/**
 * How long the process had run, in milliseconds.
 */
uptime: number, };

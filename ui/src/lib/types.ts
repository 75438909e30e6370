// Generated from crates/core/src/api by `npm run types`. Do not edit.

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
mutedUntil: number | null, 
/**
 * Who is connected at this moment.
 */
attached: Array<Attached>, 
/**
 * What a person wants of the tray.
 */
tray: TraySettings, 
/**
 * Nobody has set anything up yet: it is to be offered.
 */
firstRun: boolean, 
/**
 * The system's own supervisor runs this gateway; nobody else starts or ends it.
 */
supervised: boolean, };

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
app: App | null, 
/**
 * What a person last did to it, wherever they did it.
 */
touched: Touched | null, };

export type Touched = { 
/**
 * In milliseconds of the Unix epoch.
 */
at: number, 
/**
 * They want it back: they restarted it, or had it connected anew. Otherwise they paused or turned it.
 */
restarts: boolean, };

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
 * From how much on that is too much, in bytes: as its preset says, or the person.
 */
memoryAlarm: number | null, 
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
 * It works, and its owner is signed out of it: some of its tools need that.
 */
signedOut: boolean, 
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

export type Code = "connection_refused" | "dns_failure" | "connect_timeout" | "tls" | "connection_lost" | "session_lost" | "timeout" | "refused" | "auth_required" | "keychain_locked" | "keychain_missing" | "secret_missing" | "not_mcp" | "crash_loop" | "not_installed" | "not_running" | "starting" | "crashed" | "quit" | "paused" | "configuration" | "token_off" | "port_taken" | "not_found" | "forbidden" | "internal";

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

export type LogLines = { lines: Array<LogLine>, };

export type LogLine = { 
/**
 * In milliseconds of the Unix epoch.
 */
at: number, level: LogLevel, 
/**
 * The upstream that it is about, if it is about one.
 */
upstream: string | null, text: string, };

export type LogLevel = "error" | "warn" | "info" | "debug";

export type Checks = { checks: Array<Check>, };

export type Check = { 
/**
 * Names it in `/api/doctor/{id}/fix`, such as `port` or `upstream.notes`.
 */
id: string, 
/**
 * What was looked at, in a word or two.
 */
title: string, state: CheckState, 
/**
 * What was found, in a sentence.
 */
detail: string, 
/**
 * What to do about it, in a sentence.
 */
remedy: string | null, 
/**
 * Whether Evermoor can put it right by itself, and nothing is lost by it.
 */
fixable: boolean, };

export type CheckState = "good" | "bad" | "skipped";

export type Fixed = { 
/**
 * What was done, in a sentence.
 */
what: string, };

export type Attached = { 
/**
 * Whose token it uses.
 */
editor: string, 
/**
 * What the program calls itself, if it said so.
 */
client: string | null, clientVersion: string | null, 
/**
 * The revision of MCP that is spoken.
 */
revision: string, transport: Wire, 
/**
 * The one upstream that it sees; nothing if it sees all of them in one.
 */
view: string | null, 
/**
 * When it was first heard, in this life of the gateway (milliseconds of the Unix epoch).
 */
since: number, };

export type Wire = "http" | "sse" | "stdio";

export type Activity = { calls: Array<Call>, };

export type Call = { 
/**
 * Grows with every call that this gateway answers.
 */
number: number, 
/**
 * When it came (milliseconds of the Unix epoch).
 */
at: number, 
/**
 * Whose token it came with.
 */
editor: string, 
/**
 * What the editor calls itself, if it said so.
 */
client: string | null, 
/**
 * Who was to answer; nothing if nobody was found.
 */
upstream: string | null, 
/**
 * The tool, prompt or resource, as its upstream calls it.
 */
tool: string, outcome: CallOutcome, 
/**
 * From its arrival to its answer.
 */
ms: number, 
/**
 * How much of that it waited for an upstream that was away.
 */
heldMs: number, };

export type CallOutcome = "ok" | "toolError" | "notSent" | "unknown" | "cancelled" | "refused";

export type Latency = { points: Array<LatencyPoint>, };

export type LatencyPoint = { 
/**
 * When the minute began (milliseconds of the Unix epoch).
 */
at: number, 
/**
 * Half of them took no longer.
 */
p50Ms: number, 
/**
 * Nineteen of twenty took no longer.
 */
p95Ms: number, calls: number, };

export type Catalog = { tools: Array<Tool>, prompts: Array<Item>, resources: Array<Item>, };

export type Tool = { 
/**
 * As the upstream calls it.
 */
name: string, title: string | null, description: string | null, 
/**
 * JSON Schema of its arguments.
 */
inputSchema: unknown, 
/**
 * What the upstream says of it, such as `readOnlyHint`.
 */
annotations: unknown, 
/**
 * Whether the upstream's lists in `config.toml` let editors see it.
 */
shown: boolean, 
/**
 * Why a switch cannot show or hide it, if it cannot: a pattern decides about several at once.
 */
fixed: string | null, };

export type Item = { 
/**
 * The name of a prompt, the address of a resource.
 */
name: string, title: string | null, description: string | null, shown: boolean, };

export type Timeline = { spans: Array<Span>, };

export type Span = { 
/**
 * In milliseconds of the Unix epoch.
 */
from: number, 
/**
 * Nothing if it lasts.
 */
to: number | null, state: SpanState, };

export type SpanState = "connected" | "connecting" | "down" | "paused" | "off" | "unwatched";

export type Trial = { ms: number, 
/**
 * What the upstream answered, as MCP has it.
 */
result?: unknown, 
/**
 * Why there is no result, as JSON-RPC has it.
 */
error?: unknown, };

export type SelfTest = { ok: boolean, ms: number, 
/**
 * How many tools were listed.
 */
tools: number, failure: Failure | null, };

export type Settings = { 
/**
 * Where the file is.
 */
path: string, port: number, 
/**
 * How long a call waits for an upstream that is down.
 */
hold: string, requireToken: boolean, tray: TraySettings, 
/**
 * Also those that are turned off, in the order of their names.
 */
upstreams: Array<UpstreamSettings>, 
/**
 * The editors that something is said of.
 */
editors: Array<EditorSettings>, };

export type TraySettings = { notifications: Notifications, 
/**
 * Whether the gateway ends with the tray.
 */
quitStopsGateway: boolean, };

export type Notifications = "all" | "problems" | "none";

export type UpstreamSettings = { name: string, 
/**
 * Nothing if it has the title of its preset, or its name.
 */
title: string | null, enabled: boolean, 
/**
 * Whether it is an application, which has `restart`, `recycle` and `memoryAlarm`.
 */
isApp: boolean, 
/**
 * Where it is, to read.
 */
target: string, 
/**
 * After how much silence it is asked for a sign of life; nothing if as usual, "0s" if never.
 */
keepalive: string | null, callTimeout: string, 
/**
 * When it is restarted: "on-crash", "ask", "always" or "never".
 */
restart: string, 
/**
 * When its memory is freed by a restart: "when-idle" or "never".
 */
recycle: string, 
/**
 * Nothing if it is as its preset says.
 */
memoryAlarm: string | null, trustAnnotations: boolean, 
/**
 * "shared" or "per-client".
 */
sharing: string, tools: Lists, prompts: Lists, resources: Lists, };

export type EditorSettings = { name: string, upstreams: Lists, tools: Lists, prompts: Lists, resources: Lists, };

export type Lists = { 
/**
 * Nothing if everything is allowed.
 */
allow: Array<string> | null, deny: Array<string>, };

export type SettingsChange = { port?: number | null, hold?: string | null, requireToken?: boolean | null, tray?: TrayChange, 
/**
 * By name.
 */
upstreams?: { [key in string]: UpstreamChange }, 
/**
 * By name.
 */
editors?: { [key in string]: EditorChange }, };

export type TrayChange = { notifications?: Notifications | null, quitStopsGateway?: boolean | null, };

export type UpstreamChange = { title?: string | null, enabled?: boolean | null, keepalive?: string | null, callTimeout?: string | null, restart?: string | null, recycle?: string | null, memoryAlarm?: string | null, trustAnnotations?: boolean | null, sharing?: string | null, tools?: ListsChange, prompts?: ListsChange, resources?: ListsChange, };

export type EditorChange = { upstreams?: ListsChange, tools?: ListsChange, prompts?: ListsChange, resources?: ListsChange, };

export type ListsChange = { allow?: Array<string> | null, deny?: Array<string> | null, };

export type Setup = { editors: Array<Found>, };

export type Found = { 
/**
 * What to call it in a command, such as `claude-code`.
 */
id: string, 
/**
 * What its makers call it.
 */
title: string, 
/**
 * The file that says which servers it uses; none for those that keep them elsewhere.
 */
path: string | null, state: Connection, 
/**
 * The MCP servers that its file has already, ours included.
 */
entries: Array<FoundEntry>, 
/**
 * A session of this product is with the gateway now.
 */
attached: boolean, 
/**
 * What is to be done next, or what it takes for the product to notice.
 */
hint: string, 
/**
 * A link that the product opens to add Evermoor by itself, if it has such links. It holds no token.
 */
link: string | null, };

export type Connection = "connected" | "notConnected" | "changed" | "unreadable" | "notInstalled";

export type FoundEntry = { name: string, 
/**
 * `stdio`, `http` or `sse`.
 */
kind: string, 
/**
 * It leads to Evermoor.
 */
ours: boolean, };

export type SetupPreview = { path: string | null, 
/**
 * A unified diff with the token left out; empty if nothing would change.
 */
diff: string, 
/**
 * What to paste where Evermoor does not write, with the token left out.
 */
snippet: string, hint: string, };

export type SetupDone = { path: string | null, changed: boolean, 
/**
 * Where the file is kept as it was before.
 */
backup: string | null, hint: string, };

export type ImportPreview = { 
/**
 * The editor's file, and a unified diff of it.
 */
path: string | null, diff: string, 
/**
 * Evermoor's configuration, and a unified diff of it.
 */
configPath: string, configDiff: string, moves: Array<Moves>, stays: Array<Stays>, hint: string, };

export type Moves = { 
/**
 * What the editor calls it.
 */
name: string, upstream: string, 
/**
 * Its secrets, which go to the keychain, by the names that they get there.
 */
secrets: Array<string>, };

export type Stays = { 
/**
 * Nothing if the file cannot be read at all.
 */
name: string, why: string, };

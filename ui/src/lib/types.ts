// Generated from crates/core/src/api by `npm run types`. Do not edit.

export type Status = { 
/**
 * The gateway's version.
 */
version: string, 
/**
 * The gateway's process id.
 */
pid: number, 
/**
 * The address of the endpoint that merges all upstreams.
 */
endpoint: string, 
/**
 * Selects the tray icon.
 */
overall: OverallState, 
/**
 * Describes the state in one sentence.
 */
sentence: string, 
/**
 * All upstreams, in configuration order.
 */
upstreams: Array<UpstreamStatus>, 
/**
 * Problems that do not stop anything from working.
 */
warnings: Array<Failure>, 
/**
 * All editors that have a token.
 */
editors: Array<EditorStatus>, 
/**
 * The machine woke from sleep: show no alerts before this time (Unix time in milliseconds). It
 * may be in the past.
 */
mutedUntil: number | null, 
/**
 * The clients that are connected now.
 */
attached: Array<ConnectedClient>, 
/**
 * The tray's settings.
 */
tray: TraySettings, 
/**
 * Nothing is set up yet, so the setup page is offered.
 */
firstRun: boolean, 
/**
 * The OS service manager runs this gateway; nothing else may start or stop it.
 */
supervised: boolean, };

export type OverallState = "healthy" | "busy" | "degraded" | "down" | "paused";

export type UpstreamStatus = { 
/**
 * The name used in the configuration, in paths and in tool names.
 */
name: string, 
/**
 * The display name.
 */
title: string, 
/**
 * What it is; a gateway of 0.1.0 does not say.
 */
kind?: UpstreamKind, 
/**
 * Its address or command, without secrets.
 */
target: string, 
/**
 * The address of the endpoint that serves only this upstream.
 */
endpoint: string, 
/**
 * The state of the connection.
 */
link: UpstreamState, 
/**
 * How many tools it offers, according to the last known catalog.
 */
tools: number, 
/**
 * How many of these tools its filter lists hide from all editors.
 */
hidden: number, 
/**
 * The status of the app that hosts it, if it has one.
 */
app: AppStatus | null, 
/**
 * The user's last action on it.
 */
touched: UserAction | null, 
/**
 * Set if the user is signed in to it, or must sign in.
 */
signIn?: SignInStatus, };

export type UpstreamKind = "address" | "program" | "app" | "demo";

export type UserAction = { 
/**
 * Unix time in milliseconds.
 */
at: number, 
/**
 * True for a restart or a reconnect; false for pausing it or turning it on or off.
 */
restarts: boolean, };

export type UpstreamState = { "state": "off" } | { "state": "connecting" } | { "state": "connected", since: number, 
/**
 * The server's name for itself.
 */
server: string, } | { "state": "down", since: number, 
/**
 * When the next attempt starts (Unix time in milliseconds).
 */
retryAt: number, 
/**
 * Attempts since it went down.
 */
attempts: number, failure: Failure, } | { "state": "paused", since: number, };

export type AppStatus = { 
/**
 * A short label for its state.
 */
word: string, 
/**
 * Its state in one sentence.
 */
what: string, 
/**
 * What to do, in one sentence.
 */
remedy: string, 
/**
 * The action to offer.
 */
next: Next, 
/**
 * Additional remarks.
 */
notes: Array<string>, version: string | null, 
/**
 * The port it was found on.
 */
port: number | null, 
/**
 * Its process id, if known.
 */
pid: number | null, 
/**
 * In bytes.
 */
memory: number | null, 
/**
 * The alarm threshold in bytes, from the preset or the configuration.
 */
memoryAlarm: number | null, 
/**
 * In thousandths of one CPU.
 */
load: number | null, 
/**
 * How its memory use develops, in one sentence.
 */
trend: string | null, 
/**
 * A suggestion to the user, in one sentence.
 */
offer: string | null, 
/**
 * It works, but the user is signed out, so some of its tools do not work.
 */
signedOut: boolean, 
/**
 * It exited too often; Evermoor starts it again only when the user asks.
 */
gaveUp: boolean, 
/**
 * The current or the last restart.
 */
restart: RestartProgress | null, };

export type Next = "nothing" | "wait" | "install" | "start" | "restart" | "resume" | "open";

export type RestartProgress = { 
/**
 * Counts this app's restarts.
 */
number: number, 
/**
 * When it started (Unix time in milliseconds).
 */
began: number, steps: Array<TimedEvent>, 
/**
 * The result; `None` while it is in progress.
 */
end: RestartResult | null, };

export type RestartResult = { 
/**
 * Unix time in milliseconds.
 */
at: number, 
/**
 * Why it failed, if it did.
 */
failure: Failure | null, };

export type Failure = { code: Code, 
/**
 * One sentence: what happened.
 */
what: string, 
/**
 * One sentence: what to do next.
 */
remedy: string, };

export type Code = "connection_refused" | "dns_failure" | "connect_timeout" | "tls" | "connection_lost" | "session_lost" | "timeout" | "refused" | "auth_required" | "keychain_locked" | "keychain_refused" | "keychain_missing" | "secret_missing" | "not_mcp" | "crash_loop" | "not_installed" | "not_running" | "starting" | "crashed" | "quit" | "paused" | "configuration" | "token_off" | "port_taken" | "not_found" | "forbidden" | "internal";

export type EditorStatus = { name: string, 
/**
 * When its token was created (Unix time in milliseconds); `None` if it was written by hand.
 */
made: number | null, 
/**
 * When it last sent a request, to the minute; `None` if not since the gateway started.
 */
seen: number | null, 
/**
 * Evermoor's own programs use this token, so it cannot be revoked.
 */
own: boolean, 
/**
 * How much it can see; `None` while no gateway is running.
 */
shown: VisibleCounts | null, 
/**
 * A remark about these counts, if there is one.
 */
hint: string | null, };

export type VisibleCounts = { tools: number, prompts: number, resources: number, };

export type ErrorBody = { error: Failure, };

export type Incidents = { incidents: Array<Incident>, };

export type Incident = { 
/**
 * Increases with each incident.
 */
id: number, 
/**
 * The upstream's name in the configuration.
 */
upstream: string, 
/**
 * Its display name at the time.
 */
title: string, 
/**
 * When the first failure was seen.
 */
began: number, 
/**
 * The first failure.
 */
sign: Failure, 
/**
 * Why it happened, if known.
 */
cause: IncidentCause | null, 
/**
 * The memory of its process before the outage, in bytes.
 */
memory: number | null, 
/**
 * The uptime of its process before the outage, in milliseconds.
 */
uptime: number | null, calls: AffectedCalls, 
/**
 * What was observed and done, oldest first.
 */
events: Array<TimedEvent>, 
/**
 * How it ended; `None` while it is ongoing.
 */
end: IncidentEnd | null, 
/**
 * How long no gateway was running during it, in milliseconds.
 */
unwatched: number, };

export type AffectedCalls = { 
/**
 * Held until the upstream came back.
 */
held: number, 
/**
 * Held, and then answered by the upstream.
 */
answered: number, 
/**
 * Sent, but it is unknown whether they ran.
 */
unknown: number, 
/**
 * Returned without being sent.
 */
notSent: number, };

export type IncidentCause = { 
/**
 * One sentence.
 */
what: string, evidence: Evidence | null, };

export type Evidence = { 
/**
 * Its source, such as the name of a crash report.
 */
source: string, 
/**
 * The relevant part, such as the top of a crash report.
 */
excerpt: string, };

export type TimedEvent = { at: number, 
/**
 * One sentence.
 */
what: string, };

export type IncidentEnd = { at: number, how: Resolution, };

export type Resolution = "reconnected" | "answered" | "removed" | "changed" | "paused";

export type ResourceSample = { 
/**
 * The start of `span` (Unix time in milliseconds).
 */
at: number, 
/**
 * The period it covers, in milliseconds.
 */
span: number, 
/**
 * The highest memory of the span, in bytes.
 */
memory: number, 
/**
 * The mean load of the span, in thousandths of one CPU.
 */
load: number, 
/**
 * The process's uptime, in milliseconds.
 */
uptime: number, };

export type LogLines = { lines: Array<LogLine>, };

export type LogLine = { 
/**
 * Unix time in milliseconds.
 */
at: number, level: LogLevel, 
/**
 * The upstream it concerns, if any.
 */
upstream: string | null, text: string, };

export type LogLevel = "error" | "warn" | "info" | "debug";

export type Checks = { checks: Array<Check>, };

export type Check = { 
/**
 * The id used in `/api/doctor/{id}/fix`, such as `port` or `upstream.notes`.
 */
id: string, 
/**
 * What was checked, in a word or two.
 */
title: string, state: CheckState, 
/**
 * What was found, in one sentence.
 */
detail: string, 
/**
 * What to do about it, in one sentence.
 */
remedy: string | null, 
/**
 * Whether Evermoor can fix it without losing anything.
 */
fixable: boolean, };

export type CheckState = "good" | "bad" | "skipped";

export type FixResult = { 
/**
 * What was done, in one sentence.
 */
what: string, };

export type ConnectedClient = { 
/**
 * The editor whose token it uses.
 */
editor: string, 
/**
 * The client's name for itself, if it sent one.
 */
client: string | null, clientVersion: string | null, 
/**
 * The MCP version in use.
 */
revision: string, transport: ClientTransport, 
/**
 * The upstream whose endpoint it uses; `None` for the merged endpoint.
 */
view: string | null, 
/**
 * When this gateway process first saw it (Unix time in milliseconds).
 */
since: number, };

export type ClientTransport = "http" | "sse" | "stdio";

export type RecentCalls = { calls: Array<RecentCall>, };

export type RecentCall = { 
/**
 * Increases by one with each call that this gateway answers.
 */
number: number, 
/**
 * When it arrived (Unix time in milliseconds).
 */
at: number, 
/**
 * The editor whose token the call carried.
 */
editor: string, 
/**
 * The client's name for itself, if it sent one.
 */
client: string | null, 
/**
 * The upstream it was routed to; `None` if there is none for it.
 */
upstream: string | null, 
/**
 * The tool, prompt or resource, by its upstream's name for it.
 */
tool: string, outcome: CallOutcome, 
/**
 * The time from arrival to answer.
 */
ms: number, 
/**
 * How much of that time the call was held because its upstream was down.
 */
heldMs: number, };

export type CallOutcome = "ok" | "toolError" | "notSent" | "unknown" | "cancelled" | "refused";

export type Latency = { points: Array<LatencyPoint>, };

export type LatencyPoint = { 
/**
 * When the minute started (Unix time in milliseconds).
 */
at: number, 
/**
 * The median.
 */
p50Ms: number, 
/**
 * The 95th percentile.
 */
p95Ms: number, calls: number, };

export type CatalogListing = { tools: Array<ToolListing>, prompts: Array<CatalogEntry>, resources: Array<CatalogEntry>, };

export type ToolListing = { 
/**
 * The upstream's name for it.
 */
name: string, title: string | null, description: string | null, 
/**
 * JSON Schema of its arguments.
 */
inputSchema: unknown, 
/**
 * The annotations of the upstream, such as `readOnlyHint`.
 */
annotations: unknown, 
/**
 * Whether the upstream's lists in `config.toml` show it to editors.
 */
shown: boolean, 
/**
 * Why the dashboard cannot show or hide it, if a pattern covers several tools at once.
 */
fixed: string | null, };

export type CatalogEntry = { 
/**
 * The name of a prompt or the URI of a resource.
 */
name: string, title: string | null, description: string | null, shown: boolean, };

export type Timeline = { spans: Array<TimelineSpan>, };

export type TimelineSpan = { 
/**
 * Unix time in milliseconds.
 */
from: number, 
/**
 * `None` if it has not ended.
 */
to: number | null, state: TimelineState, };

export type TimelineState = "connected" | "connecting" | "down" | "paused" | "off" | "unwatched";

export type TrialCallResult = { ms: number, 
/**
 * The MCP result.
 */
result?: unknown, 
/**
 * The JSON-RPC error.
 */
error?: unknown, };

export type SelfTest = { ok: boolean, ms: number, 
/**
 * How many tools were listed.
 */
tools: number, failure: Failure | null, };

export type Settings = { 
/**
 * The path of the file.
 */
path: string, port: number, 
/**
 * How long a call waits for an upstream that is down.
 */
hold: string, requireToken: boolean, tray: TraySettings, 
/**
 * All upstreams, including those turned off, sorted by name.
 */
upstreams: Array<UpstreamSettings>, 
/**
 * The editors that have an entry in the file.
 */
editors: Array<EditorSettings>, };

export type TraySettings = { notifications: NotificationLevel, 
/**
 * Whether quitting the tray stops the gateway.
 */
quitStopsGateway: boolean, };

export type NotificationLevel = "all" | "problems" | "none";

export type UpstreamSettings = { name: string, 
/**
 * `None` if the title comes from the preset or the name.
 */
title: string | null, enabled: boolean, 
/**
 * Whether it is an app; only apps use `restart`, `recycle` and `memoryAlarm`.
 */
isApp: boolean, 
/**
 * Its address or command, for display.
 */
target: string, 
/**
 * The idle time after which it is pinged; `None` for the default, "0s" for never.
 */
keepalive: string | null, callTimeout: string, 
/**
 * When it is restarted: "on-crash", "ask", "always" or "never".
 */
restart: string, 
/**
 * When it is restarted to free memory: "when-idle" or "never".
 */
recycle: string, 
/**
 * `None` if the preset's value applies.
 */
memoryAlarm: string | null, trustAnnotations: boolean, 
/**
 * "shared" or "per-client".
 */
sharing: string, tools: FilterLists, prompts: FilterLists, resources: FilterLists, };

export type EditorSettings = { name: string, upstreams: FilterLists, tools: FilterLists, prompts: FilterLists, resources: FilterLists, };

export type FilterLists = { 
/**
 * `None` if everything is allowed.
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

export type TrayChange = { notifications?: NotificationLevel | null, quitStopsGateway?: boolean | null, };

export type UpstreamChange = { title?: string | null, enabled?: boolean | null, keepalive?: string | null, callTimeout?: string | null, restart?: string | null, recycle?: string | null, memoryAlarm?: string | null, trustAnnotations?: boolean | null, sharing?: string | null, tools?: FilterListsChange, prompts?: FilterListsChange, resources?: FilterListsChange, };

export type EditorChange = { upstreams?: FilterListsChange, tools?: FilterListsChange, prompts?: FilterListsChange, resources?: FilterListsChange, };

export type FilterListsChange = { allow?: Array<string> | null, deny?: Array<string> | null, };

export type Setup = { editors: Array<DetectedEditor>, };

export type DetectedEditor = { 
/**
 * Its id on the command line, such as `claude-code`.
 */
id: string, 
/**
 * Its product name.
 */
title: string, 
/**
 * The file that lists its servers; `None` if it keeps them elsewhere.
 */
path: string | null, state: SetupState, 
/**
 * The MCP servers in its file, including Evermoor.
 */
entries: Array<EditorServerEntry>, 
/**
 * This editor is connected to the gateway now.
 */
attached: boolean, 
/**
 * What to do next, or how to make the editor pick up the change.
 */
hint: string, 
/**
 * A link that makes the editor add Evermoor itself, if it supports such links. It contains no
 * token.
 */
link: string | null, };

export type SetupState = "connected" | "notConnected" | "changed" | "unreadable" | "notInstalled";

export type EditorServerEntry = { name: string, 
/**
 * `stdio`, `http` or `sse`.
 */
kind: string, 
/**
 * It points to Evermoor.
 */
ours: boolean, };

export type SetupPreview = { path: string | null, 
/**
 * A unified diff without the token; empty if nothing would change.
 */
diff: string, 
/**
 * The entry to paste where Evermoor does not write the file, without the token.
 */
snippet: string, hint: string, };

export type SetupResult = { path: string | null, changed: boolean, 
/**
 * The path of the backup of the file.
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
configPath: string, configDiff: string, moves: Array<MovedServer>, stays: Array<KeptServer>, hint: string, };

export type MovedServer = { 
/**
 * The editor's name for it.
 */
name: string, upstream: string, 
/**
 * The names under which its secrets are stored in the keychain.
 */
secrets: Array<string>, };

export type KeptServer = { 
/**
 * Empty if the file cannot be read at all.
 */
name: string, why: string, };

export type SignInStatus = { 
/**
 * Whether the upstream cannot be used until the user signs in.
 */
isNeeded: boolean, 
/**
 * The account that is signed in, as the authorization server calls it. It is only shown.
 */
account: string | null, };

export type SignInPage = { 
/**
 * The page that the user opens in a browser.
 */
url: string, 
/**
 * The code to enter on that page, in a browser on any device. Without one, the browser must be able
 * to come back to this computer.
 */
code?: string, 
/**
 * The page with the code filled in.
 */
urlWithCode?: string, };

export type SignInState = { "state": "waiting", page?: SignInPage, } | { "state": "done" } | { "state": "failed", failure: Failure, };

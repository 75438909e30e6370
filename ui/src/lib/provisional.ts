// Types of the control API that the generator does not write yet.

import type { Failure, Status } from './types'

/** What a state says besides. */
export interface More {
  attached: Attached[]
  tray: TraySettings
  firstRun: boolean
  supervised: boolean
}

export const more = (status: Status) => status as Status & Partial<More>

export type Notifications = 'all' | 'problems' | 'none'
export type TraySettings = { notifications: Notifications; quitStopsGateway: boolean }

export type CallOutcome = 'ok' | 'toolError' | 'notSent' | 'unknown' | 'cancelled' | 'refused'
export type Call = {
  number: number
  at: number
  editor: string
  client: string | null
  upstream: string | null
  tool: string
  outcome: CallOutcome
  ms: number
  heldMs: number
}
export type Activity = { calls: Call[] }
export type LatencyPoint = { at: number; p50Ms: number; p95Ms: number; calls: number }
export type Latency = { points: LatencyPoint[] }

export type Wire = 'http' | 'sse' | 'stdio'
export type Attached = {
  editor: string
  client: string | null
  clientVersion: string | null
  revision: string
  transport: Wire
  view: string | null
  since: number
}

export type Tool = {
  name: string
  title: string | null
  description: string | null
  inputSchema: unknown
  annotations: unknown
  shown: boolean
  fixed: string | null
}
export type Item = { name: string; title: string | null; description: string | null; shown: boolean }
export type Catalog = { tools: Tool[]; prompts: Item[]; resources: Item[] }
export type Trial = { ms: number; result?: unknown; error?: unknown }

export type SpanState = 'connected' | 'connecting' | 'down' | 'paused' | 'off' | 'unwatched'
export type Span = { from: number; to: number | null; state: SpanState }
export type Timeline = { spans: Span[] }
export type SelfTest = { ok: boolean; ms: number; tools: number; failure: Failure | null }

export type LogLevel = 'error' | 'warn' | 'info' | 'debug'
export type LogLine = { at: number; level: LogLevel; upstream: string | null; text: string }
export type LogLines = { lines: LogLine[] }

export type CheckState = 'good' | 'bad' | 'skipped'
export type Check = {
  id: string
  title: string
  state: CheckState
  detail: string
  remedy: string | null
  fixable: boolean
}
export type Checks = { checks: Check[] }
export type Fixed = { what: string }

export type Connection = 'connected' | 'notConnected' | 'changed' | 'unreadable' | 'notInstalled'
export type FoundEntry = { name: string; kind: string; ours: boolean }
export type Found = {
  id: string
  title: string
  path: string | null
  state: Connection
  entries: FoundEntry[]
  attached: boolean
  hint: string
  link: string | null
}
export type Setup = { editors: Found[] }
export type SetupPreview = { path: string | null; diff: string; snippet: string; hint: string }
export type SetupDone = { path: string | null; changed: boolean; backup: string | null; hint: string }

export type Lists = { allow: string[] | null; deny: string[] }
export type UpstreamSettings = {
  name: string
  title: string | null
  enabled: boolean
  isApp: boolean
  target: string
  keepalive: string | null
  callTimeout: string
  restart: string
  recycle: string
  memoryAlarm: string | null
  trustAnnotations: boolean
  sharing: string
  tools: Lists
  prompts: Lists
  resources: Lists
}
export type EditorSettings = { name: string; upstreams: Lists; tools: Lists; prompts: Lists; resources: Lists }
export type Settings = {
  path: string
  port: number
  hold: string
  requireToken: boolean
  tray: TraySettings
  upstreams: UpstreamSettings[]
  editors: EditorSettings[]
}
export type ListsChange = { allow?: string[] | null; deny?: string[] | null }
export type UpstreamChange = {
  title?: string | null
  enabled?: boolean | null
  keepalive?: string | null
  callTimeout?: string | null
  restart?: string | null
  recycle?: string | null
  memoryAlarm?: string | null
  trustAnnotations?: boolean | null
  sharing?: string | null
  tools?: ListsChange
  prompts?: ListsChange
  resources?: ListsChange
}
export type EditorChange = { upstreams?: ListsChange; tools?: ListsChange; prompts?: ListsChange; resources?: ListsChange }
export type SettingsChange = {
  port?: number | null
  hold?: string | null
  requireToken?: boolean | null
  tray?: { notifications?: Notifications | null; quitStopsGateway?: boolean | null }
  upstreams?: Record<string, UpstreamChange>
  editors?: Record<string, EditorChange>
}

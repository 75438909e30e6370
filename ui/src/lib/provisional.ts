// Types of the control API that the generator does not write yet.

import type { Failure, Status } from './types'

/** What a state says besides. */
export interface More {
  attached: Attached[]
  tray: { notifications: 'all' | 'problems' | 'none'; quitStopsGateway: boolean }
  firstRun: boolean
  supervised: boolean
}

export const more = (status: Status) => status as Status & Partial<More>

export type Outcome = 'ok' | 'toolError' | 'notSent' | 'unknown' | 'cancelled' | 'refused'

export interface Call {
  at: number
  editor: string
  client: string | null
  upstream: string
  tool: string
  outcome: Outcome
  ms: number
  heldMs: number
}

export interface Attached {
  editor: string
  client: string | null
  clientVersion: string | null
  revision: string | null
  transport: string
  view: string
  since: number
}

export interface Tool {
  name: string
  title: string | null
  description: string | null
  inputSchema: unknown
  shown: boolean
  annotations: { readOnlyHint?: boolean; destructiveHint?: boolean } | null
}

export interface Catalog {
  tools: Tool[]
  prompts: { name: string; title: string | null; description: string | null }[]
  resources: { uri: string; name: string; title: string | null; description: string | null }[]
}

export interface Tried {
  ms: number
  result?: { content?: { type: string; text?: string }[]; isError?: boolean; structuredContent?: unknown }
  error?: { code?: number; message: string }
}

export interface Span {
  from: number
  to: number | null
  state: string
}

export interface LatencyPoint {
  at: number
  p50Ms: number
  p95Ms: number
  calls: number
}

export interface LogLine {
  at: number
  level: string
  upstream: string | null
  text: string
}

export interface Check {
  id: string
  title: string
  state: 'good' | 'bad' | 'skipped'
  detail: string
  remedy: string | null
  fixable: boolean
}

export interface Found {
  id: string
  title: string
  path: string
  state: 'connected' | 'notConnected' | 'changed' | 'unreadable' | 'notInstalled'
  entries: { name: string; kind: string }[]
  attached: boolean
  hint: string | null
}

export interface FoundApplication {
  id: string
  title: string
  running: boolean
  detail?: string | null
}

export interface Setup {
  editors: Found[]
  applications: FoundApplication[]
}

export interface Preview {
  path: string
  diff: string
  snippet: string | null
  hint: string | null
}

export interface Connected {
  path: string
  changed: boolean
  backup: string | null
  hint: string | null
}

export interface SelfTest {
  ok: boolean
  ms: number
  tools: number
  failure: Failure | null
}

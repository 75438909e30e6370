// Sample data and a fake gateway for the tests.

import type { Answer, Gateway, Method, Presence } from './gateway/gateway'
import type { AppStatus, Code, EditorStatus, Failure, UpstreamState, Status, UpstreamStatus } from './types'

export const NOON = Date.UTC(2026, 5, 1, 12)

export const failure = (code: Code = 'connection_refused'): Failure => ({
  code,
  what: 'Connection refused at localhost:39300.',
  remedy: 'Start PiecesOS.',
})

export const connected = (since = NOON): UpstreamState => ({ state: 'connected', since, server: 'server' })

export const down = (attempts = 1, code?: Code): UpstreamState => ({
  state: 'down',
  since: NOON,
  retryAt: NOON + 4_000,
  attempts,
  failure: failure(code),
})

export const upstream = (title: string, link: UpstreamState = connected()): UpstreamStatus => ({
  name: title.toLowerCase(),
  title,
  kind: 'address',
  target: 'http://localhost:39300/mcp',
  endpoint: `http://127.0.0.1:7420/mcp/${title.toLowerCase()}`,
  link,
  tools: 12,
  hidden: 0,
  app: null,
  touched: null,
})

export const app = (more: Partial<AppStatus> = {}): AppStatus => ({
  word: 'Connected',
  what: 'PiecesOS is ready.',
  remedy: 'Nothing to do.',
  next: 'nothing',
  notes: [],
  version: '12.3.10',
  port: 39300,
  pid: 4711,
  memory: 812_000_000,
  load: 20,
  memoryAlarm: 2_500_000_000,
  trend: '812 MB, steady.',
  offer: null,
  signedOut: false,
  gaveUp: false,
  restart: null,
  ...more,
})

export const editor = (name: string, more: Partial<EditorStatus> = {}): EditorStatus => ({
  name,
  made: NOON - 3 * 86_400_000,
  seen: NOON - 5 * 60_000,
  own: false,
  shown: { tools: 34, prompts: 0, resources: 0 },
  hint: null,
  ...more,
})

export const status = (...upstreams: UpstreamStatus[]): Status => ({
  version: '0.1.0',
  pid: 4711,
  endpoint: 'http://127.0.0.1:7420/mcp',
  overall: 'healthy',
  sentence: 'Everything is connected',
  upstreams,
  warnings: [],
  editors: [],
  mutedUntil: null,
  attached: [],
  tray: { notifications: 'problems', quitStopsGateway: false },
  firstRun: false,
  supervised: false,
})

/** The answers of a gateway without data, by path. */
const emptyAnswers: Record<string, unknown> = {
  '/api/incidents': { incidents: [] },
  timeline: { spans: [] },
  '/api/activity': { calls: [] },
  '/api/doctor': { checks: [] },
  '/api/setup': { editors: [], applications: [] },
  '/api/logs': { lines: [] },
  samples: { samples: [] },
  latency: { points: [] },
  catalog: { tools: [], prompts: [], resources: [] },
}

/** Gives the answers that a test sets, and records the requests. */
export class FakeGateway implements Gateway {
  tell: (presence: Presence) => void = () => undefined
  watched = false
  /** The requests other than GET, in order. */
  orders: string[] = []
  bodies: unknown[] = []
  /** Answers by path without query, such as `/api/doctor`, or by method and path. */
  answers: Record<string, unknown> = {}
  copied: string[] = []
  refusal: Failure | undefined
  clipboardWorks = true
  follow?: Gateway['follow']
  shell?: Gateway['shell']

  watch(tell: (presence: Presence) => void): () => void {
    this.tell = tell
    this.watched = true
    return () => {
      this.watched = false
    }
  }

  async ask<T>(method: Method, path: string, body?: unknown): Promise<Answer<T>> {
    const [plain = ''] = path.split('?')
    if (method !== 'GET') {
      this.orders.push(`${method} ${plain}`)
      this.bodies.push(body)
      if (this.refusal) return { ok: false, failure: this.refusal }
      return { ok: true, value: (this.answers[`${method} ${plain}`] ?? {}) as T }
    }
    const known = Object.keys(emptyAnswers).find((name) => plain === name || plain.endsWith(`/${name}`))
    const value = this.answers[path] ?? this.answers[plain] ?? (known && emptyAnswers[known])
    return value === undefined ? { ok: false, failure: failure('not_found') } : { ok: true, value: value as T }
  }

  async copy(text: string): Promise<void> {
    if (!this.clipboardWorks) throw new Error('not allowed')
    this.copied.push(text)
  }
}

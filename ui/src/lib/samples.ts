// Pieces that the tests put together.

import type { Gateway, Presence } from './gateway'
import type { App, Code, Editor, Failure, Link, Status, Upstream } from './types'

export const NOON = Date.UTC(2026, 5, 1, 12)

export const failure = (code: Code = 'connection_refused'): Failure => ({
  code,
  what: 'Nothing listens at localhost:39300.',
  remedy: 'Start PiecesOS.',
})

export const connected = (since = NOON): Link => ({ state: 'connected', since, server: 'server' })

export const down = (attempts = 1, code?: Code): Link => ({
  state: 'down',
  since: NOON,
  retryAt: NOON + 4_000,
  attempts,
  failure: failure(code),
})

export const upstream = (title: string, link: Link = connected()): Upstream => ({
  name: title.toLowerCase(),
  title,
  target: 'http://localhost:39300/mcp',
  endpoint: `http://127.0.0.1:7420/mcp/${title.toLowerCase()}`,
  link,
  tools: 12,
  hidden: 0,
  app: null,
})

export const app = (more: Partial<App> = {}): App => ({
  word: 'Connected',
  what: 'PiecesOS is ready.',
  remedy: 'Nothing needs to be done.',
  next: 'nothing',
  notes: [],
  version: '12.3.10',
  port: 39300,
  pid: 4711,
  memory: 812_000_000,
  load: 20,
  trend: '812 MB, steady.',
  offer: null,
  gaveUp: false,
  restart: null,
  ...more,
})

export const editor = (name: string, more: Partial<Editor> = {}): Editor => ({
  name,
  made: NOON - 3 * 86_400_000,
  seen: NOON - 5 * 60_000,
  own: false,
  shown: { tools: 34, prompts: 0, resources: 0 },
  hint: null,
  ...more,
})

export const status = (...upstreams: Upstream[]): Status => ({
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

/** A gateway that says what it is told to say and remembers what it was asked. */
export class FakeGateway implements Gateway {
  tell: (presence: Presence) => void = () => undefined
  watched = false
  restarted: string[] = []
  resumed: string[] = []
  revoked: string[] = []
  copied: string[] = []
  refusal: Failure | undefined
  clipboardWorks = true

  watch(tell: (presence: Presence) => void): () => void {
    this.tell = tell
    this.watched = true
    return () => {
      this.watched = false
    }
  }

  async restart(name: string): Promise<Failure | undefined> {
    this.restarted.push(name)
    return this.refusal
  }

  async resume(name: string): Promise<Failure | undefined> {
    this.resumed.push(name)
    return this.refusal
  }

  async revoke(name: string): Promise<Failure | undefined> {
    this.revoked.push(name)
    return this.refusal
  }

  async copy(text: string): Promise<void> {
    if (!this.clipboardWorks) throw new Error('not allowed')
    this.copied.push(text)
  }
}

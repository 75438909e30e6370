// The seam to the control API. Whoever shows the state knows these types and not who brings them:
// `browser.ts` over fetch when the gateway serves the page, `shell.ts` over Tauri in the tray
// application's window, a fake in the tests.

import type { ServerEvent } from './events'
import type { Failure, Status } from '../types'

/** Whether the gateway is there, and what it says. */
export type Presence =
  | { kind: 'starting' }
  | { kind: 'serving'; status: Status }
  | { kind: 'lost'; failure: Failure }
  /** The page has no token, or one that is no longer good; `stale` after a link that was used or old. */
  | { kind: 'locked'; stale: boolean }

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** What the gateway answered, or why it did not do what it was asked for. Never thrown. */
export type Answer<T> = { ok: true; value: T } | { ok: false; failure: Failure }

export interface Gateway {
  /** Tells the presence now and whenever it changes, forever; the answer stops it. */
  watch(tell: (presence: Presence) => void): () => void
  /** Asks a route of the control API. */
  ask<T>(method: Method, path: string, body?: unknown): Promise<Answer<T>>
  /**
   * Hears the events of a stream from now on, however often it breaks; the answer stops it.
   * Missing where there are no streams: there one asks again and again.
   */
  readonly follow?: ((path: string, hear: (event: ServerEvent) => void) => () => void) | undefined
  /** Puts a text on the clipboard, and fails if that is not allowed. */
  copy(text: string): Promise<void>
  /** What only the tray application's window can do. */
  readonly shell?: Shell | undefined
}

export type Folder = 'config' | 'data' | 'logs'

export interface UpdateState {
  kind: string
  version?: string
  reason?: string
}

export interface Shell {
  /** Whether the application starts at login, as the system has it. */
  loginItem(): Promise<boolean>
  setLoginItem(enabled: boolean): Promise<void>
  updateState(): Promise<UpdateState>
  installUpdate(): Promise<void>
  openFolder(what: Folder): Promise<void>
  openLink(url: string): Promise<void>
  /** Hears which place the tray wants to be shown; the answer stops it. */
  onShow(go: (page: string) => void): () => void
}

/** A path with its parts and questions written so that no name can change its meaning. */
export function pathOf(parts: string[], questions: Record<string, string | number | undefined> = {}) {
  const path = ['/api', ...parts.map(encodeURIComponent)].join('/')
  const asked = Object.entries(questions).filter(([, value]) => value !== undefined && value !== '')
  const query = new URLSearchParams(asked.map(([name, value]) => [name, String(value)])).toString()
  return query ? `${path}?${query}` : path
}

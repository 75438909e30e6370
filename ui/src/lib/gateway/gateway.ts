// The interface to the control API, with three implementations: `browser.ts` uses fetch if the gateway
// serves the page, `tauri.ts` uses the commands of the tray application's window, and tests use a fake.

import type { ServerEvent } from './events'
import type { Failure, Status } from '../types'

/** Whether the gateway is running, and its state. */
export type Presence =
  | { kind: 'starting' }
  | { kind: 'serving'; status: Status }
  | { kind: 'lost'; failure: Failure }
  /** The user has stopped the gateway. Only the tray application's window can tell. */
  | { kind: 'stopped' }
  /** The page has no valid token. `stale`: the link was used before or has expired. */
  | { kind: 'locked'; stale: boolean }

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** The gateway's answer, or why the request failed. */
export type Answer<T> = { ok: true; value: T } | { ok: false; failure: Failure }

export interface Gateway {
  /** Reports the presence now and after each change. Call the result to stop. */
  watch(onPresence: (presence: Presence) => void): () => void
  /** Sends a request to the control API. Never rejects. */
  ask<T>(method: Method, path: string, body?: unknown): Promise<Answer<T>>
  /**
   * Reports the events of a stream, and opens it again when it breaks. Call the result to stop.
   * Undefined if there are no streams; poll instead.
   */
  readonly follow?: ((path: string, onEvent: (event: ServerEvent) => void) => () => void) | undefined
  /** Copies a text to the clipboard. Rejects if that is not allowed. */
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

/** How notifications reach the user: with their buttons, as plain text, or not at all. */
export type Delivery = 'withButtons' | 'plain' | 'declined'

export interface Shell {
  /** Whether the system starts the application at login. */
  loginItem(): Promise<boolean>
  setLoginItem(enabled: boolean): Promise<void>
  notificationDelivery(): Promise<Delivery>
  updateState(): Promise<UpdateState>
  installUpdate(): Promise<void>
  openFolder(what: Folder): Promise<void>
  openLink(url: string): Promise<void>
  /** Reports the page that the tray asks to show. Call the result to stop. */
  onShow(go: (page: string) => void): () => void
}

/** A path of the control API, with its parts and query encoded. */
export function pathOf(parts: string[], params: Record<string, string | number | undefined> = {}) {
  const path = ['/api', ...parts.map(encodeURIComponent)].join('/')
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== '')
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return query ? `${path}?${query}` : path
}

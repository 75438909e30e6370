// The last known state, kept as long as the tab is open, so that a reloaded page shows it at once. The
// state contains no secrets.

import type { Status } from '../types'

const KEY = 'evermoor.last'

export function read(): Status | undefined {
  try {
    const status = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Status | null
    return status && Array.isArray(status.upstreams) && Array.isArray(status.editors) ? status : undefined
  } catch {
    return undefined
  }
}

export function write(status: Status) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(status))
  } catch {
    // Without storage, a reloaded page waits for the gateway.
  }
}

export function forget() {
  sessionStorage.removeItem(KEY)
}

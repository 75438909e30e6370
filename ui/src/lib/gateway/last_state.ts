// The last state heard, kept for as long as the tab lives, so that a page loaded again shows it at
// once. A state has no secrets in it.

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
    // A tab without storage, or a full one, paints a moment later.
  }
}

export function forget() {
  sessionStorage.removeItem(KEY)
}

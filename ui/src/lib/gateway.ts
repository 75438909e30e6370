// The seam to the control API. Whoever shows the state knows these types and not who brings them:
// `browser.ts` over fetch when the gateway serves the page, `shell.ts` over Tauri in the tray
// application's window, a fake in the tests.

import type { Failure, Status } from './types'

/** Whether the gateway is there, and what it says. */
export type Presence =
  | { kind: 'starting' }
  | { kind: 'serving'; status: Status }
  | { kind: 'lost'; failure: Failure }
  /** The page has no token, or one that is no longer good; `stale` after a link that was used or old. */
  | { kind: 'locked'; stale: boolean }

export interface Gateway {
  /** Tells the presence now and whenever it changes, forever; the answer stops it. */
  watch(tell: (presence: Presence) => void): () => void
  /** Asks for an upstream to be restarted. Answers why not, or nothing if it is being done. */
  restart(name: string): Promise<Failure | undefined>
  /** Asks for a paused upstream to be looked after again. Answers why not, or nothing if it is. */
  resume(name: string): Promise<Failure | undefined>
  /** Asks for an editor's token to be taken away. Answers why not, or nothing if it is done. */
  revoke(name: string): Promise<Failure | undefined>
  /** Puts a text on the clipboard, and fails if that is not allowed. */
  copy(text: string): Promise<void>
}

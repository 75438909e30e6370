// The control API inside the tray application's window. The shell holds the connection to the
// gateway; here its word is only passed on.

import { invoke } from '@tauri-apps/api/core'
import { listen } from '@tauri-apps/api/event'

import type { Gateway, Presence } from './gateway'
import { notUnderstood } from './texts'
import type { Failure } from './types'

export class ShellGateway implements Gateway {
  watch(tell: (presence: Presence) => void): () => void {
    let stopped = false
    let heard = false
    const hear = (presence: Presence) => {
      heard = true
      if (!stopped) tell(presence)
    }
    // First listen, then ask: a change in between is not missed, nor overwritten by an older answer.
    const listening = listen<Presence>('presence', (event) => hear(event.payload))
    void listening
      .then(() => invoke<Presence>('presence'))
      .then((presence) => {
        if (!heard) hear(presence)
      })
      .catch((error: unknown) => hear({ kind: 'lost', failure: failureOf(error) }))
    return () => {
      stopped = true
      void listening.then((unlisten) => unlisten()).catch(() => undefined)
    }
  }

  restart(name: string): Promise<Failure | undefined> {
    return order('restart_upstream', name)
  }

  resume(name: string): Promise<Failure | undefined> {
    return order('resume_upstream', name)
  }

  revoke(name: string): Promise<Failure | undefined> {
    return order('revoke_editor', name)
  }

  async copy(text: string): Promise<void> {
    await invoke('copy', { text })
  }
}

/** Has something done. Answers why not, or nothing. */
async function order(command: string, name: string): Promise<Failure | undefined> {
  try {
    await invoke(command, { name })
    return undefined
  } catch (error) {
    return failureOf(error)
  }
}

/** A command fails with a `Failure`; anything else is a fault of the shell itself. */
function failureOf(error: unknown): Failure {
  const known = typeof error === 'object' && error !== null && 'what' in error && 'remedy' in error
  return known ? (error as Failure) : notUnderstood
}

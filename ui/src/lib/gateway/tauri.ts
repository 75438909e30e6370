// The control API in the tray application's window. The application owns the connection to the gateway;
// this file forwards requests to it and events from it.

import { invoke } from '@tauri-apps/api/core'
import { listen } from '@tauri-apps/api/event'

import type { Answer, Delivery, Folder, Gateway, Method, Presence, Shell, UpdateState } from './gateway'
import { notUnderstood } from '../texts/common'
import type { Failure, ErrorBody } from '../types'

export class ShellGateway implements Gateway {
  readonly shell: Shell = {
    loginItem: async () => (await invoke<{ enabled: boolean }>('login_item')).enabled,
    setLoginItem: (enabled) => invoke('set_login_item', { enabled }),
    notificationDelivery: () => invoke<Delivery>('notification_delivery'),
    updateState: () => invoke<UpdateState>('update_state'),
    installUpdate: () => invoke('install_update'),
    openFolder: (what: Folder) => invoke('open_folder', { what }),
    openLink: (url) => invoke('open_link', { url }),
    onShow: (go) => {
      const receive = ({ page }: { page: string }) => go(page)
      // The application keeps a request that came while this page was loading.
      return subscribe('show', receive, () => invoke<{ page: string } | null>('listening').then((waited) => waited && receive(waited)))
    },
  }

  watch(tell: (presence: Presence) => void): () => void {
    let stopped = false
    let received = false
    const receive = (presence: Presence) => {
      received = true
      if (!stopped) tell(presence)
    }
    // Listen first, then ask, so that no change is missed or overwritten by an older answer.
    const listening = listen<Presence>('presence', (event) => receive(event.payload))
    void listening
      .then(() => invoke<Presence>('presence'))
      .then((presence) => {
        if (!received) receive(presence)
      })
      .catch((error: unknown) => receive({ kind: 'lost', failure: failureOf(error) }))
    return () => {
      stopped = true
      void listening.then((unlisten) => unlisten()).catch(() => undefined)
    }
  }

  async ask<T>(method: Method, path: string, body?: unknown): Promise<Answer<T>> {
    try {
      const request = { method, path, body: body ?? null }
      const answer = await invoke<{ status: number; body: unknown }>('control', request)
      if (answer.status < 400) return { ok: true, value: answer.body as T }
      return { ok: false, failure: (answer.body as Partial<ErrorBody> | null)?.error ?? notUnderstood }
    } catch (error) {
      return { ok: false, failure: failureOf(error) }
    }
  }

  async copy(text: string): Promise<void> {
    await invoke('copy', { text })
  }
}

function subscribe<T>(name: string, receive: (payload: T) => void, begun: () => Promise<unknown>): () => void {
  const listening = listen<T>(name, (event) => receive(event.payload))
  void listening.then(begun).catch(() => undefined)
  return () => void listening.then((unlisten) => unlisten()).catch(() => undefined)
}

/** Commands fail with a `Failure`. Anything else is a bug in the tray application. */
export function failureOf(error: unknown): Failure {
  const known = typeof error === 'object' && error !== null && 'what' in error && 'remedy' in error
  return known ? (error as Failure) : notUnderstood
}

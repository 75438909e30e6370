// The control API for a page that the gateway served.
//
// # Theory of operation
//
// `evermoor open` opens the page with a one-time code behind the `#`. The code is exchanged for a
// token, which lives as long as the tab. One loop then reads the stream of states. When the stream
// ends, whatever the reason, the loop says so and connects again, sooner at first, forever. Only a
// refused token ends it: then a person has to open a new link.

import { eventsOf } from './events'
import type { Gateway, Presence } from './gateway'
import { gatewayGone, notUnderstood } from './texts'
import type { Failure, Refusal, Status } from './types'

const TOKEN = 'evermoor.token'
const FIRST_PAUSE = 250
const LONGEST_PAUSE = 5_000
/** The first state comes at once; later, a stream this long without a byte is asked for anew. */
const FIRST_ANSWER = 10_000
const LONGEST_SILENCE = 45_000

/** The token was refused, or there is none. */
class Locked extends Error {}

export class BrowserGateway implements Gateway {
  #tell: (presence: Presence) => void = () => undefined
  #stop = new AbortController()

  watch(tell: (presence: Presence) => void): () => void {
    this.#tell = tell
    const begin = () => {
      this.#stop.abort()
      this.#stop = new AbortController()
      void this.#keepWatching(takeCode(), this.#stop.signal)
    }
    // A new link opened in this very tab changes what is behind the `#` and loads nothing.
    const relink = () => location.hash && begin()
    addEventListener('hashchange', relink)
    begin()
    return () => {
      removeEventListener('hashchange', relink)
      this.#stop.abort()
    }
  }

  restart(name: string): Promise<Failure | undefined> {
    return this.#order('POST', `/api/upstreams/${encodeURIComponent(name)}/restart`)
  }

  resume(name: string): Promise<Failure | undefined> {
    return this.#order('POST', `/api/upstreams/${encodeURIComponent(name)}/resume`)
  }

  revoke(name: string): Promise<Failure | undefined> {
    return this.#order('DELETE', `/api/editors/${encodeURIComponent(name)}`)
  }

  /** Has something done. Answers why not, or nothing. */
  async #order(method: string, path: string): Promise<Failure | undefined> {
    try {
      const answer = await ask(path, { method })
      return answer.ok ? undefined : await refusalOf(answer)
    } catch (error) {
      if (error instanceof Locked) this.#lock(false)
      return gatewayGone
    }
  }

  async copy(text: string): Promise<void> {
    await navigator.clipboard.writeText(text)
  }

  async #keepWatching(code: string | undefined, stop: AbortSignal) {
    let pause = FIRST_PAUSE
    while (!stop.aborted) {
      try {
        if (code) await logIn(code)
        code = undefined
        for await (const status of states(stop)) {
          this.#tell({ kind: 'serving', status })
          pause = FIRST_PAUSE
        }
        // A silent stream ended: the next one says at once whether anything is wrong.
        continue
      } catch (error) {
        if (stop.aborted) return
        if (error instanceof Locked) return this.#lock(code !== undefined)
        this.#tell({ kind: 'lost', failure: gatewayGone })
      }
      await rest(pause, stop)
      pause = Math.min(pause * 2, LONGEST_PAUSE)
    }
  }

  #lock(stale: boolean) {
    this.#stop.abort()
    sessionStorage.removeItem(TOKEN)
    this.#tell({ kind: 'locked', stale })
  }
}

/** The one-time code of the address, which is removed from it: it must not be kept or shared. */
function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get('code') ?? undefined
  if (code) history.replaceState(null, '', location.pathname + location.search)
  return code
}

async function logIn(code: string) {
  const answer = await fetch('/api/login', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  const refused = answer.status >= 400 && answer.status < 500
  // An old link in a tab that is logged in does no harm.
  if (refused && sessionStorage.getItem(TOKEN)) return
  if (refused) throw new Locked()
  if (!answer.ok) throw new Error(`login answered ${answer.status}`)
  const { token } = (await answer.json()) as { token: string }
  sessionStorage.setItem(TOKEN, token)
}

/** The states of one stream. Returns when it falls silent, throws when it ends or never begins. */
async function* states(stop: AbortSignal): AsyncGenerator<Status> {
  const silent = new AbortController()
  let begun = false
  let watchdog = setTimeout(() => silent.abort(), FIRST_ANSWER)
  try {
    const answer = await ask('/api/events', { signal: AbortSignal.any([stop, silent.signal]) })
    if (!answer.ok || !answer.body) throw new Error(`events answered ${answer.status}`)
    for await (const events of eventsOf(answer.body)) {
      clearTimeout(watchdog)
      watchdog = setTimeout(() => silent.abort(), LONGEST_SILENCE)
      begun = true
      const latest = events.findLast(({ event }) => event === 'status')
      if (latest) yield JSON.parse(latest.data) as Status
    }
    throw new Error('the stream ended')
  } catch (error) {
    if (!begun || !silent.signal.aborted) throw error
  } finally {
    clearTimeout(watchdog)
  }
}

async function ask(path: string, request: RequestInit): Promise<Response> {
  const token = sessionStorage.getItem(TOKEN)
  if (!token) throw new Locked()
  const answer = await fetch(path, {
    ...request,
    cache: 'no-store',
    headers: { Authorization: `Bearer ${token}` },
  })
  if (answer.status === 401) throw new Locked()
  return answer
}

async function refusalOf(answer: Response): Promise<Failure> {
  const refusal = (await answer.json().catch(() => ({}))) as Partial<Refusal>
  return refusal.error ?? notUnderstood
}

/** Waits, but not longer than until somebody looks at the page again. */
function rest(pause: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const woken = new AbortController()
    const wake = () => {
      clearTimeout(timer)
      woken.abort()
      resolve()
    }
    const timer = setTimeout(wake, pause)
    stop.addEventListener('abort', wake, { signal: woken.signal })
    document.addEventListener('visibilitychange', () => document.hidden || wake(), {
      signal: woken.signal,
    })
  })
}

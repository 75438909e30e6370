// The control API for a page in a browser, which the gateway serves.
//
// # Theory of operation
//
// `evermoor open` opens the page with a one-time code after the `#`. The page exchanges the code for a
// token, which is valid as long as the tab is open. One loop then reads the stream of states. When the
// stream ends for any reason, the loop reports it and reconnects with growing waits, forever. It stops
// only if the gateway rejects the token: then the user must open a new link.

import { type ServerEvent, eventsOf } from './events'
import type { Answer, Gateway, Method, Presence } from './gateway'
import { Locked, logIn, logOut, request, takeCode } from './session'
import { gatewayGone, notUnderstood } from '../texts/common'
import type { Failure, ErrorBody, Status } from '../types'

const FIRST_PAUSE = 250
const LONGEST_PAUSE = 5_000
/** The gateway sends the first state at once. Later, a stream that is silent for too long is opened again. */
const FIRST_ANSWER = 10_000
const LONGEST_SILENCE = 45_000

export class BrowserGateway implements Gateway {
  #tell: (presence: Presence) => void = () => undefined
  #stop = new AbortController()

  watch(tell: (presence: Presence) => void): () => void {
    this.#tell = tell
    const begin = (code: string | undefined) => {
      this.#stop.abort()
      this.#stop = new AbortController()
      void this.#keepWatching(code, this.#stop.signal)
    }
    // A new link in the same tab changes only the part after the `#`, so the page is not loaded again.
    const relink = () => {
      const code = takeCode()
      if (code) begin(code)
    }
    addEventListener('hashchange', relink)
    begin(takeCode())
    return () => {
      removeEventListener('hashchange', relink)
      this.#stop.abort()
    }
  }

  async ask<T>(method: Method, path: string, body?: unknown): Promise<Answer<T>> {
    try {
      const content = body === undefined ? {} : { body: JSON.stringify(body) }
      const answer = await request(path, { method, ...content })
      if (!answer.ok) return { ok: false, failure: await refusalOf(answer) }
      return { ok: true, value: (await contentOf(answer)) as T }
    } catch (error) {
      if (error instanceof Locked) this.#lock(false)
      return { ok: false, failure: gatewayGone }
    }
  }

  follow(path: string, onEvent: (event: ServerEvent) => void): () => void {
    const stop = new AbortController()
    void this.#keepFollowing(path, onEvent, stop.signal)
    return () => stop.abort()
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
        for await (const events of stream('/api/events', stop)) {
          const latest = events.findLast(({ event }) => event === 'status')
          if (!latest) continue
          this.#tell({ kind: 'serving', status: JSON.parse(latest.data) as Status })
          pause = FIRST_PAUSE
        }
        // The stream fell silent. The next one shows at once whether anything is wrong.
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

  /** Reads the stream until it is stopped, and opens it again when it breaks. */
  async #keepFollowing(path: string, onEvent: (event: ServerEvent) => void, stop: AbortSignal) {
    while (!stop.aborted) {
      try {
        for await (const events of stream(path, stop)) events.forEach(onEvent)
      } catch (error) {
        // `watch` reports the failure; this loop only retries.
        if (error instanceof Locked) return
      }
      await rest(LONGEST_PAUSE / 5, stop)
    }
  }

  #lock(stale: boolean) {
    this.#stop.abort()
    logOut()
    this.#tell({ kind: 'locked', stale })
  }
}

/** The events of one stream. Returns if the stream falls silent; throws if it ends or never starts. */
async function* stream(path: string, stop: AbortSignal): AsyncGenerator<ServerEvent[]> {
  const silent = new AbortController()
  let begun = false
  let watchdog = setTimeout(() => silent.abort(), FIRST_ANSWER)
  try {
    const answer = await request(path, { signal: AbortSignal.any([stop, silent.signal]) })
    if (!answer.ok || !answer.body) throw new Error(`${path} answered ${answer.status}`)
    for await (const events of eventsOf(answer.body)) {
      clearTimeout(watchdog)
      watchdog = setTimeout(() => silent.abort(), LONGEST_SILENCE)
      begun = true
      yield events
    }
    throw new Error('the stream ended')
  } catch (error) {
    if (!begun || !silent.signal.aborted) throw error
  } finally {
    clearTimeout(watchdog)
  }
}

async function contentOf(answer: Response): Promise<unknown> {
  const isJson = answer.headers.get('Content-Type')?.includes('json')
  return isJson ? answer.json() : answer.text()
}

async function refusalOf(answer: Response): Promise<Failure> {
  const refusal = (await answer.json().catch(() => ({}))) as Partial<ErrorBody>
  return refusal.error ?? notUnderstood
}

/** Waits, or until the page becomes visible again. */
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

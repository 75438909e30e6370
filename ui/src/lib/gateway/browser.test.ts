import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { BrowserGateway } from './browser'
import type { Presence } from './gateway'
import { failure, status } from '../test_data'
import { gatewayGone } from '../texts/common'

const event = `event: status\ndata: ${JSON.stringify(status())}\n\n`

/** A stream that sends one state and stays open until it is ended or its request is aborted. */
function stream() {
  let open!: ReadableStreamDefaultController<Uint8Array>
  const body = new ReadableStream<Uint8Array>({ start: (controller) => void (open = controller) })
  open.enqueue(new TextEncoder().encode(event))
  const answer = new Response(body)
  aborts.set(answer, () => open.error(new Error('aborted')))
  return { answer, end: () => open.close() }
}

const aborts = new WeakMap<Response, () => void>()
const answers: Array<Response | Error> = []

/** Returns the prepared answers in order, then hangs. */
const fetch = vi.fn((_path: string, request: RequestInit = {}) => {
  const answer = answers.shift()
  return new Promise<Response>((resolve, reject) => {
    request.signal?.addEventListener('abort', () => {
      reject(new Error('aborted'))
      if (answer instanceof Response) aborts.get(answer)?.()
    })
    if (answer instanceof Response) resolve(answer)
    else if (answer) reject(answer)
  })
})
const asked = () => fetch.mock.calls.map(([path]) => path)

let stop = () => {}
function watch() {
  const seen: Presence[] = []
  stop = new BrowserGateway().watch((presence) => seen.push(presence))
  return seen
}
const kinds = (seen: Presence[]) => seen.map(({ kind }) => kind)
const pass = (milliseconds = 0) => vi.advanceTimersByTimeAsync(milliseconds)

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('fetch', fetch)
  sessionStorage.setItem('evermoor.token', 'token')
})

afterEach(() => {
  stop()
  answers.length = 0
  fetch.mockClear()
  sessionStorage.clear()
  history.replaceState(null, '', '/')
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

describe('logging in', () => {
  test('a page without a token sends no request and is locked', async () => {
    sessionStorage.clear()
    const seen = watch()
    await pass()
    expect(seen).toEqual([{ kind: 'locked', stale: false }])
    expect(asked()).toEqual([])
  })

  test('the code is removed from the URL and exchanged for a token', async () => {
    sessionStorage.clear()
    history.replaceState(null, '', '/#code=once')
    answers.push(Response.json({ token: 'fresh' }), stream().answer)
    const seen = watch()
    expect(location.hash).toBe('')
    await pass()
    expect(fetch.mock.calls[0]?.[1]?.body).toBe('{"code":"once"}')
    expect(fetch.mock.calls[1]?.[1]?.headers).toEqual({ Authorization: 'Bearer fresh' })
    expect(seen).toEqual([{ kind: 'serving', status: status() }])
  })

  test('a used code is reported as stale', async () => {
    sessionStorage.clear()
    history.replaceState(null, '', '/#code=again')
    answers.push(new Response('', { status: 401 }))
    const seen = watch()
    await pass()
    expect(seen).toEqual([{ kind: 'locked', stale: true }])
  })

  test('an invalid token is forgotten', async () => {
    answers.push(new Response('', { status: 401 }))
    const seen = watch()
    await pass(60_000)
    expect(seen).toEqual([{ kind: 'locked', stale: false }])
    expect(sessionStorage).toHaveLength(0)
    expect(asked()).toEqual(['/api/events'])
  })

  test('a new link in the same tab unlocks the page', async () => {
    sessionStorage.clear()
    const seen = watch()
    await pass()
    answers.push(Response.json({ token: 'fresh' }), stream().answer)
    history.replaceState(null, '', '/#code=new')
    dispatchEvent(new Event('hashchange'))
    await pass()
    expect(kinds(seen)).toEqual(['locked', 'serving'])
  })
})

describe('the stream', () => {
  test('is reopened forever after it ends, with growing waits', async () => {
    const first = stream()
    answers.push(first.answer)
    const seen = watch()
    await pass()
    for (let failed = 0; failed < 20; failed++) answers.push(new Error('refused'))
    first.end()
    await pass()
    expect(kinds(seen)).toEqual(['serving', 'lost'])
    const counts = []
    for (const wait of [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]) {
      await pass(wait - 1)
      const before = asked().length
      await pass(1)
      counts.push(asked().length - before)
    }
    expect(counts).toEqual([1, 1, 1, 1, 1, 1, 1])
    answers.splice(0, answers.length, stream().answer)
    await pass(5_000)
    expect(seen.at(-1)?.kind).toBe('serving')
  })

  test('is reopened without an error if it falls silent', async () => {
    answers.push(stream().answer, stream().answer)
    const seen = watch()
    await pass(45_000)
    expect(kinds(seen)).toEqual(['serving', 'serving'])
  })

  test('that never starts means that the gateway is lost', async () => {
    const seen = watch()
    await pass(10_000)
    expect(kinds(seen)).toEqual(['lost'])
  })

  test('closes when nothing watches it', async () => {
    answers.push(stream().answer)
    const seen = watch()
    await pass()
    stop()
    await pass(120_000)
    expect(kinds(seen)).toEqual(['serving'])
    expect(asked()).toHaveLength(1)
  })
})

describe('a request', () => {
  const ask = (answer: Response | Error, body?: unknown) => {
    answers.push(answer)
    return new BrowserGateway().ask('POST', '/api/upstreams/a%20b/restart', body)
  }

  test('returns the answer of the gateway', async () => {
    expect(await ask(Response.json({ number: 3 }, { status: 202 }))).toEqual({ ok: true, value: { number: 3 } })
    expect(fetch.mock.calls[0]?.[1]).toMatchObject({ method: 'POST', headers: { Authorization: 'Bearer token' } })
  })

  test('may return plain text', async () => {
    const markdown = new Response('# Incidents', { headers: { 'Content-Type': 'text/markdown' } })
    expect(await ask(markdown)).toEqual({ ok: true, value: '# Incidents' })
  })

  test('sends its body as JSON', async () => {
    await ask(Response.json({}), { shown: false })
    expect(fetch.mock.calls[0]?.[1]?.body).toBe('{"shown":false}')
    expect(fetch.mock.calls[0]?.[1]?.headers).toMatchObject({ 'Content-Type': 'application/json' })
  })

  test('that is refused returns the failure', async () => {
    const refusal = Response.json({ error: failure('not_found') }, { status: 404 })
    expect(await ask(refusal)).toEqual({ ok: false, failure: failure('not_found') })
  })

  test('always fails with a text', async () => {
    expect(await ask(new Response('<html>', { status: 500 }))).toMatchObject({ ok: false, failure: { code: 'internal' } })
    expect(await ask(new Error('refused'))).toEqual({ ok: false, failure: gatewayGone })
  })
})

test('a broken stream is reopened until it is stopped', async () => {
  const received: string[] = []
  const first = stream()
  answers.push(first.answer, stream().answer)
  const quiet = new BrowserGateway().follow('/api/events?calls=1', ({ event }) => received.push(event))
  await pass()
  first.end()
  await pass(1_000)
  expect(received).toEqual(['status', 'status'])
  quiet()
  await pass(60_000)
  expect(asked()).toHaveLength(2)
})

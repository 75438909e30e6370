import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { FakeGateway, NOON, connected, failure, status, upstream } from '../test_data'
import { Store } from './store.svelte'

beforeEach(() => void vi.useFakeTimers({ now: NOON }))
afterEach(() => {
  vi.useRealTimers()
  sessionStorage.clear()
})

function started() {
  const gateway = new FakeGateway()
  const store = new Store(gateway)
  const stop = store.start()
  gateway.tell({ kind: 'serving', status: status(upstream('A', connected())) })
  return { gateway, store, stop }
}

test('the clock ticks while watching, and only then', () => {
  const { gateway, store, stop } = started()
  vi.advanceTimersByTime(2_000)
  expect(store.board.now).toBe(NOON + 2_000)
  stop()
  vi.advanceTimersByTime(2_000)
  expect(store.board.now).toBe(NOON + 2_000)
  expect(gateway.watched).toBe(false)
})

test('a restart is requested once, even after several clicks', async () => {
  const { gateway, store } = started()
  await Promise.all([store.act('a'), store.act('a')])
  expect(gateway.orders).toEqual(['POST /api/upstreams/a/restart'])
})

test('a refused restart shows why', async () => {
  const { gateway, store } = started()
  gateway.refusal = failure('forbidden')
  await store.act('a')
  expect(store.board.refused.a?.failure.code).toBe('forbidden')
  expect(store.board.requested).toEqual({})
})

test('a paused upstream is resumed, not restarted', async () => {
  const { gateway, store } = started()
  const paused = upstream('A', { state: 'paused', since: NOON })
  gateway.tell({ kind: 'serving', status: status(paused) })
  await store.act('a')
  expect(gateway.orders).toEqual(['POST /api/upstreams/a/resume'])
})

test('a reloaded page shows the last state at once, marked as old', () => {
  const { store } = started()
  const again = new Store(new FakeGateway())
  expect(again.board.status).toEqual(store.board.status)
  expect(again.live).toBe(false)
})

test('a locked page shows nothing from before', () => {
  const { gateway } = started()
  gateway.tell({ kind: 'locked', stale: false })
  expect(new Store(new FakeGateway()).board.status).toBeUndefined()
})

test('each return of a gateway is counted', () => {
  const { gateway, store } = started()
  expect(store.arrivals).toBe(1)
  gateway.tell({ kind: 'serving', status: status() })
  expect(store.arrivals).toBe(1)
  gateway.tell({ kind: 'lost', failure: failure() })
  gateway.tell({ kind: 'serving', status: status() })
  expect(store.arrivals).toBe(2)
})

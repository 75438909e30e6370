import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { FakeGateway, NOON, connected, failure, status, upstream } from './samples'
import { Store } from './store.svelte'

beforeEach(() => void vi.useFakeTimers({ now: NOON }))
afterEach(() => void vi.useRealTimers())

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

test('a restart is asked for once, however often it is clicked', async () => {
  const { gateway, store } = started()
  await Promise.all([store.act('a'), store.act('a')])
  expect(gateway.restarted).toEqual(['a'])
})

test('a refused restart says why', async () => {
  const { gateway, store } = started()
  gateway.refusal = failure('forbidden')
  await store.act('a')
  expect(store.board.refused.a?.failure.code).toBe('forbidden')
  expect(store.board.asked).toEqual({})
})

test('a paused upstream is resumed, not restarted', async () => {
  const { gateway, store } = started()
  const paused = upstream('A', { state: 'paused', since: NOON })
  gateway.tell({ kind: 'serving', status: status(paused) })
  await store.act('a')
  expect([gateway.resumed, gateway.restarted]).toEqual([['a'], []])
})

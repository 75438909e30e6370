import { describe, expect, test } from 'vitest'

import { type Board, type BoardEvent, REQUEST_SHOWN, emptyBoard, next } from './status'
import { NOON, connected, down, editor, failure, status, upstream } from '../test_data'
import type { UpstreamState } from '../types'

const after = (events: BoardEvent[], now = NOON, board: Board = emptyBoard(NOON)) =>
  events.reduce((before, event) => next(before, event, now), board)

const serving = (link: UpstreamState): BoardEvent => ({
  kind: 'observed',
  presence: { kind: 'serving', status: status(upstream('PiecesOS', link)) },
})
const lost: BoardEvent = { kind: 'observed', presence: { kind: 'lost', failure: failure('connection_lost') } }
const ask: BoardEvent = { kind: 'requested', name: 'piecesos' }

test('the last state stays when the gateway is lost', () => {
  const board = after([serving(connected()), lost])
  expect(board.presence.kind).toBe('lost')
  expect(board.status?.upstreams).toHaveLength(1)
})

test('the gateway is lost since the first of several failures', () => {
  const first = after([serving(connected()), lost], NOON)
  expect(after([lost], NOON + 5_000, first).presence).toMatchObject({ since: NOON })
})

test('a locked page keeps no state', () => {
  const locked: BoardEvent = { kind: 'observed', presence: { kind: 'locked', stale: false } }
  expect(after([serving(connected()), locked]).status).toBeUndefined()
})

describe('a requested restart', () => {
  const pending = (...events: BoardEvent[]) => Object.keys(after(events).requested)

  test('is finished after a new connection', () => {
    expect(pending(serving(connected()), ask, serving(connected()))).toEqual(['piecesos'])
    expect(pending(serving(connected()), ask, serving({ state: 'connecting' }))).toEqual(['piecesos'])
    expect(pending(serving(connected()), ask, serving(connected(NOON + 1)))).toEqual([])
    expect(pending(serving(down()), ask, serving(connected()))).toEqual([])
  })

  test('is finished after another failed attempt', () => {
    expect(pending(serving(down(3)), ask, serving(down(3)))).toEqual(['piecesos'])
    expect(pending(serving(down(3)), ask, serving(down(4)))).toEqual([])
    expect(pending(serving(down(3)), ask, serving(down(1)))).toEqual([])
  })

  test('is not finished by the stop that is part of it', () => {
    expect(pending(serving(connected()), ask, serving(down(0)))).toEqual(['piecesos'])
  })

  test('expires', () => {
    const board = after([serving(connected()), ask])
    expect(after([{ kind: 'ticked' }], NOON + REQUEST_SHOWN - 1, board).requested).toHaveProperty('piecesos')
    expect(after([{ kind: 'ticked' }], NOON + REQUEST_SHOWN, board).requested).toEqual({})
  })

  test('ends when its gateway or its upstream is gone', () => {
    expect(pending(serving(down()), ask, lost)).toEqual([])
    const none: BoardEvent = { kind: 'observed', presence: { kind: 'serving', status: status() } }
    expect(pending(serving(down()), ask, none)).toEqual([])
  })

  test('is replaced by its refusal, which expires too', () => {
    const refused: BoardEvent = { kind: 'refused', name: 'piecesos', failure: failure('not_found') }
    const board = after([serving(down()), ask, refused])
    expect(board.requested).toEqual({})
    expect(board.refused).toHaveProperty('piecesos')
    expect(after([ask], NOON, board).refused).toEqual({})
    expect(after([{ kind: 'ticked' }], NOON + REQUEST_SHOWN, board).refused).toEqual({})
  })

  test('of an unknown upstream changes nothing', () => {
    const board = after([serving(down())])
    expect(after([{ kind: 'requested', name: 'nobody' }], NOON, board)).toBe(board)
  })
})

test('a revocation ends when the editor or the gateway is gone, or when its refusal expires', () => {
  const has = (...names: string[]): BoardEvent => ({
    kind: 'observed',
    presence: { kind: 'serving', status: { ...status(), editors: names.map((name) => editor(name)) } },
  })
  const revocation: BoardEvent = { kind: 'revoking', name: 'cursor' }
  const board = after([has('cursor', 'zed'), revocation])
  expect(after([has('cursor', 'zed')], NOON, board).revoking).toHaveProperty('cursor')
  expect(after([has('zed')], NOON, board).revoking).toEqual({})
  expect(after([lost], NOON, board).revoking).toEqual({})
  expect(after([{ kind: 'ticked' }], NOON + REQUEST_SHOWN, board).revoking).toEqual({})
  const kept: BoardEvent = { kind: 'kept', name: 'cursor', failure: failure('internal') }
  expect(after([kept], NOON, board).revoking.cursor?.failure?.code).toBe('internal')
})

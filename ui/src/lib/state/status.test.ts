import { describe, expect, test } from 'vitest'

import { type Board, type BoardEvent, PATIENCE, emptyBoard, next } from './status'
import { NOON, connected, down, editor, failure, status, upstream } from '../test_data'
import type { UpstreamState } from '../types'

const after = (events: BoardEvent[], now = NOON, board: Board = emptyBoard(NOON)) =>
  events.reduce((before, event) => next(before, event, now), board)

const serving = (link: UpstreamState): BoardEvent => ({
  kind: 'told',
  presence: { kind: 'serving', status: status(upstream('PiecesOS', link)) },
})
const lost: BoardEvent = { kind: 'told', presence: { kind: 'lost', failure: failure('connection_lost') } }
const ask: BoardEvent = { kind: 'asked', name: 'piecesos' }

test('the last state outlives its gateway', () => {
  const board = after([serving(connected()), lost])
  expect(board.presence.kind).toBe('lost')
  expect(board.status?.upstreams).toHaveLength(1)
})

test('a gateway is away since the first failure, however many follow', () => {
  const first = after([serving(connected()), lost], NOON)
  expect(after([lost], NOON + 5_000, first).presence).toMatchObject({ since: NOON })
})

test('without a token nothing of the state is kept', () => {
  const locked: BoardEvent = { kind: 'told', presence: { kind: 'locked', stale: false } }
  expect(after([serving(connected()), locked]).status).toBeUndefined()
})

describe('a restart that was asked for', () => {
  const pending = (...events: BoardEvent[]) => Object.keys(after(events).asked)

  test('is done when there is a new connection', () => {
    expect(pending(serving(connected()), ask, serving(connected()))).toEqual(['piecesos'])
    expect(pending(serving(connected()), ask, serving({ state: 'connecting' }))).toEqual(['piecesos'])
    expect(pending(serving(connected()), ask, serving(connected(NOON + 1)))).toEqual([])
    expect(pending(serving(down()), ask, serving(connected()))).toEqual([])
  })

  test('is done when one more attempt has failed', () => {
    expect(pending(serving(down(3)), ask, serving(down(3)))).toEqual(['piecesos'])
    expect(pending(serving(down(3)), ask, serving(down(4)))).toEqual([])
    expect(pending(serving(down(3)), ask, serving(down(1)))).toEqual([])
  })

  test('is not done by the stop that is part of it', () => {
    expect(pending(serving(connected()), ask, serving(down(0)))).toEqual(['piecesos'])
  })

  test('is waited for only so long', () => {
    const board = after([serving(connected()), ask])
    expect(after([{ kind: 'ticked' }], NOON + PATIENCE - 1, board).asked).toHaveProperty('piecesos')
    expect(after([{ kind: 'ticked' }], NOON + PATIENCE, board).asked).toEqual({})
  })

  test('ends with its gateway, and with its upstream', () => {
    expect(pending(serving(down()), ask, lost)).toEqual([])
    const none: BoardEvent = { kind: 'told', presence: { kind: 'serving', status: status() } }
    expect(pending(serving(down()), ask, none)).toEqual([])
  })

  test('gives way to its refusal, which is forgotten in turn', () => {
    const refused: BoardEvent = { kind: 'refused', name: 'piecesos', failure: failure('not_found') }
    const board = after([serving(down()), ask, refused])
    expect(board.asked).toEqual({})
    expect(board.refused).toHaveProperty('piecesos')
    expect(after([ask], NOON, board).refused).toEqual({})
    expect(after([{ kind: 'ticked' }], NOON + PATIENCE, board).refused).toEqual({})
  })

  test('of an unknown upstream changes nothing', () => {
    const board = after([serving(down())])
    expect(after([{ kind: 'asked', name: 'nobody' }], NOON, board)).toBe(board)
  })
})

test('a wish to turn an editor away lasts until it is gone, refused for too long, or the gateway is away', () => {
  const has = (...names: string[]): BoardEvent => ({
    kind: 'told',
    presence: { kind: 'serving', status: { ...status(), editors: names.map((name) => editor(name)) } },
  })
  const wish: BoardEvent = { kind: 'revoking', name: 'cursor' }
  const board = after([has('cursor', 'zed'), wish])
  expect(after([has('cursor', 'zed')], NOON, board).leaving).toHaveProperty('cursor')
  expect(after([has('zed')], NOON, board).leaving).toEqual({})
  expect(after([lost], NOON, board).leaving).toEqual({})
  expect(after([{ kind: 'ticked' }], NOON + PATIENCE, board).leaving).toEqual({})
  const kept: BoardEvent = { kind: 'kept', name: 'cursor', failure: failure('internal') }
  expect(after([kept], NOON, board).leaving.cursor?.failure?.code).toBe('internal')
})

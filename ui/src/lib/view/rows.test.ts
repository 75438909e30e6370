import { expect, test } from 'vitest'

import { type Board, emptyBoard, next } from '../state/status'
import { editorsOf } from './editor_row'
import { ageOf, headlineOf } from './headline'
import { helpOf, rowsOf } from './upstream_row'
import { NOON, app, connected, down, editor, failure, status, upstream } from '../test_data'
import type { AppStatus, Code, UpstreamStatus } from '../types'

const serving = (...upstreams: UpstreamStatus[]) =>
  next(emptyBoard(NOON), { kind: 'observed', presence: { kind: 'serving', status: status(...upstreams) } }, NOON)

const lose = (board: Board, code: Code = 'connection_lost') =>
  next(board, { kind: 'observed', presence: { kind: 'lost', failure: failure(code) } }, NOON)

const later = (board: Board, milliseconds: number) => next(board, { kind: 'ticked' }, NOON + milliseconds)

test('the headline shows the sentence of the gateway', () => {
  expect(headlineOf(serving(upstream('A')))).toEqual({
    shape: 'healthy',
    sentence: 'Everything is connected',
    detail: '12 tools from 1 server',
  })
})

test('a gateway is shown as restarting at first, then as not responding', () => {
  const board = lose(serving(upstream('A')))
  expect(headlineOf(board)).toMatchObject({ shape: 'busy', sentence: 'Evermoor is restarting…' })
  expect(headlineOf(later(board, 9_999)).shape).toBe('busy')
  expect(headlineOf(later(board, 10_000))).toMatchObject({
    shape: 'down',
    sentence: 'Evermoor is not responding',
    detail: 'Start PiecesOS.',
  })
})

test('a failure that a restart cannot cause is shown at once', () => {
  const { shape, sentence, detail } = headlineOf(lose(serving(), 'port_taken'))
  expect([shape, sentence, detail]).toEqual(['down', failure().what, failure().remedy])
})

test('the age of a state counts from the loss of its gateway', () => {
  const board = serving(upstream('A'))
  expect(ageOf(later(board, 60_000))).toBeUndefined()
  expect(ageOf(later(lose(board), 3_000))).toBe(3_000)
  expect(ageOf(lose(emptyBoard(NOON)))).toBeUndefined()
})

test('a connected upstream shows for how long', () => {
  const [row] = rowsOf(later(serving(upstream('A', connected())), 3 * 3_600_000))
  expect(row).toMatchObject({ shape: 'healthy', word: 'Connected', timing: 'for 3 h', detail: '' })
})

test('a paused upstream shows for how long, and can be resumed, but is not urgent', () => {
  const board = serving(upstream('A', { state: 'paused', since: NOON - 60_000 }))
  const wanted = { shape: 'paused', word: 'Paused', timing: 'for 1 min', action: 'Resume' }
  expect(rowsOf(board)[0]).toMatchObject({ ...wanted, urgent: false, ready: true })
  const requested = next(board, { kind: 'requested', name: 'a' }, NOON)
  expect(rowsOf(requested)[0]).toMatchObject({ word: 'Connecting', ready: false })
})

test('an upstream that is down shows a countdown and what to do', () => {
  const board = serving(upstream('A', down()))
  const timing = (milliseconds: number) => rowsOf(later(board, milliseconds))[0]?.timing
  expect(rowsOf(board)[0]).toMatchObject({
    shape: 'down',
    word: 'Not running',
    detail: 'Connection refused at localhost:39300. Start PiecesOS.',
  })
  expect([0, 1, 3_999, 4_000].map(timing)).toEqual([
    '· retrying in 4 s',
    '· retrying in 4 s',
    '· retrying in 1 s',
    '· retrying now',
  ])
})

test('an old state has no running times and no actions', () => {
  const rows = rowsOf(lose(serving(upstream('A'), upstream('B', down()))))
  expect(rows.map(({ timing, ready }) => [timing, ready])).toEqual([
    ['', false],
    ['', false],
  ])
})

test('a command is restarted, and an address is reconnected', () => {
  const command = { ...upstream('Files'), target: 'npx -y server-files' }
  expect(rowsOf(serving(command, upstream('A'))).map(({ action }) => action)).toEqual(['Restart', 'Reconnect'])
})

test('an application shows what the user can do, and its memory', () => {
  const detail = (more: Partial<AppStatus> = {}) =>
    rowsOf(serving({ ...upstream('PiecesOS'), app: app(more) }))[0]?.detail
  expect(detail()).toBe('Memory: 812 MB, steady.')
  expect(detail({ next: 'open', what: 'PiecesOS is signed out.', remedy: 'Sign in.' })).toBe(
    'PiecesOS is signed out. Sign in. Memory: 812 MB, steady.',
  )
})

test('a restart in progress shows its latest step and cannot be requested again', () => {
  const step = { at: NOON, what: 'Asking PiecesOS to quit.' }
  const restart = { number: 1, began: NOON, steps: [step], end: null }
  const row = (more: Partial<AppStatus>) => rowsOf(serving({ ...upstream('PiecesOS', down()), app: app(more) }))[0]
  expect(row({ restart })).toMatchObject({ word: 'Restarting', detail: step.what, shape: 'busy', ready: false })
  expect(row({ restart: { ...restart, end: { at: NOON, failure: null } } })).toMatchObject({ shape: 'down', ready: true })
})

test('a refusal is shown in the row', () => {
  const refused = { kind: 'refused', name: 'a', failure: failure('not_found') } as const
  expect(rowsOf(next(serving(upstream('A')), refused, NOON))[0]?.detail).toBe(
    'Connection refused at localhost:39300. Start PiecesOS.',
  )
})

test('an upstream that is off is not counted and has no action', () => {
  const board = serving(upstream('A'), upstream('B', { state: 'off' }))
  expect(headlineOf(board).detail).toBe('12 tools from 1 server')
  expect(rowsOf(board)[1]).toMatchObject({ shape: 'paused', word: 'Off', tools: '', action: '', urgent: false })
  expect(headlineOf(serving(upstream('B', { state: 'off' }))).detail).toBe('The gateway is running.')
})

test('hidden tools are counted separately', () => {
  const board = serving({ ...upstream('A'), tools: 30, hidden: 18 }, upstream('B'))
  expect(rowsOf(board).map(({ tools }) => tools)).toEqual(['12 of 30 tools shown', '12 tools'])
  expect(headlineOf(board).detail).toBe('24 tools from 2 servers')
})

test('an editor shows how much it sees', () => {
  const sees = (tools: number, prompts: number, resources: number) => {
    const state = { ...status(), editors: [editor('zed', { shown: { tools, prompts, resources } })] }
    return editorsOf(next(emptyBoard(NOON), { kind: 'observed', presence: { kind: 'serving', status: state } }, NOON))[0]?.sees
  }
  expect(sees(34, 0, 0)).toBe('Sees 34 tools')
  expect(sees(1, 2, 1)).toBe('Sees 1 tool, 2 prompts, 1 resource')
})

test('a gateway that the user stopped is not called lost', () => {
  const board = next(serving(upstream('A')), { kind: 'observed', presence: { kind: 'stopped' } }, NOON)
  expect(headlineOf(later(board, 60_000))).toMatchObject({ shape: 'paused', sentence: 'Evermoor is stopped' })
})

test('the headline has an action only if exactly one is urgent', () => {
  expect(helpOf(serving(upstream('A'), upstream('B', down())))?.name).toBe('b')
  expect(helpOf(serving(upstream('A', down()), upstream('B', down())))).toBeUndefined()
  expect(helpOf(serving(upstream('A')))).toBeUndefined()
  expect(helpOf(lose(serving(upstream('A', down()))))).toBeUndefined()
})

import { describe, expect, test } from 'vitest'

import { choicesOf, everything, joined, matches, wentWrong } from './calls'
import { linesOf } from './diff'
import { bytes, milliseconds, moment, percent } from './format'
import { hintsOf } from './hints'
import { patternsOf, textOf } from './patterns'
import { NOON, failure } from '../test_data'
import { piecesOf, uptimeOf } from './timeline'
import { outcomeOf } from './tool_result'
import type { RecentCall, Incident, ToolListing } from '../types'

const call = (number: number, more: Partial<RecentCall> = {}): RecentCall => ({
  number,
  at: NOON + number,
  editor: 'cursor',
  client: null,
  upstream: 'notes',
  tool: 'search',
  outcome: 'ok',
  ms: 12,
  heldMs: 0,
  ...more,
})

describe('calls', () => {
  test('are joined newest first, and none is there twice', () => {
    expect(joined([call(3), call(1)], [call(2), call(1)]).map(({ number }) => number)).toEqual([3, 2, 1])
  })

  test('of another gateway with the same number are other calls', () => {
    expect(joined([call(1)], [call(1, { at: NOON - 5 })])).toHaveLength(2)
  })

  test('are filtered by whom, to what and how', () => {
    expect(matches(call(1), everything)).toBe(true)
    expect(matches(call(1), { ...everything, editor: 'zed' })).toBe(false)
    expect(matches(call(1), { upstream: 'notes', editor: 'cursor', outcome: 'ok' })).toBe(true)
  })

  test('that were cancelled did not go wrong', () => {
    expect([call(1), call(2, { outcome: 'cancelled' }), call(3, { outcome: 'unknown' })].map(wentWrong)).toEqual([false, false, true])
  })

  test('leave what was chosen among the choices', () => {
    expect(choicesOf(['b', 'a', 'b'], 'gone')).toEqual(['a', 'b', 'gone'])
  })
})

test('a diff is shown without the names of its files', () => {
  const diff = '--- a\n+++ b\n@@ -1,2 +1,3 @@\n {\n+  "x": 1,\n-  "y"\n }\n'
  expect(linesOf(diff)).toEqual([
    { kind: 'place', text: '@@ -1,2 +1,3 @@' },
    { kind: 'same', text: '{' },
    { kind: 'added', text: '  "x": 1,' },
    { kind: 'removed', text: '  "y"' },
    { kind: 'same', text: '}' },
  ])
})

test('patterns are written one per line, and none is nothing', () => {
  expect(patternsOf(' a_* \n\nb\n')).toEqual(['a_*', 'b'])
  expect(patternsOf(' \n')).toBeNull()
  expect([textOf(null), textOf(['a', 'b'])]).toEqual(['', 'a\nb'])
})

describe('a line of time', () => {
  const incident = (began: number, end: number | null) =>
    ({ began, end: end === null ? null : { at: end, how: 'answered' }, sign: failure(), cause: null }) as Incident

  test('begins and ends with what is shown, and knows the cause of what was wrong', () => {
    const spans = [
      { from: 0, to: 150, state: 'connected' as const },
      { from: 150, to: 160, state: 'down' as const },
      { from: 160, to: null, state: 'connected' as const },
    ]
    const pieces = piecesOf(spans, [incident(149, 160)], 100, 200)
    expect(pieces.map(({ left, width, tone }) => [left, width, tone])).toEqual([
      [0, 0.5, 'good'],
      [0.5, 0.1, 'bad'],
      [0.6, 0.4, 'good'],
    ])
    expect(pieces[1]?.cause).toBe(failure().what)
    expect(uptimeOf(pieces)).toBe(0.9)
  })

  test('draws what is very short, within the line', () => {
    const [piece] = piecesOf([{ from: 199.99, to: 200, state: 'down' }], [], 100, 200)
    expect(piece && piece.width >= 0.004 && piece.left + piece.width <= 1).toBe(true)
  })

  test('counts only the time that is known', () => {
    const spans = [
      { from: 0, to: 50, state: 'unwatched' as const },
      { from: 50, to: null, state: 'connected' as const },
    ]
    expect(uptimeOf(piecesOf(spans, [], 0, 100))).toBe(1)
    expect(uptimeOf([])).toBeUndefined()
  })
})

test('what came of trying a tool is read from any answer', () => {
  expect(outcomeOf({ ms: 5, result: { content: [{ type: 'text', text: 'yes' }] } })).toEqual({ good: true, sentence: 'Answered in 5 ms', text: 'yes' })
  expect(outcomeOf({ ms: 5, result: { isError: true, content: [] } }).good).toBe(false)
  expect(outcomeOf({ ms: 5, result: { structuredContent: { a: 1 } } }).text).toContain('"a": 1')
  expect(outcomeOf({ ms: 5, error: { code: -32602, message: 'No.' } })).toMatchObject({ good: false, text: 'No.' })
  expect(outcomeOf({ ms: 5, error: 'odd' }).text).toBe('"odd"')
})

test('a tool that only reads changes nothing, whatever else it says', () => {
  const tool = (annotations: unknown) => hintsOf({ annotations } as ToolListing)
  expect(tool({ readOnlyHint: true, destructiveHint: true })).toEqual({ readOnly: true, destructive: false })
  expect(tool({ destructiveHint: true }).destructive).toBe(true)
  expect(tool(null)).toEqual({ readOnly: false, destructive: false })
})

test('amounts are read at a glance', () => {
  expect([0, 0.42, 12.4, 1_340, 125_000].map(milliseconds)).toEqual(['0 ms', '0.4 ms', '12 ms', '1.3 s', '2 min'])
  expect([812e6, 2_610e6].map(bytes)).toEqual(['812 MB', '2.6 GB'])
  expect([1, 0.9999, 0.5].map(percent)).toEqual(['100 %', '99.9 %', '50.0 %'])
})

test('a moment of another day has its date', () => {
  expect(moment(NOON, NOON)).toMatch(/^\d\d:\d\d$/)
  expect(moment(NOON - 3 * 86_400_000, NOON)).toMatch(/^29 May, \d\d:\d\d$/)
  expect(moment(NOON - 366 * 86_400_000, NOON)).toContain('2025')
})

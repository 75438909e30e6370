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
  test('are merged newest first, without duplicates', () => {
    expect(joined([call(3), call(1)], [call(2), call(1)]).map(({ number }) => number)).toEqual([3, 2, 1])
  })

  test('with the same number from different gateway runs are different', () => {
    expect(joined([call(1)], [call(1, { at: NOON - 5 })])).toHaveLength(2)
  })

  test('are filtered by editor, upstream and outcome', () => {
    expect(matches(call(1), everything)).toBe(true)
    expect(matches(call(1), { ...everything, editor: 'zed' })).toBe(false)
    expect(matches(call(1), { upstream: 'notes', editor: 'cursor', outcome: 'ok' })).toBe(true)
  })

  test('that were cancelled do not count as failed', () => {
    expect([call(1), call(2, { outcome: 'cancelled' }), call(3, { outcome: 'unknown' })].map(wentWrong)).toEqual([false, false, true])
  })

  test('keep the chosen option in the list', () => {
    expect(choicesOf(['b', 'a', 'b'], 'gone')).toEqual(['a', 'b', 'gone'])
  })
})

test('a diff is shown without file names', () => {
  const diff = '--- a\n+++ b\n@@ -1,2 +1,3 @@\n {\n+  "x": 1,\n-  "y"\n }\n'
  expect(linesOf(diff)).toEqual([
    { kind: 'hunk', text: '@@ -1,2 +1,3 @@' },
    { kind: 'same', text: '{' },
    { kind: 'added', text: '  "x": 1,' },
    { kind: 'removed', text: '  "y"' },
    { kind: 'same', text: '}' },
  ])
})

test('patterns are written one per line, and no pattern is null', () => {
  expect(patternsOf(' a_* \n\nb\n')).toEqual(['a_*', 'b'])
  expect(patternsOf(' \n')).toBeNull()
  expect([textOf(null), textOf(['a', 'b'])]).toEqual(['', 'a\nb'])
})

describe('a timeline', () => {
  const incident = (began: number, end: number | null) =>
    ({ began, end: end === null ? null : { at: end, how: 'answered' }, sign: failure(), cause: null }) as Incident

  test('is cut to the shown period, and has the cause of each outage', () => {
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

  test('draws very short outages inside the line', () => {
    const [piece] = piecesOf([{ from: 199.99, to: 200, state: 'down' }], [], 100, 200)
    expect(piece && piece.width >= 0.004 && piece.left + piece.width <= 1).toBe(true)
  })

  test('counts only the known time', () => {
    const spans = [
      { from: 0, to: 50, state: 'unwatched' as const },
      { from: 50, to: null, state: 'connected' as const },
    ]
    expect(uptimeOf(piecesOf(spans, [], 0, 100))).toBe(1)
    expect(uptimeOf([])).toBeUndefined()
  })
})

test('the result of a trial call is read from any answer', () => {
  expect(outcomeOf({ ms: 5, result: { content: [{ type: 'text', text: 'yes' }] } })).toEqual({ good: true, sentence: 'Answered in 5 ms', text: 'yes' })
  expect(outcomeOf({ ms: 5, result: { isError: true, content: [] } }).good).toBe(false)
  expect(outcomeOf({ ms: 5, result: { structuredContent: { a: 1 } } }).text).toContain('"a": 1')
  expect(outcomeOf({ ms: 5, error: { code: -32602, message: 'No.' } })).toMatchObject({ good: false, text: 'No.' })
  expect(outcomeOf({ ms: 5, error: 'odd' }).text).toBe('"odd"')
})

test('a read-only tool is not destructive, even if it claims both', () => {
  const tool = (annotations: unknown) => hintsOf({ annotations } as ToolListing)
  expect(tool({ readOnlyHint: true, destructiveHint: true })).toEqual({ readOnly: true, destructive: false })
  expect(tool({ destructiveHint: true }).destructive).toBe(true)
  expect(tool(null)).toEqual({ readOnly: false, destructive: false })
})

test('amounts have readable units', () => {
  expect([0, 0.42, 12.4, 1_340, 125_000].map(milliseconds)).toEqual(['0 ms', '0.4 ms', '12 ms', '1.3 s', '2 min'])
  expect([812e6, 2_610e6].map(bytes)).toEqual(['812 MB', '2.6 GB'])
  expect([1, 0.9999, 0.5].map(percent)).toEqual(['100 %', '99.9 %', '50.0 %'])
})

test('a time on another day has its date', () => {
  expect(moment(NOON, NOON)).toMatch(/^\d\d:\d\d$/)
  expect(moment(NOON - 3 * 86_400_000, NOON)).toMatch(/^29 May, \d\d:\d\d$/)
  expect(moment(NOON - 366 * 86_400_000, NOON)).toContain('2025')
})

import { expect, test } from 'vitest'

import { count, countdown, duration, listed, tickLabels } from './format'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

test('a duration is shown in its largest unit and never rounded up', () => {
  expect(duration(0)).toBe('0 s')
  expect(duration(59_999)).toBe('59 s')
  expect(duration(MINUTE)).toBe('1 min')
  expect(duration(HOUR - 1)).toBe('59 min')
  expect(duration(3.9 * HOUR)).toBe('3 h')
  expect(duration(47 * HOUR)).toBe('47 h')
  expect(duration(48 * HOUR)).toBe('2 days')
})

test('a clock that is behind gives no negative duration', () => {
  expect(duration(-5_000)).toBe('0 s')
})

test('a countdown ends at one, then disappears', () => {
  expect(countdown(3_001)).toBe('4 s')
  expect(countdown(1)).toBe('1 s')
  expect(countdown(0)).toBeUndefined()
  expect(countdown(-1)).toBeUndefined()
})

test('a long wait is counted in minutes', () => {
  expect(countdown(MINUTE)).toBe('60 s')
  expect(countdown(MINUTE + 1)).toBe('2 min')
})

test('one is singular', () => {
  expect([count(0, 'tool'), count(1, 'tool'), count(2, 'tool')]).toEqual(['0 tools', '1 tool', '2 tools'])
})

test('no two ticks of an axis have the same label', () => {
  const noon = Date.UTC(2026, 5, 1, 12)
  const close = tickLabels([noon, noon + 10_000, noon + 20_000])
  expect(new Set(close).size).toBe(3)
  expect(close[1]).toMatch(/:10$/)
  expect(tickLabels([noon, noon + 100, noon + 200]).filter(Boolean)).toHaveLength(1)
  expect(tickLabels([noon, noon + HOUR])[0]).toMatch(/^\d\d:\d\d$/)
})

test('names are joined as in a sentence', () => {
  expect(listed([])).toBe('')
  expect(listed(['a'])).toBe('a')
  expect(listed(['a', 'b', 'c'])).toBe('a, b and c')
})

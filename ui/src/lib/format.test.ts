import { expect, test } from 'vitest'

import { count, countdown, duration } from './format'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

test('a duration is told in its largest unit and never rounded up', () => {
  expect(duration(0)).toBe('0 s')
  expect(duration(59_999)).toBe('59 s')
  expect(duration(MINUTE)).toBe('1 min')
  expect(duration(HOUR - 1)).toBe('59 min')
  expect(duration(3.9 * HOUR)).toBe('3 h')
  expect(duration(47 * HOUR)).toBe('47 h')
  expect(duration(48 * HOUR)).toBe('2 days')
})

test('a clock that is behind makes no negative duration', () => {
  expect(duration(-5_000)).toBe('0 s')
})

test('a countdown ends at one and then says nothing', () => {
  expect(countdown(3_001)).toBe('4 s')
  expect(countdown(1)).toBe('1 s')
  expect(countdown(0)).toBeUndefined()
  expect(countdown(-1)).toBeUndefined()
})

test('a long wait is counted in minutes', () => {
  expect(countdown(MINUTE)).toBe('60 s')
  expect(countdown(MINUTE + 1)).toBe('2 min')
})

test('one of a thing is not many', () => {
  expect([count(0, 'tool'), count(1, 'tool'), count(2, 'tool')]).toEqual(['0 tools', '1 tool', '2 tools'])
})

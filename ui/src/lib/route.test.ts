import { expect, test } from 'vitest'

import { hrefOf, placeOf, upstreamHref } from './route'

test.each([
  ['', 'overview', ''],
  ['#/', 'overview', ''],
  ['#/nowhere', 'overview', ''],
  ['#code=once', 'overview', ''],
  ['#/upstreams', 'overview', ''],
  ['#/doctor', 'doctor', ''],
  ['#/upstreams/pieces?restart', 'upstream', 'pieces'],
  ['#/upstreams/a%2Fb', 'upstream', 'a/b'],
  ['#/upstreams/100%', 'upstream', '100%'],
])('%s leads to %s %s', (hash, page, name) => {
  expect(placeOf(hash)).toMatchObject({ page, name })
})

test('a route can have parameters', () => {
  expect(placeOf('#/upstreams/pieces?restart').wishes.has('restart')).toBe(true)
})

test('a link leads to its route', () => {
  expect(placeOf(hrefOf('editors')).page).toBe('editors')
  expect(placeOf(hrefOf('overview')).page).toBe('overview')
  expect(placeOf(upstreamHref('a b/c')).name).toBe('a b/c')
})

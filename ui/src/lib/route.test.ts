import { expect, test } from 'vitest'

import { hrefOf, routeOf, upstreamHref } from './route'

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
  expect(routeOf(hash)).toMatchObject({ page, name })
})

test('a route can have parameters', () => {
  expect(routeOf('#/upstreams/pieces?restart').params.has('restart')).toBe(true)
})

test('a link leads to its route', () => {
  expect(routeOf(hrefOf('editors')).page).toBe('editors')
  expect(routeOf(hrefOf('overview')).page).toBe('overview')
  expect(routeOf(upstreamHref('a b/c')).name).toBe('a b/c')
})

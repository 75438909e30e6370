// The last 24 hours of an upstream, kept up to date.

import { createQuery } from './query.svelte'
import { pathOf } from '../gateway/gateway'
import type { Store } from './store.svelte'
import { DAY, type Piece, piecesOf } from '../view/timeline'
import type { Incident, Timeline } from '../types'

const HOUR = 60 * 60_000

/** Changes whenever the state of an upstream changes. */
export const stateKey = (store: Store) =>
  store.board.status?.upstreams.map(({ name, link }) => `${name} ${link.state} ${'since' in link ? link.since : ''}`).join()

/** Call it while a component is initialised. */
export function timelineOf(store: Store, name: string, incidents: () => Incident[]): () => Piece[] {
  // Rounded to the hour, so that the path stays the same and its last answer can be shown at once.
  const hour = $derived(Math.floor((store.board.now - DAY) / HOUR) * HOUR)
  const spans = createQuery<Timeline>(store, () => pathOf(['upstreams', name, 'timeline'], { since: hour }), {
    when: () => store.board.status?.upstreams.find((one) => one.name === name)?.link.state,
    every: 5 * 60_000,
  })
  const now = $derived(Math.floor(store.board.now / 60_000 + 1) * 60_000)
  const pieces = $derived(piecesOf(spans.value?.spans ?? [], incidents(), now - DAY, now))
  return () => pieces
}

// The latest log lines of an upstream, kept up to date.

import { createQuery } from './query.svelte'
import { pathOf } from '../gateway/gateway'
import type { Store } from './store.svelte'
import type { LogLine, LogLines } from '../types'

/** Limits memory on a page that stays open for days. */
export const MAX_LINES = 500

/** Call it while a component is initialised. */
export function tailOf(store: Store, upstream: string) {
  const follow = store.gateway.follow?.bind(store.gateway)
  const query = createQuery<LogLines>(
    store,
    () => pathOf(['logs'], { upstream, lines: MAX_LINES }),
    follow ? {} : { every: 1_500 },
  )
  let streamed = $state.raw<LogLine[]>([])
  $effect(() => {
    // The answer contains all lines so far. The stream adds the next ones.
    void query.value
    streamed = []
  })
  $effect(() =>
    follow?.(pathOf(['logs', 'follow'], { upstream }), ({ event, data }) => {
      if (event === 'line' || event === 'log' || event === 'message') streamed = [...streamed, JSON.parse(data) as LogLine].slice(-MAX_LINES)
    }),
  )
  return {
    query,
    get lines() {
      return [...(query.value?.lines ?? []), ...streamed].slice(-MAX_LINES)
    },
  }
}

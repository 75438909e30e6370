// The end of the log of an upstream, as it grows.

import { asking } from './query.svelte'
import { pathOf } from '../gateway/gateway'
import type { Store } from './store.svelte'
import type { LogLine, LogLines } from '../types'

/** Not to be kept longer in a page that stays open for days. */
export const LONGEST = 500

/** To be called while a component is made. */
export function tailOf(store: Store, upstream: string) {
  const follow = store.gateway.follow?.bind(store.gateway)
  const asked = asking<LogLines>(
    store,
    () => pathOf(['logs'], { upstream, lines: LONGEST }),
    follow ? {} : { every: 1_500 },
  )
  let heard = $state.raw<LogLine[]>([])
  $effect(() => {
    // What was asked for has everything up to now; from here on the stream tells.
    void asked.value
    heard = []
  })
  $effect(() =>
    follow?.(pathOf(['logs', 'follow'], { upstream }), ({ event, data }) => {
      if (event === 'line' || event === 'log' || event === 'message') heard = [...heard, JSON.parse(data) as LogLine].slice(-LONGEST)
    }),
  )
  return {
    asked,
    get lines() {
      return [...(asked.value?.lines ?? []), ...heard].slice(-LONGEST)
    },
  }
}

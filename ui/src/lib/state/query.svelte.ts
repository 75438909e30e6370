// Queries to the control API: they show the last known answer at once, and refresh it.

import type { Answer, Gateway } from '../gateway/gateway'
import type { Store } from './store.svelte'
import type { Failure } from '../types'

/** The last answers by path, in memory only, so that a page shows them at once when it is opened again. */
const memory = new WeakMap<Gateway, Map<string, unknown>>()

export class Query<T> {
  value = $state.raw<T>()
  failure = $state.raw<Failure>()
  /** Whether a request is in progress. */
  waiting = $state(false)
  readonly #gateway: Gateway
  readonly #path: () => string
  #turn = 0

  constructor(gateway: Gateway, path: () => string) {
    this.#gateway = gateway
    this.#path = path
    this.value = kept(gateway).get(path()) as T | undefined
  }

  ask = async (): Promise<void> => {
    const turn = ++this.#turn
    const path = this.#path()
    const before = kept(this.#gateway).get(path) as T | undefined
    if (before !== undefined) this.value = before
    this.waiting = true
    const answer = await this.#gateway.ask<T>('GET', path)
    // Ignore the answer if there was a later request.
    if (turn === this.#turn) this.#take(path, answer)
  }

  #take(path: string, answer: Answer<T>) {
    this.waiting = false
    this.failure = answer.ok ? undefined : answer.failure
    if (!answer.ok) return
    this.value = answer.value
    kept(this.#gateway).set(path, answer.value)
  }
}

function kept(gateway: Gateway): Map<string, unknown> {
  const found = memory.get(gateway) ?? new Map<string, unknown>()
  memory.set(gateway, found)
  return found
}

interface Options {
  /** The interval between requests in milliseconds, while the page is visible. */
  every?: number
  /** Request again whenever this value changes. */
  when?: () => unknown
}

/** Requests now, whenever the gateway is back, and as `options` say. Call it while a component is initialised. */
export function createQuery<T>(store: Store, path: () => string, options: Options = {}): Query<T> {
  const query = new Query<T>(store.gateway, path)
  $effect(() => {
    path()
    options.when?.()
    if (store.arrivals === 0) return
    void query.ask()
    if (options.every === undefined) return
    const timer = setInterval(() => document.hidden || void query.ask(), options.every)
    return () => clearInterval(timer)
  })
  return query
}

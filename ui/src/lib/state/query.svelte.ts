// Something that the gateway was asked for: shown as last heard, and asked for again.

import type { Answer, Gateway } from '../gateway/gateway'
import type { Store } from './store.svelte'
import type { Failure } from '../types'

/** What was heard last, by path: a page that is opened again shows it at once. Never written down. */
const memory = new WeakMap<Gateway, Map<string, unknown>>()

export class Asked<T> {
  value = $state.raw<T>()
  failure = $state.raw<Failure>()
  /** Whether an answer is being waited for. */
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
    // A later question has been asked since, and its answer is the one to show.
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

interface Wish {
  /** Ask again this often, in milliseconds, while the page is seen. */
  every?: number
  /** Ask again whenever this changes. */
  when?: () => unknown
}

/** Asks now, whenever the gateway is back, and as wished. To be called while a component is made. */
export function asking<T>(store: Store, path: () => string, wish: Wish = {}): Asked<T> {
  const asked = new Asked<T>(store.gateway, path)
  $effect(() => {
    path()
    wish.when?.()
    if (store.arrivals === 0) return
    void asked.ask()
    if (wish.every === undefined) return
    const timer = setInterval(() => document.hidden || void asked.ask(), wish.every)
    return () => clearInterval(timer)
  })
  return asked
}

// The one owner of what the views show. It listens to the gateway and keeps the clock.

import { type Board, type BoardEvent, emptyBoard, next } from './status'
import { type Gateway, pathOf } from '../gateway/gateway'
import * as last from '../gateway/last_state'
import type { Failure } from '../types'

export class Store {
  board = $state.raw<Board>(emptyBoard(0))
  /** Counts how often a gateway was there after none was. */
  arrivals = $state(0)
  readonly gateway: Gateway
  readonly #clock: () => number

  constructor(gateway: Gateway, clock: () => number = Date.now) {
    this.gateway = gateway
    this.#clock = clock
    this.board = emptyBoard(clock(), last.read())
  }

  /** Watches until the answer is called. */
  start(): () => void {
    const stop = this.gateway.watch((presence) => {
      if (presence.kind === 'serving' && this.board.presence.kind !== 'serving') this.arrivals++
      if (presence.kind === 'serving') last.write(presence.status)
      if (presence.kind === 'locked') last.forget()
      this.#note({ kind: 'told', presence })
    })
    const ticking = setInterval(() => this.#note({ kind: 'ticked' }), 1_000)
    return () => {
      clearInterval(ticking)
      stop()
    }
  }

  /** Whether there is a gateway to ask. */
  get live(): boolean {
    return this.board.presence.kind === 'serving'
  }

  /** Does what the row of an upstream offers: resumes it if it is paused, else restarts it. */
  act = async (name: string): Promise<void> => {
    if (name in this.board.asked) return
    const upstream = this.board.status?.upstreams.find((one) => one.name === name)
    const doing = upstream?.link.state === 'paused' ? 'resume' : 'restart'
    await this.#wish(name, doing)
  }

  reconnect = (name: string): Promise<void> => this.#wish(name, 'reconnect')

  revoke = async (name: string): Promise<void> => {
    if (this.board.leaving[name] && !this.board.leaving[name].failure) return
    this.#note({ kind: 'revoking', name })
    const failure = await this.order('DELETE', ['editors', name])
    if (failure) this.#note({ kind: 'kept', name, failure })
  }

  /** Has something done. Answers why not, or nothing. */
  order = async (
    method: 'POST' | 'PUT' | 'DELETE',
    parts: string[],
    body?: unknown,
  ): Promise<Failure | undefined> => {
    const answer = await this.gateway.ask(method, pathOf(parts), body)
    return answer.ok ? undefined : answer.failure
  }

  copy = (text: string): Promise<void> => this.gateway.copy(text)

  async #wish(name: string, doing: string) {
    if (name in this.board.asked) return
    this.#note({ kind: 'asked', name })
    const failure = await this.order('POST', ['upstreams', name, doing])
    if (failure) this.#note({ kind: 'refused', name, failure })
  }

  #note(event: BoardEvent) {
    this.board = next(this.board, event, this.#clock())
  }
}

// Owns the state that the pages show. It watches the gateway and updates the time.

import { type Board, type BoardEvent, emptyBoard, next } from './status'
import { type Gateway, pathOf } from '../gateway/gateway'
import * as last from '../gateway/last_state'
import { upstreamHref } from '../route'
import type { Failure } from '../types'

export class Store {
  board = $state.raw<Board>(emptyBoard(0))
  /** How often a gateway became available. */
  arrivals = $state(0)
  readonly gateway: Gateway
  readonly #clock: () => number

  constructor(gateway: Gateway, clock: () => number = Date.now) {
    this.gateway = gateway
    this.#clock = clock
    this.board = emptyBoard(clock(), last.read())
  }

  /** Starts to watch the gateway. Call the result to stop. */
  start(): () => void {
    const stop = this.gateway.watch((presence) => {
      if (presence.kind === 'serving' && this.board.presence.kind !== 'serving') this.arrivals++
      if (presence.kind === 'serving') last.write(presence.status)
      if (presence.kind === 'locked') last.forget()
      this.#note({ kind: 'observed', presence })
    })
    const ticking = setInterval(() => this.#note({ kind: 'ticked' }), 1_000)
    return () => {
      clearInterval(ticking)
      stop()
    }
  }

  /** Whether a gateway is running. */
  get live(): boolean {
    return this.board.presence.kind === 'serving'
  }

  /** Runs the action of an upstream's row: resumes the upstream if it is paused, otherwise restarts it. */
  act = async (name: string): Promise<void> => {
    if (name in this.board.requested) return
    const upstream = this.board.status?.upstreams.find((one) => one.name === name)
    if (upstream?.signIn?.isNeeded) {
      location.hash = upstreamHref(name)
      return
    }
    const action = upstream?.link.state === 'paused' ? 'resume' : 'restart'
    await this.#request(name, action)
  }

  reconnect = (name: string): Promise<void> => this.#request(name, 'reconnect')

  revoke = async (name: string): Promise<void> => {
    if (this.board.revoking[name] && !this.board.revoking[name].failure) return
    this.#note({ kind: 'revoking', name })
    const failure = await this.order('DELETE', ['editors', name])
    if (failure) this.#note({ kind: 'kept', name, failure })
  }

  /** Sends a request that changes something. Returns the failure, if any. */
  order = async (
    method: 'POST' | 'PUT' | 'DELETE',
    parts: string[],
    body?: unknown,
  ): Promise<Failure | undefined> => {
    const answer = await this.gateway.ask(method, pathOf(parts), body)
    return answer.ok ? undefined : answer.failure
  }

  copy = (text: string): Promise<void> => this.gateway.copy(text)

  async #request(name: string, action: string) {
    if (name in this.board.requested) return
    this.#note({ kind: 'requested', name })
    const failure = await this.order('POST', ['upstreams', name, action])
    if (failure) this.#note({ kind: 'refused', name, failure })
  }

  #note(event: BoardEvent) {
    this.board = next(this.board, event, this.#clock())
  }
}

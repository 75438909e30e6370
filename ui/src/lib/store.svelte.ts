// The one owner of what the views show. It listens to the gateway and keeps the clock.

import { type Board, type BoardEvent, emptyBoard, next } from './board'
import type { Gateway } from './gateway'

export class Store {
  board = $state.raw<Board>(emptyBoard(0))
  readonly #gateway: Gateway
  readonly #clock: () => number

  constructor(gateway: Gateway, clock: () => number = Date.now) {
    this.#gateway = gateway
    this.#clock = clock
    this.board = emptyBoard(clock())
  }

  /** Watches until the answer is called. */
  start(): () => void {
    const stop = this.#gateway.watch((presence) => this.#note({ kind: 'told', presence }))
    const ticking = setInterval(() => this.#note({ kind: 'ticked' }), 1_000)
    return () => {
      clearInterval(ticking)
      stop()
    }
  }

  /** Does what the row of an upstream offers: resumes it if it is paused, else restarts it. */
  act = async (name: string): Promise<void> => {
    if (name in this.board.asked) return
    const upstream = this.board.status?.upstreams.find((one) => one.name === name)
    this.#note({ kind: 'asked', name })
    const paused = upstream?.link.state === 'paused'
    const failure = await (paused ? this.#gateway.resume(name) : this.#gateway.restart(name))
    if (failure) this.#note({ kind: 'refused', name, failure })
  }

  revoke = async (name: string): Promise<void> => {
    if (this.board.leaving[name] && !this.board.leaving[name].failure) return
    this.#note({ kind: 'revoking', name })
    const failure = await this.#gateway.revoke(name)
    if (failure) this.#note({ kind: 'kept', name, failure })
  }

  copy = (text: string): Promise<void> => this.#gateway.copy(text)

  #note(event: BoardEvent) {
    this.board = next(this.board, event, this.#clock())
  }
}

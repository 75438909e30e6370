// The steps of the first run. The user can skip each of them.

import { createQuery } from './query.svelte'
import { pathOf } from '../gateway/gateway'
import type { Store } from './store.svelte'
import { gatewayGone } from '../texts/common'
import type { Failure, ImportPreview, SelfTest, Setup, SetupResult, SetupPreview } from '../types'

export class Welcome {
  step = $state<1 | 2 | 3>(1)
  chosen = $state.raw<Record<string, boolean>>({})
  previews = $state.raw<Record<string, SetupPreview>>({})
  /** Editors whose own servers move behind Evermoor. None, unless the user ticks them. */
  moving = $state.raw<Record<string, boolean>>({})
  imports = $state.raw<Record<string, ImportPreview>>({})
  failures = $state.raw<Record<string, Failure>>({})
  /** The editor that is being connected. */
  connecting = $state('')
  hints = $state.raw<string[]>([])
  /** The switches of the last step. */
  atLogin = $state(true)
  tell = $state(true)
  finishing = $state(false)
  test = $state.raw<SelfTest>()
  trouble = $state.raw<Failure>()
  readonly setup
  readonly #store: Store

  /** Call it while a component is initialised. */
  constructor(store: Store) {
    this.#store = store
    this.setup = createQuery<Setup>(store, () => '/api/setup')
  }

  get editors() {
    return (this.setup.value?.editors ?? []).filter(({ state, path }) => state !== 'notInstalled' && path !== null)
  }

  get wanted() {
    return this.editors.filter(({ id, state }) => state !== 'connected' && this.chosen[id])
  }

  choose = (id: string, wanted: boolean) => {
    this.chosen = { ...this.chosen, [id]: wanted }
  }

  /** Chooses whether an editor's own servers move too, and loads a preview of that change. */
  move = async (id: string, wanted: boolean) => {
    this.moving = { ...this.moving, [id]: wanted }
    const { [id]: _, ...others } = this.failures
    this.failures = others
    if (!wanted || this.imports[id]) return
    const answer = await this.#store.gateway.ask<ImportPreview>('POST', pathOf(['setup', id, 'import', 'preview']))
    if (answer.ok) this.imports = { ...this.imports, [id]: answer.value }
    else this.failures = { ...this.failures, [id]: answer.failure }
  }

  /** Chooses all editors that can be connected, and loads a preview of each change. */
  async showEditors() {
    this.step = 2
    const open = this.editors.filter(({ state }) => state === 'notConnected' || state === 'changed')
    const fresh = open.filter(({ id }) => !(id in this.chosen))
    this.chosen = { ...this.chosen, ...Object.fromEntries(fresh.map(({ id }) => [id, true])) }
    await Promise.all(open.map(({ id }) => this.#preview(id)))
  }

  async #preview(id: string) {
    const answer = await this.#store.gateway.ask<SetupPreview>('POST', pathOf(['setup', id, 'preview']))
    if (answer.ok) this.previews = { ...this.previews, [id]: answer.value }
    else this.failures = { ...this.failures, [id]: answer.failure }
  }

  /** Connects the chosen editors one by one, and continues to the next step if none failed. */
  async connect() {
    if (this.connecting) return
    this.failures = {}
    for (const { id, title } of this.wanted) {
      this.connecting = title
      const answer = await this.#store.gateway.ask<SetupResult>('POST', pathOf(['setup', id, this.moving[id] ? 'import' : 'connect']))
      if (!answer.ok) this.failures = { ...this.failures, [id]: answer.failure }
      else if (answer.value.hint) this.hints = [...new Set([...this.hints, answer.value.hint])]
    }
    this.connecting = ''
    await this.setup.ask()
    if (Object.keys(this.failures).length === 0) this.step = 3
  }

  /** Saves the choices, and tests the endpoint like an editor. */
  async finish() {
    if (this.finishing) return
    this.finishing = true
    this.trouble = undefined
    const { gateway } = this.#store
    await gateway.shell?.setLoginItem(this.atLogin).catch(() => undefined)
    if (!this.tell) this.trouble = await this.#store.order('PUT', ['settings'], { tray: { notifications: 'none' } })
    const answer = await gateway.ask<SelfTest>('POST', pathOf(['selftest']))
    this.test = answer.ok ? answer.value : { ok: false, ms: 0, tools: 0, failure: answer.failure ?? gatewayGone }
    this.trouble ??= await this.over()
    this.finishing = false
  }

  /** Marks the first run as finished, after any step. */
  over = () => this.#store.order('POST', ['welcome'])
}

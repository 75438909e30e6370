// What the first run does, step by step. Every step can be left out.

import { asking } from './query.svelte'
import { pathOf } from '../gateway/gateway'
import type { Store } from './store.svelte'
import { gatewayGone } from '../texts/common'
import type { Failure, ImportPreview, SelfTest, Setup, SetupResult, SetupPreview } from '../types'

export class Welcome {
  step = $state<1 | 2 | 3>(1)
  chosen = $state.raw<Record<string, boolean>>({})
  previews = $state.raw<Record<string, SetupPreview>>({})
  /** Editors whose own servers move behind Evermoor: none unless a person says so. */
  moving = $state.raw<Record<string, boolean>>({})
  imports = $state.raw<Record<string, ImportPreview>>({})
  failures = $state.raw<Record<string, Failure>>({})
  /** The editor that is being connected. */
  connecting = $state('')
  hints = $state.raw<string[]>([])
  /** Switches of the last step; what a person leaves on is on. */
  atLogin = $state(true)
  tell = $state(true)
  finishing = $state(false)
  test = $state.raw<SelfTest>()
  trouble = $state.raw<Failure>()
  readonly setup
  readonly #store: Store

  /** To be called while a component is made. */
  constructor(store: Store) {
    this.#store = store
    this.setup = asking<Setup>(store, () => '/api/setup')
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

  /** Has an editor's own servers moved too, once it was shown what that changes. */
  move = async (id: string, wanted: boolean) => {
    this.moving = { ...this.moving, [id]: wanted }
    const { [id]: _, ...others } = this.failures
    this.failures = others
    if (!wanted || this.imports[id]) return
    const answer = await this.#store.gateway.ask<ImportPreview>('POST', pathOf(['setup', id, 'import', 'preview']))
    if (answer.ok) this.imports = { ...this.imports, [id]: answer.value }
    else this.failures = { ...this.failures, [id]: answer.failure }
  }

  /** Works out what would be changed, for every editor at once, and wants all that can be connected. */
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

  /** Connects what is wanted, one after the other, and goes on if nothing failed. */
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

  /** Sets what was chosen, and asks the endpoint as an editor would. */
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

  /** The first run is over, however far one went. */
  over = () => this.#store.order('POST', ['welcome'])
}

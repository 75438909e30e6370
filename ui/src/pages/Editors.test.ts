import { fireEvent, render, screen } from '@testing-library/svelte'
import { tick } from 'svelte'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { FakeGateway, NOON, editor, failure, status, upstream } from '../lib/test_data'
import { Store } from '../lib/state/store.svelte'
import type { Status } from '../lib/types'
import Editors from './Editors.svelte'

beforeEach(() => void vi.useFakeTimers({ now: NOON }))
afterEach(() => void vi.useRealTimers())

async function show(state: Status, gateway = new FakeGateway()) {
  const store = new Store(gateway)
  store.start()
  render(Editors, { store })
  const tell = async (...presence: Parameters<typeof gateway.tell>) => {
    gateway.tell(...presence)
    await vi.advanceTimersByTimeAsync(0)
  }
  await tell({ kind: 'serving', status: state })
  return { gateway, tell }
}

const row = (title: string) => screen.getByRole('article', { name: title })

const editors = (...names: string[]) => ({
  ...status(upstream('A')),
  editors: [editor('local', { own: true, seen: null }), ...names.map((name) => editor(name))],
})

test('editors show when they were last seen, and only Evermoor’s own token cannot be revoked', async () => {
  await show(editors('cursor'))
  expect(row('cursor').textContent).toContain('Token created 3 days ago, last seen 5 min ago')
  expect(row('local').textContent).toContain('never seen')
  expect(screen.getByRole('button', { name: 'Revoke cursor' })).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Revoke local' })).toBeNull()
})

test('an editor that sees more tools than it can use has a hint', async () => {
  const hint = 'Cursor uses at most 40 tools. To show fewer, add lists under [editors.cursor] in config.toml.'
  const shown = { tools: 52, prompts: 0, resources: 0 }
  await show({ ...status(upstream('A')), editors: [editor('cursor', { shown, hint }), editor('zed')] })
  expect(row('cursor').textContent).toContain('Sees 52 tools')
  expect(row('cursor').textContent).toContain(hint)
  expect(row('zed').textContent).toMatch(/Sees 34 tools\s*$/)
})

test('the second click revokes a token, and the editor disappears when the gateway confirms it', async () => {
  const { gateway, tell } = await show(editors('cursor', 'zed'))
  await fireEvent.click(screen.getByRole('button', { name: 'Revoke cursor' }))
  expect(gateway.orders).toEqual([])
  await fireEvent.click(screen.getByRole('button', { name: 'Revoke now cursor' }))
  expect(gateway.orders).toEqual(['DELETE /api/editors/cursor'])
  expect(screen.getByRole('button', { name: 'Revoke cursor' }).getAttribute('aria-disabled')).toBe('true')
  await tell({ kind: 'serving', status: editors('zed') })
  expect(screen.queryByRole('article', { name: 'cursor' })).toBeNull()
})

test('a first click without a second one has no effect', async () => {
  const { gateway } = await show(editors('cursor'))
  const button = screen.getByRole('button', { name: 'Revoke cursor' })
  await fireEvent.click(button)
  await fireEvent.blur(button)
  await fireEvent.click(button)
  expect(gateway.orders).toEqual([])
})

test('an editor whose token was not revoked shows why, and the user can try again', async () => {
  const { gateway } = await show(editors('cursor'))
  gateway.refusal = failure('internal')
  const button = () => screen.getByRole('button', { name: /^Revoke/ })
  await fireEvent.click(button())
  await fireEvent.click(button())
  await tick()
  expect(row('cursor').textContent).toContain(failure().what)
  expect(button().getAttribute('aria-disabled')).toBe('false')
})

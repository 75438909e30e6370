import { fireEvent, render, screen } from '@testing-library/svelte'
import { tick } from 'svelte'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import App from './App.svelte'
import { FakeGateway, NOON, connected, down, failure, status, upstream } from './lib/test_data'
import { Store } from './lib/state/store.svelte'
import type { Status } from './lib/types'

beforeEach(() => {
  vi.useFakeTimers({ now: NOON })
  vi.stubGlobal('scrollTo', () => undefined)
  sessionStorage.clear()
  history.replaceState(null, '', '/')
})
afterEach(() => void vi.useRealTimers())

async function show(state?: Status) {
  const gateway = new FakeGateway()
  const store = new Store(gateway)
  store.start()
  render(App, { store })
  const tell = async (...presence: Parameters<typeof gateway.tell>) => {
    gateway.tell(...presence)
    await tick()
  }
  if (state) await tell({ kind: 'serving', status: state })
  return { gateway, tell }
}

const row = (title: string) => screen.getByRole('article', { name: title })
const rowShapes = () => [...document.querySelectorAll('article [data-shape]')].map((mark) => mark.getAttribute('data-shape'))
const lost = { kind: 'lost', failure: failure('connection_lost') } as const

test('before the first state, the page says that it is starting and how to connect an editor', async () => {
  await show()
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Evermoor is starting…')
  expect(screen.getByText(/"args": \["connect"\]/)).toBeTruthy()
})

test('the sentence is the first heading, is announced, and is the title', async () => {
  await show({ ...status(upstream('A')), sentence: 'A is connected' })
  const heading = screen.getByRole('heading', { level: 1 })
  expect(heading.textContent).toBe('A is connected')
  expect(heading.closest('[role=status]')).toBeTruthy()
  expect(document.title).toBe('A is connected – Evermoor')
})

test('every state has its own word and shape', async () => {
  await show(status(upstream('A', connected(NOON - 7_200_000)), upstream('B', down()), upstream('C', { state: 'connecting' })))
  expect(rowShapes()).toEqual(['healthy', 'down', 'busy'])
  expect(row('A').textContent).toMatch(/Connected\s+for 2 h.*12 tools/)
  expect(row('B').textContent).toMatch(/Not running\s+· retrying in 4 s/)
  expect(row('B').textContent).toContain('Connection refused at localhost:39300. Start PiecesOS.')
  expect(row('C').textContent).toContain('Connecting')
})

test('the next attempt counts down', async () => {
  await show(status(upstream('A', down())))
  vi.advanceTimersByTime(3_000)
  await tick()
  expect(row('A').textContent).toContain('retrying in 1 s')
})

test('during a restart, its button does nothing and keeps the focus', async () => {
  const { gateway } = await show(status(upstream('A', down()), upstream('B', down())))
  const button = screen.getByRole('button', { name: 'Reconnect A' })
  button.focus()
  await fireEvent.click(button)
  await fireEvent.click(button)
  expect(gateway.orders).toEqual(['POST /api/upstreams/a/restart'])
  expect(button.getAttribute('aria-disabled')).toBe('true')
  expect(document.activeElement).toBe(button)
  expect(row('A').textContent).toContain('Reconnecting')
  expect(screen.getByRole('button', { name: 'Reconnect B' }).getAttribute('aria-disabled')).toBe('false')
})

test('with one upstream down, its action is beside the sentence', async () => {
  const { gateway } = await show(status(upstream('A'), upstream('B', down())))
  const [helping] = screen.getAllByRole('button', { name: 'Reconnect B' })
  expect(helping?.closest('header')).toBeTruthy()
  await fireEvent.click(helping as HTMLElement)
  expect(gateway.orders).toEqual(['POST /api/upstreams/b/restart'])
})

test('while the gateway is gone, the last state stays, is marked as old, and has no actions', async () => {
  const { gateway, tell } = await show(status(upstream('A', connected(NOON - 7_200_000))))
  await tell(lost)
  vi.advanceTimersByTime(3_000)
  await tick()
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Evermoor is restarting…')
  expect(screen.getByText('Last known state, 3 s old')).toBeTruthy()
  expect(screen.getByRole('main').classList).toContain('old')
  expect(row('A').textContent).not.toContain('2 h')
  await fireEvent.click(screen.getByRole('button', { name: 'Reconnect A' }))
  expect(gateway.orders).toEqual([])
  await tell({ kind: 'serving', status: status(upstream('A')) })
  expect(screen.queryByText(/Last known state/)).toBeNull()
  expect(screen.getByRole('main').classList).not.toContain('old')
})

test('the endpoint is copied, and the button says so for a while', async () => {
  const { gateway } = await show(status(upstream('A')))
  const button = screen.getByRole('button', { name: 'Copy the endpoint' })
  await fireEvent.click(button)
  await tick()
  expect(gateway.copied).toEqual(['http://127.0.0.1:7420/mcp'])
  expect(button.textContent).toBe('Copied')
  vi.advanceTimersByTime(2_000)
  await tick()
  expect(button.textContent).toBe('Copy')
})

test('a denied clipboard is reported', async () => {
  const { gateway } = await show(status(upstream('A')))
  gateway.clipboardWorks = false
  const button = screen.getByRole('button', { name: 'Copy the endpoint' })
  await fireEvent.click(button)
  await vi.advanceTimersByTimeAsync(0)
  expect(button.textContent).toBe('Could not copy')
})

test('warnings are shown with their remedy', async () => {
  await show({ ...status(upstream('A')), warnings: [failure('token_off')] })
  expect(screen.getByRole('region', { name: 'Warnings' }).textContent).toContain('Start PiecesOS.')
})

test('without upstreams, the page shows how to add one', async () => {
  await show(status())
  expect(screen.getByText(/\[upstreams.notes\]/)).toBeTruthy()
})

test('without a token, the page only shows how to get a link', async () => {
  const { gateway, tell } = await show(status(upstream('A')))
  await tell({ kind: 'locked', stale: true })
  expect(screen.queryByText('A')).toBeNull()
  expect(screen.getByText(/already used or has expired/)).toBeTruthy()
  await fireEvent.click(screen.getByRole('button', { name: 'Copy the command' }))
  expect(gateway.copied).toEqual(['evermoor open'])
})

test('an upstream that is off is shown as off and has no button', async () => {
  await show(status(upstream('A'), upstream('B', { state: 'off' })))
  expect(row('B').textContent).toContain('Turned off in config.toml.')
  expect(screen.queryByRole('button', { name: /B$/ })).toBeNull()
  expect(rowShapes()).toEqual(['healthy', 'paused'])
})

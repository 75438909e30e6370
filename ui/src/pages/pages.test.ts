import { fireEvent, render, screen } from '@testing-library/svelte'
import type { Component } from 'svelte'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { FakeGateway, NOON, app, down, failure, status, upstream } from '../lib/test_data'
import { Store } from '../lib/state/store.svelte'
import Activity from './Activity.svelte'
import Doctor from './Doctor.svelte'
import Settings from './Settings.svelte'
import Upstream from './Upstream.svelte'
import Welcome from './Welcome.svelte'

beforeEach(() => void vi.useFakeTimers({ now: NOON }))
afterEach(() => {
  vi.useRealTimers()
  sessionStorage.clear()
})

const settle = () => vi.advanceTimersByTimeAsync(0)

async function show(page: Component<any>, gateway: FakeGateway, props = {}, state = status(upstream('A'))) {
  const store = new Store(gateway)
  store.start()
  render(page, { store, ...props })
  gateway.tell({ kind: 'serving', status: state })
  await settle()
}

const click = async (name: string | RegExp) => {
  await fireEvent.click(screen.getByRole('button', { name }))
  await settle()
}

test('the doctor lists problems first, fixes them, and says what it did', async () => {
  const gateway = new FakeGateway()
  const check = (id: string, state: string, fixable = false) => ({ id, title: id, state, detail: 'd', remedy: 'Do this.', fixable })
  gateway.answers['/api/doctor'] = { checks: [check('port', 'good'), check('token', 'bad', true)] }
  gateway.answers['POST /api/doctor/token/fix'] = { what: 'The token is new.' }
  await show(Doctor, gateway)
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('1 check needs attention')
  expect(screen.getAllByRole('heading', { level: 2 })[0]?.textContent).toContain('token')
  await click('Fix token')
  expect(gateway.orders).toEqual(['POST /api/doctor/token/fix'])
  expect(screen.getByText('The token is new.')).toBeTruthy()
})

test('a page without an answer shows why, and can try again', async () => {
  const gateway = new FakeGateway()
  await show(Settings, gateway)
  expect(screen.getByRole('alert').textContent).toContain(failure().what)
  gateway.answers['/api/settings'] = settings
  await click('Try again')
  expect(screen.getByRole('textbox', { name: 'Port' })).toBeTruthy()
})

const settings = {
  path: '/home/a/config.toml',
  port: 7420,
  hold: '25s',
  requireToken: true,
  tray: { notifications: 'problems', quitStopsGateway: false },
  upstreams: [],
  editors: [],
}

test('Enter saves a setting, Escape discards it, and a refusal is shown', async () => {
  const gateway = new FakeGateway()
  gateway.answers['/api/settings'] = settings
  await show(Settings, gateway)
  const hold = screen.getByRole<HTMLInputElement>('textbox', { name: 'Hold calls for' })
  await fireEvent.input(hold, { target: { value: '40s' } })
  await fireEvent.keyDown(hold, { key: 'Enter' })
  await settle()
  expect(gateway.bodies).toEqual([{ hold: '40s' }])
  gateway.refusal = failure('configuration')
  await fireEvent.input(hold, { target: { value: 'long' } })
  await fireEvent.keyDown(hold, { key: 'Enter' })
  await settle()
  expect(screen.getByText(/Connection refused/)).toBeTruthy()
  await fireEvent.keyDown(hold, { key: 'Escape' })
  await settle()
  expect(hold.value).toBe('25s')
})

test('calls appear as they happen', async () => {
  const gateway = new FakeGateway()
  let receive: Parameters<NonNullable<FakeGateway['follow']>>[1] = () => undefined
  gateway.follow = (_, listener) => {
    receive = listener
    return () => undefined
  }
  await show(Activity, gateway)
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('No calls yet')
  const data = JSON.stringify({ number: 1, at: NOON, editor: 'cursor', client: null, upstream: 'a', tool: 'search', outcome: 'notSent', ms: 25_000, heldMs: 25_000 })
  receive({ event: 'call', data })
  await settle()
  expect(screen.getByRole('cell', { name: 'search' })).toBeTruthy()
  expect(screen.getByRole('cell', { name: 'Not sent' })).toBeTruthy()
  expect(screen.getByText('held 25.0 s')).toBeTruthy()
})

test('a restart is shown step by step, and a restart link focuses its button', async () => {
  const gateway = new FakeGateway()
  const steps = [{ at: NOON - 2_000, what: 'PiecesOS was asked to quit.' }]
  const restart = { number: 1, began: NOON - 2_000, steps, end: null }
  const pieces = { ...upstream('A'), app: app({ restart }) }
  await show(Upstream, gateway, { name: 'a', params: new URLSearchParams('restart') }, status(pieces))
  expect(screen.getAllByText('PiecesOS was asked to quit.').length).toBeGreaterThan(0)
  expect(screen.getByText('+2.0 s')).toBeTruthy()
  expect(document.activeElement?.getAttribute('aria-label')).toBe('Restart A')
})

test('an upstream that is off can be turned on, and an unknown one is reported', async () => {
  const gateway = new FakeGateway()
  await show(Upstream, gateway, { name: 'a', params: new URLSearchParams() }, status(upstream('A', { state: 'off' })))
  await click('Turn on')
  expect([gateway.orders, gateway.bodies]).toEqual([['POST /api/upstreams/a/enabled'], [{ enabled: true }]])
  gateway.tell({ kind: 'serving', status: status() })
  await settle()
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('There is no server “a”')
})

test('the first run connects the ticked editors, and ends with a test', async () => {
  const gateway = new FakeGateway()
  const editor = (id: string) => ({ id, title: id, path: `/${id}.json`, state: 'notConnected', entries: [], attached: false, hint: '', link: null })
  gateway.answers['/api/setup'] = { editors: [editor('cursor'), editor('zed'), { ...editor('codex'), state: 'notInstalled' }] }
  gateway.answers['POST /api/setup/cursor/connect'] = { path: '/cursor.json', changed: true, backup: null, hint: 'Restart Cursor.' }
  gateway.answers['POST /api/selftest'] = { ok: true, ms: 12, tools: 34, failure: null }
  const login: boolean[] = []
  gateway.shell = { setLoginItem: async (wanted: boolean) => void login.push(wanted) } as unknown as NonNullable<FakeGateway['shell']>
  await show(Welcome, gateway)
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Found: A and 2 editors')
  await click('Next')
  await fireEvent.click(screen.getByRole('checkbox', { name: 'zed' }))
  await click('Connect 1 editor')
  await fireEvent.click(screen.getByRole('switch', { name: 'Launch at login' }))
  await click('Finish and test')
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('It works: 34 tools in 12 ms')
  expect(screen.getByText('Restart Cursor.')).toBeTruthy()
  expect(login).toEqual([false])
  expect(gateway.orders.filter((order) => !order.endsWith('preview'))).toEqual([
    'POST /api/setup/cursor/connect',
    'POST /api/selftest',
    'POST /api/welcome',
  ])
})

test('the first run can be skipped at once', async () => {
  const gateway = new FakeGateway()
  await show(Welcome, gateway)
  await click('Skip')
  expect(gateway.orders).toEqual(['POST /api/welcome'])
})

test('a server that wants a sign-in has a button for it, and a link to its page', async () => {
  const gateway = new FakeGateway()
  gateway.answers['/api/upstreams/linear/catalog'] = { tools: [], prompts: [], resources: [] }
  gateway.answers['/api/incidents?upstream=linear'] = { incidents: [] }
  gateway.answers['POST /api/upstreams/linear/sign-in'] = { url: 'https://login.example/authorize?state=s' }
  const open = vi.spyOn(window, 'open').mockReturnValue(null)
  await show(Upstream, gateway, { name: 'linear', params: new URLSearchParams() }, status({ ...upstream('Linear', down(1, 'auth_required')), signIn: { isNeeded: true, account: null } }))
  await click('Sign in')
  expect(open).toHaveBeenCalledWith('https://login.example/authorize?state=s', '_blank', 'noopener')
  expect(screen.getByRole('link', { name: 'Open the page' }).getAttribute('href')).toContain('https://login.example/')
})

test('a program that wants credentials has no button to sign in', async () => {
  const gateway = new FakeGateway()
  const state = { ...upstream('Files', down(1, 'auth_required')), kind: 'program' as const }
  await show(Upstream, gateway, { name: 'files', params: new URLSearchParams() }, status(state))
  expect(screen.queryByRole('button', { name: 'Sign in' })).toBeNull()
})

import { emit } from '@tauri-apps/api/event'
import { clearMocks, mockIPC } from '@tauri-apps/api/mocks'
import { afterEach, expect, test, vi } from 'vitest'

import type { Presence } from './gateway'
import { failure, status } from '../test_data'
import { ShellGateway } from './tauri'

afterEach(clearMocks)

const serving: Presence = { kind: 'serving', status: status() }
const lost: Presence = { kind: 'lost', failure: failure() }

function shell(answer: (command: string, args: unknown) => unknown) {
  mockIPC(answer, { shouldMockEvents: true })
  return new ShellGateway()
}

test('the presence is requested once and then followed', async () => {
  const seen: Presence[] = []
  shell((command) => (command === 'presence' ? serving : undefined)).watch((presence) => seen.push(presence))
  await vi.waitFor(() => expect(seen).toEqual([serving]))
  await emit('presence', lost)
  expect(seen).toEqual([serving, lost])
})

test('an answer that is older than the last event is ignored', async () => {
  let answer: (presence: Presence) => void = () => {}
  const pending = new Promise<Presence>((resolve) => (answer = resolve))
  const seen: Presence[] = []
  const asked = vi.fn(() => pending)
  shell(asked).watch((presence) => seen.push(presence))
  await vi.waitFor(() => expect(asked).toHaveBeenCalled())
  await emit('presence', serving)
  answer({ kind: 'starting' })
  await pending
  await Promise.resolve()
  expect(seen).toEqual([serving])
})

test('a refused request returns the failure, and an unknown error has a text too', async () => {
  const refusing = shell(() => ({ status: 404, body: { error: failure('not_found') } }))
  expect(await refusing.ask('POST', '/api/upstreams/a/restart')).toEqual({ ok: false, failure: failure('not_found') })
  const away = shell(() => Promise.reject(failure('connection_lost')))
  expect(await away.ask('GET', '/api/status')).toEqual({ ok: false, failure: failure('connection_lost') })
  const broken = shell(() => Promise.reject('no such command'))
  expect(await broken.ask('GET', '/api/status')).toMatchObject({ ok: false, failure: { code: 'internal' } })
})

test('requests and copied texts are passed to the tray application', async () => {
  const invoked: unknown[] = []
  const gateway = shell((command, args) => {
    invoked.push([command, args])
    return { status: 200, body: { checks: [] } }
  })
  expect(await gateway.ask('GET', '/api/doctor')).toEqual({ ok: true, value: { checks: [] } })
  await gateway.ask('PUT', '/api/settings', { port: 7421 })
  await gateway.copy('text')
  expect(invoked).toEqual([
    ['control', { method: 'GET', path: '/api/doctor', body: null }],
    ['control', { method: 'PUT', path: '/api/settings', body: { port: 7421 } }],
    ['copy', { text: 'text' }],
  ])
})

test('the tray chooses the page to show', async () => {
  const places: string[] = []
  const stop = shell(() => undefined).shell.onShow((page) => places.push(page))
  await vi.waitFor(async () => {
    await emit('show', { page: '#/doctor' })
    expect(places).toContain('#/doctor')
  })
  stop()
})

test('a page that was requested during loading is shown afterwards', async () => {
  const places: string[] = []
  const waited = (command: string) => (command === 'listening' ? { page: '#/settings' } : undefined)
  const stop = shell(waited).shell.onShow((page) => places.push(page))
  await vi.waitFor(() => expect(places).toEqual(['#/settings']))
  stop()
})

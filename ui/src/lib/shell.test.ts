import { emit } from '@tauri-apps/api/event'
import { clearMocks, mockIPC } from '@tauri-apps/api/mocks'
import { afterEach, expect, test, vi } from 'vitest'

import type { Presence } from './gateway'
import { failure, status } from './samples'
import { ShellGateway } from './shell'

afterEach(clearMocks)

const serving: Presence = { kind: 'serving', status: status() }
const lost: Presence = { kind: 'lost', failure: failure() }

function shell(answer: (command: string, args: unknown) => unknown) {
  mockIPC(answer, { shouldMockEvents: true })
  return new ShellGateway()
}

test('the presence is asked for once and then heard', async () => {
  const told: Presence[] = []
  shell((command) => (command === 'presence' ? serving : undefined)).watch((presence) => told.push(presence))
  await vi.waitFor(() => expect(told).toEqual([serving]))
  await emit('presence', lost)
  expect(told).toEqual([serving, lost])
})

test('an answer older than what was heard meanwhile is not told', async () => {
  let answer: (presence: Presence) => void = () => {}
  const pending = new Promise<Presence>((resolve) => (answer = resolve))
  const told: Presence[] = []
  const asked = vi.fn(() => pending)
  shell(asked).watch((presence) => told.push(presence))
  await vi.waitFor(() => expect(asked).toHaveBeenCalled())
  await emit('presence', serving)
  answer({ kind: 'starting' })
  await pending
  await Promise.resolve()
  expect(told).toEqual([serving])
})

test('a refused restart passes on the failure, and a broken shell has a text too', async () => {
  const refusing = shell(() => Promise.reject(failure('not_found')))
  expect(await refusing.restart('a')).toEqual(failure('not_found'))
  const broken = shell(() => Promise.reject('no such command'))
  expect((await broken.restart('a'))?.what).toBeTruthy()
})

test('names and texts are passed to the shell', async () => {
  const heard: unknown[] = []
  const gateway = shell((command, args) => void heard.push([command, args]))
  expect(await gateway.restart('pieces')).toBeUndefined()
  expect(await gateway.resume('pieces')).toBeUndefined()
  expect(await gateway.revoke('cursor')).toBeUndefined()
  await gateway.copy('text')
  expect(heard).toEqual([
    ['restart_upstream', { name: 'pieces' }],
    ['resume_upstream', { name: 'pieces' }],
    ['revoke_editor', { name: 'cursor' }],
    ['copy', { text: 'text' }],
  ])
})

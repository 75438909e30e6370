// The editors page's texts.

import { count, listed } from '../view/format'
import type { Connection, Found, FoundEntry } from '../types'

export const about = 'Evermoor adds one entry to an editor’s own file, keeps a copy of the file, and can take the entry out again.'
export const sentence = (found: Found[]) => {
  const there = found.filter(({ state }) => state !== 'notInstalled')
  const connected = there.filter(({ state }) => state === 'connected').length
  const changed = there.filter(({ state }) => state === 'changed')
  const [first] = changed
  if (first && changed.length === 1) return `The entry in ${first.title} was changed`
  if (changed.length) return `The entries in ${changed.length} editors were changed`
  if (there.length === 0) return 'No editor was found on this machine'
  if (connected === there.length) return connected === 1 ? `${there[0]?.title} is connected` : `All ${connected} editors are connected`
  return connected ? `${connected} of ${there.length} editors are connected` : `${count(there.length, 'editor')} found, none connected yet`
}
export const looking = 'Looking for editors…'

export const onThisMachine = 'On this machine'
export const others = 'Not found on this machine'
export const tokens = 'Tokens'
export const tokensNote = 'Each editor has its own, so that one can be turned away alone.'
export const anotherEditor = 'Any other editor'

export const states: Record<Connection, string> = {
  connected: 'Connected',
  notConnected: 'Not connected',
  changed: 'Changed outside Evermoor',
  unreadable: 'Its file cannot be read',
  notInstalled: 'Not found',
}
export const inUse = 'in use now'
/** The servers that an editor has besides Evermoor. */
export const ownServers = (entries: FoundEntry[]) => entries.filter(({ ours }) => !ours).map(({ name }) => name)
/** The same in words; nothing if it has none. */
export const has = (entries: FoundEntry[]) => {
  const names = ownServers(entries)
  return names.length ? `Has MCP servers of its own: ${names.join(', ')}` : ''
}

export const connect = 'Connect'
export const repair = 'Repair'
export const undo = 'Undo'
export const move = (names: string[]) => `Move ${listed(names)} behind Evermoor too`
export const moveAbout = 'They go into Evermoor’s configuration and out of this file, and are reached through Evermoor’s entry. Undo puts them back.'
export const toKeychain = (names: string[]) => `Goes to the keychain, and is left out here: ${names.join(', ')}.`
export const stays = (name: string, why: string) => `${name} stays where it is. ${why}`
export const moveServers = 'Move its servers…'
export const moveTitle = (title: string) => `Move the servers of ${title} behind Evermoor`
export const moveNow = 'Move'
export const moving = 'Moving…'
export const moved = (title: string, hint: string) => [`${title} reaches its servers through Evermoor.`, hint].filter(Boolean).join(' ')
export const connecting = 'Connecting…'
export const undoing = 'Undoing…'
export const askingChange = 'Working out the change…'
export const connectTitle = (title: string) => `Connect ${title}`
export const repairTitle = (title: string) => `Repair the entry in ${title}`
export const changeAbout = 'This is the whole change. A copy of the file as it is now is kept beside it.'
export const noChange = 'The file already says this. Nothing would change.'
export const byHand = 'Evermoor does not write here. Paste this:'
export const theSnippet = 'the configuration'
export const changeOf = (path: string) => `Change to ${path}`
export const added = 'Added: '
export const removed = 'Removed: '
export const undoTitle = (title: string) => `Take Evermoor out of ${title}?`
export const undoAbout = (path: string | null) =>
  `The entry goes out of ${path ?? 'its settings'}. Everything else there stays as it is.`
export const done = (title: string, hint: string) => [`${title} is connected.`, hint].filter(Boolean).join(' ')
export const undone = (title: string) => `Evermoor’s entry is out of ${title}.`
export const kept = (backup: string) => `The file as it was is at ${backup}.`

export const newToken = 'New token…'
export const newTokenTitle = 'A token for another editor'
export const newTokenAbout = 'For an editor that speaks HTTP and is not in the list. The token is shown once.'
export const nameLabel = 'Name of the editor'
export const make = 'Make the token'
export const making = 'Making…'
export const toldOnce = 'Copy it now: it is not shown again.'
export const theToken = 'the token'
export const finished = 'Done'

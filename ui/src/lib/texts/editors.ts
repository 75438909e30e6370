// The editors page's texts.

import { count, duration, listed } from '../view/format'
import type { SetupState, DetectedEditor, EditorServerEntry, VisibleCounts } from '../types'

export const about = 'Evermoor adds one entry to the editor’s configuration file and keeps a backup. Undo removes the entry again.'
export const sentence = (found: DetectedEditor[]) => {
  const there = found.filter(({ state }) => state !== 'notInstalled')
  const connected = there.filter(({ state }) => state === 'connected').length
  const changed = there.filter(({ state }) => state === 'changed')
  const [first] = changed
  if (first && changed.length === 1) return `The entry in ${first.title} was changed`
  if (changed.length) return `The entries in ${changed.length} editors were changed`
  if (there.length === 0) return 'No editors found on this computer'
  if (connected === there.length) return connected === 1 ? `${there[0]?.title} is connected` : `All ${connected} editors are connected`
  return connected ? `${connected} of ${there.length} editors are connected` : `${count(there.length, 'editor')} found, none connected`
}
export const looking = 'Looking for editors…'

export const onThisMachine = 'On this computer'
export const others = 'Not found on this computer'
export const tokens = 'Tokens'
export const tokensNote = 'Each editor has its own token, so you can revoke one without affecting the others.'
export const anotherEditor = 'Any other editor'

export const states: Record<SetupState, string> = {
  connected: 'Connected',
  notConnected: 'Not connected',
  changed: 'Changed outside Evermoor',
  unreadable: 'File cannot be read',
  notInstalled: 'Not found',
}
export const inUse = 'in use now'
/** The names of the editor's servers other than Evermoor. */
export const ownServers = (entries: EditorServerEntry[]) => entries.filter(({ ours }) => !ours).map(({ name }) => name)
/** A sentence that lists them, or an empty string. */
export const has = (entries: EditorServerEntry[]) => {
  const names = ownServers(entries)
  return names.length ? `Also has these MCP servers: ${names.join(', ')}` : ''
}

export const connect = 'Connect'
export const repair = 'Repair'
export const undo = 'Undo'
export const move = (names: string[]) => `Move ${listed(names)} behind Evermoor too`
export const moveAbout = 'Their entries move from this file to Evermoor’s configuration, and the editor reaches them through Evermoor. Undo moves them back.'
export const toKeychain = (names: string[]) => `Moves to the keychain and is not shown here: ${names.join(', ')}.`
export const stays = (name: string, why: string) => `${name} is not moved. ${why}`
export const moveServers = 'Move its servers…'
export const moveTitle = (title: string) => `Move the servers of ${title} behind Evermoor`
export const moveNow = 'Move'
export const moving = 'Moving…'
export const moved = (title: string, hint: string) => [`${title} now reaches its servers through Evermoor.`, hint].filter(Boolean).join(' ')
export const connecting = 'Connecting…'
export const undoing = 'Undoing…'
export const askingChange = 'Preparing the change…'
export const connectTitle = (title: string) => `Connect ${title}`
export const repairTitle = (title: string) => `Repair the entry in ${title}`
export const changeAbout = 'This is the complete change. Evermoor keeps a backup of the file as it is now.'
export const noChange = 'The file already has this entry. Nothing changes.'
export const byHand = 'Evermoor cannot edit this file. Paste this into it:'
export const theSnippet = 'the configuration'
export const changeOf = (path: string) => `Change to ${path}`
export const added = 'Added: '
export const removed = 'Removed: '
export const undoTitle = (title: string) => `Remove Evermoor from ${title}?`
export const undoAbout = (path: string | null) =>
  `The entry is removed from ${path ?? 'its settings'}. Everything else stays as it is.`
export const done = (title: string, hint: string) => [`${title} is connected.`, hint].filter(Boolean).join(' ')
export const undone = (title: string) => `Evermoor’s entry was removed from ${title}.`
export const kept = (backup: string) => `The previous file is at ${backup}.`

export const newToken = 'New token…'
export const newTokenTitle = 'A token for another editor'
export const newTokenAbout = 'For an editor that connects over HTTP and is not in the list. The token is shown once.'
export const nameLabel = 'Editor name'
export const make = 'Create token'
export const making = 'Creating…'
export const shownOnce = 'Copy it now. It is not shown again.'
export const theToken = 'the token'
export const finished = 'Done'

export const revoke = 'Revoke'
export const revokeNow = 'Revoke now'
const ago = (at: number, now: number) =>
  now - at < 2 * 60_000 ? 'just now' : `${duration(now - at)} ago`
export const tokenCreated = (at: number | null, now: number) =>
  at === null ? 'Token created by hand' : `Token created ${ago(at, now)}`
export const lastSeen = (at: number | null, now: number) =>
  at === null ? 'never seen' : `last seen ${ago(at, now)}`

/** How many tools, prompts and resources an editor sees. */
export const sees = ({ tools, prompts, resources }: VisibleCounts) => {
  const more = [prompts && count(prompts, 'prompt'), resources && count(resources, 'resource')]
  return ['Sees ' + count(tools, 'tool'), ...more.filter(Boolean)].join(', ')
}

// The settings page's texts.

import type { Delivery, UpdateState } from '../gateway/gateway'
import type { NotificationLevel } from '../types'

export const sentence = 'Settings'
export const about = 'Every change is saved to config.toml at once. Comments and order in the file stay as they are.'
export const theFile = 'the path of the file'

export const application = 'This application'
export const login = 'Launch at login'
export const loginAbout = 'Evermoor starts hidden, in the tray.'
export const update = 'Updates'
export const updateOf = ({ kind, version, reason }: UpdateState) => {
  if (kind === 'off') return reason ?? 'This build does not update itself.'
  if (kind === 'none') return 'Evermoor is up to date.'
  if (version) return `Version ${version} is ready.`
  return reason ?? 'Checking for updates…'
}
export const install = 'Restart to update'
export const installing = 'Updating…'
export const delivery: Record<Delivery, string | undefined> = {
  withButtons: undefined,
  plain: 'They have no buttons, because this build is not signed by a registered developer.',
  declined: 'macOS does not show them. To see them, allow Evermoor under Notifications in System Settings.',
}
export const folders = 'Folders'
export const foldersAbout = 'Opens in your file manager.'
export const folder = { config: 'Configuration', data: 'Data', logs: 'Logs' }

export const notifications = 'Notifications'
export const levels: Record<NotificationLevel, string> = { all: 'Everything', problems: 'Problems only', none: 'Nothing' }
export const level = 'Notify me about'
export const levelAbout = 'You are notified when a server stays down, not for short interruptions.'
export const quitStops = 'Quitting also stops the gateway'
export const quitStopsAbout = 'When off, editors stay connected after you quit.'

export const network = 'Network'
export const port = 'Port'
export const portAbout = 'Takes effect when the gateway moves to it. Editors that Evermoor set up are updated.'
export const move = (port: number) => `Move to port ${port} now`
export const moveAbout = (port: string) => `The gateway still listens on port ${port}. Calls in progress finish first.`
export const moving = 'Moving…'
export const moved = (port: number) => `Evermoor now listens on port ${port}. This page stays at the old port. Reopen it with:`
export const token = 'Require a token from editors'
export const tokenAbout = 'When off, every program on this computer can use your servers.'
export const hold = 'Hold calls for'
export const holdAbout = 'How long a call waits for a server that is down, such as 25s.'

export const upstreams = 'Servers'
export const editors = 'Editors'
export const enabled = 'Enabled'
export const enabledAbout = 'When off, Evermoor does not connect to it, and editors do not see its tools.'
export const upstreamTitle = 'Title'
export const upstreamTitleAbout = 'Its name here and in notifications. Leave empty to use its own name.'
export const keepalive = 'Ping after'
export const keepaliveAbout = 'How long it may be silent before Evermoor pings it, such as 3m. 0s turns pings off. Leave empty for the default.'
export const callTimeout = 'Call timeout'
export const callTimeoutAbout = 'For example 60s or 5m.'
export const restart = 'Restart automatically'
export const restarts: Record<string, string> = { 'on-crash': 'After a crash', ask: 'Ask me first', always: 'Whenever it exits', never: 'Never' }
export const recycle = 'Restart to free memory'
export const recycles: Record<string, string> = { 'when-idle': 'When idle', never: 'Never' }
export const memoryAlarm = 'Memory limit'
export const memoryAlarmAbout = 'For example 2.5 GB. Leave empty to use the preset’s limit.'
export const trust = 'Trust its tool annotations'
export const trustAbout = 'Evermoor may then repeat a call to a read-only tool after a lost connection.'
export const sharing = 'Connections'
export const sharings: Record<string, string> = { shared: 'One shared by all editors', 'per-client': 'One per editor' }
export const listKinds = { upstreams: 'Servers', tools: 'Tools', prompts: 'Prompts', resources: 'Resources' }
export const allow = (kind: string) => `Allowed ${kind.toLowerCase()}`
export const allowAbout = 'One pattern per line; * matches anything. Leave empty to allow everything.'
export const deny = (kind: string) => `Hidden ${kind.toLowerCase()}`
export const denyAbout = 'One pattern per line. Hidden wins over allowed.'
export const noEditors = 'No editor has its own lists. To show one editor fewer tools, add lists under [editors.NAME] in config.toml.'

export const save = 'Save'
export const saving = 'Saving…'
export const saved = 'Saved'

// The settings page's texts.

import type { UpdateState } from '../gateway/gateway'
import type { Notifications } from '../types'

export const sentence = 'Settings'
export const about = 'Every change is written to config.toml at once. Comments and order in the file stay as they are.'
export const theFile = 'the path of the file'

export const application = 'This application'
export const login = 'Start at login'
export const loginAbout = 'It starts hidden, in the tray. This is read from your system.'
export const update = 'Updates'
export const updateOf = ({ kind, version, reason }: UpdateState) => {
  if (kind === 'off') return reason ?? 'This build does not update itself.'
  if (kind === 'none') return 'This is the newest version.'
  if (version) return `Version ${version} is ready.`
  return reason ?? 'Looking for a newer version…'
}
export const install = 'Restart to update'
export const installing = 'Updating…'
export const folders = 'Folders'
export const foldersAbout = 'Opened in your file manager.'
export const folder = { config: 'Configuration', data: 'Data', logs: 'Logs' }

export const notifications = 'Notifications'
export const levels: Record<Notifications, string> = { all: 'Everything', problems: 'Problems only', none: 'Nothing' }
export const level = 'Tell me about'
export const levelAbout = 'A notice comes when an upstream stays away, not for a short interruption.'
export const quitStops = 'Quitting also stops the gateway'
export const quitStopsAbout = 'Off: editors stay connected when the tray icon is gone.'

export const network = 'Network'
export const port = 'Port'
export const portAbout = 'Used once the gateway has moved. Editors that Evermoor connected are led along.'
export const move = (port: number) => `Move to port ${port} now`
export const moveAbout = (port: string) => `The gateway still listens on port ${port}. Calls under way end first.`
export const moving = 'Moving…'
export const moved = (port: number) => `Evermoor listens on port ${port} now, and this page cannot follow. Open it there with:`
export const token = 'Ask editors for a token'
export const tokenAbout = 'Off: every program on this machine may use your upstreams.'
export const hold = 'Hold calls for'
export const holdAbout = 'How long a call waits for an upstream that is down, such as 25s.'

export const upstreams = 'Upstreams'
export const editors = 'Editors'
export const enabled = 'In use'
export const enabledAbout = 'Off: nothing connects to it, and its tools are not shown.'
export const upstreamTitle = 'Title'
export const upstreamTitleAbout = 'What it is called here and in notices. Empty: its own name.'
export const keepalive = 'Sign of life every'
export const keepaliveAbout = 'After how much silence it is asked for one, such as 3m; 0s is never. Empty: as usual.'
export const callTimeout = 'A call may take'
export const callTimeoutAbout = 'Such as 60s or 5m.'
export const restart = 'Restart it'
export const restarts: Record<string, string> = { 'on-crash': 'When it crashed', ask: 'Only when I say so', always: 'Whenever it is gone', never: 'Never' }
export const recycle = 'Free its memory by a restart'
export const recycles: Record<string, string> = { 'when-idle': 'When nobody uses it', never: 'Never' }
export const memoryAlarm = 'Too much memory is'
export const memoryAlarmAbout = 'Such as 2.5 GB. Empty: as its preset says.'
export const trust = 'Believe what it says of its tools'
export const trustAbout = 'A tool that says it only reads may then be called again after a lost connection.'
export const sharing = 'Connections'
export const sharings: Record<string, string> = { shared: 'One for all editors', 'per-client': 'One for each editor' }
export const listKinds = { upstreams: 'Upstreams', tools: 'Tools', prompts: 'Prompts', resources: 'Resources' }
export const allow = (kind: string) => `${kind} allowed`
export const allowAbout = 'One pattern per line; * stands for anything. Empty: everything.'
export const deny = (kind: string) => `${kind} hidden`
export const denyAbout = 'One pattern per line. What is hidden stays hidden even if it is allowed above.'
export const noEditors = 'No editor has lists of its own. Lists under [editors.NAME] in config.toml make what one editor sees fewer.'

export const save = 'Save'
export const saving = 'Saving…'
export const saved = 'Saved'

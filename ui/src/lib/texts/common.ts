// Texts that several pages use. The other files of this folder have the texts of one page each. The gateway sends
// sentences of its own, from `crates/core/src/api`; both use the same word for a state.

import { count, countdown, duration } from '../view/format'
import type { Page } from '../route'
import type { AppStatus, Code, Failure, UpstreamStatus } from '../types'

export const name = 'Evermoor'

export const title = (sentence: string) => `${sentence} – ${name}`
export const summary = (upstreams: UpstreamStatus[]) => {
  const on = upstreams.filter(({ link }) => link.state !== 'off')
  const tools = on.reduce((sum, upstream) => sum + upstream.tools - upstream.hidden, 0)
  return `${count(tools, 'tool')} from ${count(on.length, 'server')}`
}
export const colophon = (version: string, pid: number) => `${name} ${version}, process ${pid}`

export const skip = 'Skip to the page'
export const navigation = 'Pages'
export const pages: Record<Page, string> = {
  overview: 'Overview',
  upstream: 'Server',
  editors: 'Editors',
  activity: 'Activity',
  incidents: 'Incidents',
  settings: 'Settings',
  doctor: 'Doctor',
  welcome: 'Welcome',
}
export const tryAgain = 'Try again'
export const loading = 'Loading…'
export const close = 'Close'
export const cancel = 'Cancel'

export const starting = 'Evermoor is starting…'
export const restarting = 'Evermoor is restarting…'
export const stopped = 'Evermoor is stopped'
export const startAgain = 'To start it, choose Start Evermoor in the tray.'
export const away = 'Evermoor is not responding'
export const soonBack = 'This usually takes a few seconds.'
export const ready = 'The gateway is running.'
export const lastKnown = 'Last known state'
export const asOf = (age: number) =>
  age < 1_000 ? lastKnown : `${lastKnown}, ${duration(age)} old`

export const openCommand = 'evermoor open'

export const upstreamsLabel = 'Servers'

export const copy = 'Copy'
export const copied = 'Copied'
export const notCopied = 'Could not copy'
export const copyOf = (what: string) => `Copy ${what}`
export const theEndpoint = 'the endpoint'
export const theCommand = 'the command'
export const theConfiguration = 'the configuration'

export const editorHint =
  'Add this to your editor’s MCP configuration. It needs no token and keeps working when the gateway restarts.'
export const editorSnippet = `{
  "mcpServers": {
    "evermoor": {
      "command": "evermoor",
      "args": ["connect"]
    }
  }
}`

export const reconnect = 'Reconnect'
export const restart = 'Restart'
export const resume = 'Resume'
export const isRestarting = 'Restarting'
export const isReconnecting = 'Reconnecting'
export const signIn = 'Sign in'
export const signInTo = (title: string) => `Sign in to ${title}`
export const actionOn = (action: string, title: string) => `${action} ${title}`

export const forLength = (length: number) => `for ${duration(length)}`
export const nextTry = (wait: number) => {
  const left = countdown(wait)
  return left ? `· retrying in ${left}` : '· retrying now'
}
/** Matches `Upstream::tool_count` in `crates/core`. */
export const tools = ({ tools, hidden }: UpstreamStatus) =>
  hidden ? `${tools - hidden} of ${tools} tools shown` : count(tools, 'tool')
export const failure = ({ what, remedy }: Failure) => `${what} ${remedy}`

/** Details of a connected application: first what the user can do, then its memory. */
export const appDetail = ({ what, remedy, next, notes, offer, trend }: AppStatus) => {
  const action = next === 'nothing' ? [] : [`${what} ${remedy}`]
  const memory = trend ? [`Memory: ${trend}`] : []
  return [...(offer ? [offer] : []), ...action, ...notes, ...memory].join(' ')
}

/** The state in one or two words. Matches `Code::word` in `crates/core`. */
export const words: Record<Code, string> = {
  connection_refused: 'Not running',
  dns_failure: 'Not reachable',
  connect_timeout: 'Not reachable',
  tls: 'Not trusted',
  session_lost: 'Connection lost',
  connection_lost: 'Connection lost',
  timeout: 'Not responding',
  refused: 'Not serving MCP',
  auth_required: 'Needs sign-in',
  keychain_locked: 'Keychain locked',
  keychain_refused: 'Needs your permission',
  keychain_missing: 'No keychain',
  secret_missing: 'Secret missing',
  not_mcp: 'Not serving MCP',
  crash_loop: 'Keeps crashing',
  not_installed: 'Not installed',
  not_running: 'Not running',
  starting: 'Starting',
  crashed: 'Crashed',
  quit: 'Quit',
  paused: 'Paused',
  configuration: 'Misconfigured',
  token_off: 'Open',
  port_taken: 'Port taken',
  not_found: 'Not found',
  forbidden: 'Not allowed',
  internal: 'Internal error',
}
export const off = 'Off'
export const offDetail = 'Turned off in config.toml. Turn it on again on its page.'
export const connecting = 'Connecting'
export const connected = 'Connected'
export const paused = 'Paused'

export const gatewayGone: Failure = {
  code: 'connection_lost',
  what: 'The gateway closed the connection or is not running.',
  remedy: 'This page keeps retrying. For details, run “evermoor status” in a terminal.',
}
export const notUnderstood: Failure = {
  code: 'internal',
  what: 'The gateway sent a reply that this page cannot read.',
  remedy: 'Reload the page. The gateway may have been updated.',
}

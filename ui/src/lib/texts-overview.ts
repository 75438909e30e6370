// The overview's texts.

import { count, duration, moment } from './format'
import type { Attached, Incident, SpanState } from './types'

export const connectedNow = 'Connected now'
export const nobodyConnected = 'No editor is connected at the moment.'
export const connectAnEditor = 'Connect an editor'
export const lastIncidents = 'Last incidents'
export const allIncidents = 'All incidents'
export const noIncidents = 'Nothing has gone wrong yet.'

/** The program itself, with its version, or the name its token has. */
export const client = ({ client, clientVersion, editor }: Attached) =>
  client ? [client, clientVersion].filter(Boolean).join(' ') : editor
export const transport = ({ transport, view }: Attached) => {
  const way = { stdio: 'stdio', sse: 'HTTP with SSE', http: 'HTTP' }[transport]
  return view ? `${way}, ${view} only` : way
}
export const sinceThen = (at: number, now: number) =>
  now - at < 60_000 ? 'just now' : `for ${duration(now - at)}`

/** Names the upstream, unless the sentence does. */
export const happened = ({ title, cause, sign }: Incident) => {
  const what = cause?.what ?? sign.what
  return what.includes(title) ? what : `${title}: ${what}`
}
export const lasted = ({ began, end }: Incident, now: number) =>
  end ? `${moment(began, now)}, lasted ${duration(end.at - began)}` : `since ${moment(began, now)}, not over yet`
export const waited = ({ calls }: Incident) =>
  calls.held ? `${count(calls.answered, 'call')} of ${calls.held} that waited answered` : ''

export const dayAgo = '24 h ago'
export const now = 'now'
export const uptime = (title: string, part: string | undefined, outages: number) =>
  part === undefined
    ? `Nothing is known of ${title} in the last 24 hours`
    : `${title} was connected ${part} of the last 24 hours, with ${count(outages, 'interruption')}`
export const states: Record<SpanState, string> = {
  connected: 'Connected',
  connecting: 'Connecting',
  down: 'Not connected',
  off: 'Off',
  paused: 'Paused',
  unwatched: 'No gateway ran',
}
export const part = (uptime: string) => `connected ${uptime} of the time`

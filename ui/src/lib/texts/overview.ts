// The overview's texts.

import { count, duration, moment } from '../view/format'
import type { ConnectedClient, Incident, TimelineState } from '../types'

export const connectedNow = 'Connected now'
export const nobodyConnected = 'No editor is connected.'
export const connectAnEditor = 'Connect an editor'
export const lastIncidents = 'Recent incidents'
export const allIncidents = 'All incidents'
export const noIncidents = 'Nothing has gone wrong yet.'

/** The program itself, with its version, or the name its token has. */
export const client = ({ client, clientVersion, editor }: ConnectedClient) =>
  client ? [client, clientVersion].filter(Boolean).join(' ') : editor
export const transport = ({ transport, view }: ConnectedClient) => {
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
  end ? `${moment(began, now)}, lasted ${duration(end.at - began)}` : `since ${moment(began, now)}, ongoing`
export const waited = ({ calls }: Incident) =>
  calls.held ? `${calls.answered} of ${count(calls.held, 'held call')} answered` : ''

export const dayAgo = '24 h ago'
export const now = 'now'
/** A part of a few minutes says nothing of a day, so it is told from an hour on, and of what time it is. */
const HOUR = 60 * 60_000
const ofKnown = (known: number) => (known >= 23 * HOUR ? 'the last 24 hours' : `the last ${duration(known)}`)
export const uptime = (title: string, part: string | undefined, known: number, outages: number) => {
  if (part === undefined) return `No data about ${title} in the last 24 hours`
  const interrupted = `with ${count(outages, 'interruption')}`
  if (known < HOUR) return `${title} has been monitored for ${duration(known)}, ${interrupted}`
  return `${title} was connected ${part} of ${ofKnown(known)}, ${interrupted}`
}
export const states: Record<TimelineState, string> = {
  connected: 'Connected',
  connecting: 'Connecting',
  down: 'Not connected',
  off: 'Off',
  paused: 'Paused',
  unwatched: 'Gateway not running',
}
export const part = (uptime: string, known: number) => (known < HOUR ? '' : `connected ${uptime} of ${ofKnown(known)}`)

// The overview's texts.

import { count, duration, moment } from '../view/format'
import type { ConnectedClient, Incident, TimelineState } from '../types'

export const endpointLabel = 'Endpoint for your editors'
export const warningsLabel = 'Warnings'
export const editorLabel = 'Point your editor here'
export const noUpstreamsHint =
  'Add a server to the configuration file. Evermoor connects to it as soon as you save.'
export const upstreamSnippet = '[upstreams.notes]\nurl = "http://127.0.0.1:3001/mcp"'

export const connectedNow = 'Connected now'
export const nobodyConnected = 'No editor is connected.'
export const connectAnEditor = 'Connect an editor'
export const lastIncidents = 'Recent incidents'
export const allIncidents = 'All incidents'
export const noIncidents = 'Nothing has gone wrong yet.'

/** The client's name and version, or the name of its token. */
export const client = ({ client, clientVersion, editor }: ConnectedClient) =>
  client ? [client, clientVersion].filter(Boolean).join(' ') : editor
export const transport = ({ transport, view }: ConnectedClient) => {
  const way = { stdio: 'stdio', sse: 'HTTP with SSE', http: 'HTTP' }[transport]
  return view ? `${way}, ${view} only` : way
}
export const sinceThen = (at: number, now: number) =>
  now - at < 60_000 ? 'just now' : `for ${duration(now - at)}`

/** Adds the upstream's title unless the sentence already contains it. */
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
/** A percentage of a few minutes says little about a day. It is shown after one hour, with the period it covers. */
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

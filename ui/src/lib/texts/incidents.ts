// The incidents page's texts.

import { count, duration } from '../view/format'
import type { Headline } from '../view/headline'
import type { AffectedCalls, Resolution, Incident } from '../types'

export const about = 'Every outage of a server: what Evermoor saw, what it did and what caused it.'
/** The overview's headline if something is wrong: the two pages must not disagree. */
export const sentence = (all: Incident[], { shape, sentence }: Headline) => {
  if (shape !== 'healthy') return sentence
  return all.length ? 'Nothing is wrong right now' : 'Nothing has gone wrong yet'
}
export const none =
  'When a server fails, the incident appears here: when it started, how long it lasted, why, and what happened to your calls.'
export const upstream = 'Server'
export const all = 'All'
export const copyAll = 'Copy all as Markdown'
export const copyOne = 'Copy as Markdown'
export const lasted = (length: number) => `lasted ${duration(length)}`
export const sofar = (length: number) => `for ${duration(length)} so far`
export const ends: Record<Resolution, string> = {
  reconnected: 'Reconnected.',
  answered: 'Responding again.',
  removed: 'Removed from the configuration.',
  changed: 'Configuration changed.',
  paused: 'Paused.',
}
export const calls = ({ held, answered, unknown, notSent }: AffectedCalls) => {
  if (held + unknown + notSent === 0) return 'No call was affected.'
  const parts = [
    held && `${count(held, 'call')} held, ${answered} of them answered`,
    notSent && `${count(notSent, 'call')} not sent`,
    unknown && `outcome of ${count(unknown, 'call')} unknown`,
  ]
  return `${parts.filter(Boolean).join('; ')}.`
}
export const memory = 'Memory before'
export const ran = 'Uptime before'
export const affected = 'Calls'
export const what = 'Timeline'
export const evidence = (source: string) => `From ${source}`
export const unwatched = (length: number) => `The gateway was not running for ${duration(length)} of it.`

// The incidents page's texts.

import { count, duration } from './format'
import type { Calls, How, Incident } from './types'

export const about = 'Every time that an upstream was not there, with what was seen, what was done and why it happened.'
export const sentence = (all: Incident[]) => {
  const open = all.filter(({ end }) => !end)
  const [first] = open
  if (first && open.length === 1) return `${first.title} has a problem right now`
  if (open.length) return `${open.length} upstreams have a problem right now`
  return all.length ? 'Nothing is wrong right now' : 'Nothing has gone wrong yet'
}
export const none =
  'When an upstream stops answering, what happened is written down here: since when, for how long, why, and what became of the calls.'
export const upstream = 'Upstream'
export const all = 'All'
export const copyAll = 'Copy all as Markdown'
export const copyOne = 'Copy as Markdown'
export const lasted = (length: number) => `lasted ${duration(length)}`
export const sofar = (length: number) => `for ${duration(length)} so far`
export const ends: Record<How, string> = {
  reconnected: 'It reconnected.',
  answered: 'It responded again.',
  removed: 'It was removed from the configuration.',
  changed: 'Its configuration was changed.',
  paused: 'It was paused.',
}
export const calls = ({ held, answered, unknown, notSent }: Calls) => {
  if (held + unknown + notSent === 0) return 'No call was affected.'
  const parts = [
    held && `${count(held, 'call')} waited, ${answered} of them answered`,
    notSent && `${count(notSent, 'call')} returned unsent`,
    unknown && `the outcome of ${count(unknown, 'call')} is not known`,
  ]
  return `${parts.filter(Boolean).join('; ')}.`
}
export const memory = 'Memory before'
export const ran = 'Had run for'
export const affected = 'Calls'
export const what = 'What was seen and done'
export const evidence = (source: string) => `From ${source}`
export const unwatched = (length: number) => `For ${duration(length)} of it no gateway ran to watch.`

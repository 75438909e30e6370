// The list of calls as it grows. Pure.

import type { Call, Outcome } from './provisional'

export interface Filter {
  upstream: string
  editor: string
  outcome: Outcome | ''
}

export const everything: Filter = { upstream: '', editor: '', outcome: '' }

/** Not to be kept longer in a page that stays open for days. */
export const LONGEST = 1_000

export const matches = (call: Call, { upstream, editor, outcome }: Filter) =>
  (!upstream || call.upstream === upstream) && (!editor || call.editor === editor) && (!outcome || call.outcome === outcome)

/** Newest first, none twice: a call can be both in the list that was asked for and in the stream. */
export function joined(some: Call[], more: Call[]): Call[] {
  const seen = new Set<string>()
  return [...some, ...more]
    .sort((a, b) => b.at - a.at)
    .filter((call) => {
      const key = keyOf(call)
      const isNew = !seen.has(key)
      seen.add(key)
      return isNew
    })
    .slice(0, LONGEST)
}

export const keyOf = ({ at, editor, upstream, tool, ms, outcome }: Call) =>
  [at, editor, upstream, tool, ms, outcome].join('\n')

/** What can be chosen in a filter: what there is, and what was chosen. */
export function choicesOf(names: string[], chosen: string): string[] {
  return [...new Set(chosen ? [...names, chosen] : names)].sort()
}

export const wentWrong = ({ outcome }: Call) => outcome !== 'ok' && outcome !== 'cancelled'

// The list of calls as it grows. Pure.

import type { RecentCall, CallOutcome } from '../types'

export interface Filter {
  upstream: string
  editor: string
  outcome: CallOutcome | ''
}

export const everything: Filter = { upstream: '', editor: '', outcome: '' }

/** Not to be kept longer in a page that stays open for days. */
export const LONGEST = 1_000

export const matches = (call: RecentCall, { upstream, editor, outcome }: Filter) =>
  (!upstream || call.upstream === upstream) && (!editor || call.editor === editor) && (!outcome || call.outcome === outcome)

/** Newest first, none twice: a call can be both in the list that was asked for and in the stream. */
export function joined(some: RecentCall[], more: RecentCall[]): RecentCall[] {
  const calls = new Map([...some, ...more].map((call) => [keyOf(call), call]))
  return [...calls.values()].sort((a, b) => b.at - a.at || b.number - a.number).slice(0, LONGEST)
}

/** A gateway counts its calls from one; the moment tells those of two gateways apart. */
export const keyOf = ({ number, at }: RecentCall) => `${number} ${at}`

/** What can be chosen in a filter: what there is, and what was chosen. */
export function choicesOf(names: string[], chosen: string): string[] {
  return [...new Set(chosen ? [...names, chosen] : names)].sort()
}

export const wentWrong = ({ outcome }: RecentCall) => outcome !== 'ok' && outcome !== 'cancelled'

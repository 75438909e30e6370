// Merges and filters the list of calls. Pure.

import type { RecentCall, CallOutcome } from '../types'

export interface Filter {
  upstream: string
  editor: string
  outcome: CallOutcome | ''
}

export const everything: Filter = { upstream: '', editor: '', outcome: '' }

/** Limits memory on a page that stays open for days. */
export const MAX_CALLS = 1_000

export const matches = (call: RecentCall, { upstream, editor, outcome }: Filter) =>
  (!upstream || call.upstream === upstream) && (!editor || call.editor === editor) && (!outcome || call.outcome === outcome)

/** Newest first, without duplicates: a call can be in the requested list and in the stream. */
export function joined(some: RecentCall[], more: RecentCall[]): RecentCall[] {
  const calls = new Map([...some, ...more].map((call) => [keyOf(call), call]))
  return [...calls.values()].sort((a, b) => b.at - a.at || b.number - a.number).slice(0, MAX_CALLS)
}

/** Each gateway run numbers its calls from one, so the key also contains the time. */
export const keyOf = ({ number, at }: RecentCall) => `${number} ${at}`

/** The options of a filter. Includes the chosen one, even if no call has it any more. */
export function choicesOf(names: string[], chosen: string): string[] {
  return [...new Set(chosen ? [...names, chosen] : names)].sort()
}

export const wentWrong = ({ outcome }: RecentCall) => outcome !== 'ok' && outcome !== 'cancelled'

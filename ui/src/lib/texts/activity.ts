// The activity page's texts.

import { count, milliseconds } from '../view/format'
import type { CallOutcome } from '../types'

export const about = 'Which tool was called, by whom, and how it went. What was said is never kept.'
export const sentence = (calls: number, wrong: number) => {
  if (calls === 0) return 'No calls yet'
  return wrong ? `${count(wrong, 'call')} of the last ${calls} did not go well` : `The last ${count(calls, 'call')} went well`
}
export const none = 'Every call that an editor makes appears here as it happens.'
export const noneOfThese = 'No call matches these filters.'
export const filters = 'Filters'
export const upstream = 'Upstream'
export const editor = 'Editor'
export const outcome = 'Outcome'
export const all = 'All'
export const older = 'Show older calls'
export const askingOlder = 'Asking…'

export const time = 'Time'
export const tool = 'Tool'
export const took = 'Took'
export const calls = 'Calls'

export const outcomes: Record<CallOutcome, string> = {
  ok: 'Answered',
  toolError: 'Tool failed',
  notSent: 'Not sent',
  unknown: 'Outcome unknown',
  cancelled: 'Cancelled',
  refused: 'Refused',
}
export const held = (length: number) => `held ${milliseconds(length)}`

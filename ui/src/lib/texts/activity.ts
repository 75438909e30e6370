// The activity page's texts.

import { count, milliseconds } from '../view/format'
import type { CallOutcome } from '../types'

export const about = 'Which tools your editors called and how each call ended. Arguments and results are never stored.'
export const sentence = (calls: number, wrong: number) => {
  if (calls === 0) return 'No calls yet'
  return wrong ? `${count(wrong, 'call')} of the last ${calls} failed` : `The last ${count(calls, 'call')} succeeded`
}
export const none = 'Calls from your editors appear here as they happen.'
export const noneOfThese = 'No call matches these filters.'
export const filters = 'Filters'
export const upstream = 'Server'
export const editor = 'Editor'
export const outcome = 'Outcome'
export const all = 'All'
export const older = 'Show older calls'
export const askingOlder = 'Loading…'

export const time = 'Time'
export const tool = 'Tool'
export const took = 'Duration'
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

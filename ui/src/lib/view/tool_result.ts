// Turns the result of a trial call into a sentence and a text. Pure.

import * as texts from '../texts/upstream'
import type { TrialCallResult } from '../types'

export interface Outcome {
  good: boolean
  sentence: string
  text: string
}

/** The part of an answer that is shown. Any member may be missing. */
interface Result {
  content?: { type: string; text?: string }[]
  isError?: boolean
  structuredContent?: unknown
}

export function outcomeOf({ ms, result: answer, error }: TrialCallResult): Outcome {
  if (error !== undefined) return { good: false, sentence: texts.notDone(ms), text: messageOf(error) }
  const result = (answer ?? {}) as Result
  const good = result.isError !== true
  return { good, sentence: good ? texts.answered(ms) : texts.failedAfter(ms), text: textOf(result) }
}

/** The text parts of an answer; other parts as JSON. */
function textOf(result: Result): string {
  const content = Array.isArray(result.content) ? result.content : []
  const parts = content.map((part) => (part.type === 'text' ? (part.text ?? '') : JSON.stringify(part, null, 2)))
  if (parts.length) return parts.join('\n\n')
  return JSON.stringify(result.structuredContent ?? result, null, 2)
}

function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { message?: unknown }
  return typeof message === 'string' ? message : JSON.stringify(error)
}

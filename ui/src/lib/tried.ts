// What came of trying a tool, as a person reads it. Pure.

import type { Tried } from './provisional'
import * as texts from './texts-upstream'

export interface Outcome {
  good: boolean
  sentence: string
  text: string
}

export function outcomeOf({ ms, result, error }: Tried): Outcome {
  if (error) return { good: false, sentence: texts.notDone(ms), text: error.message }
  const good = result?.isError !== true
  return { good, sentence: good ? texts.answered(ms) : texts.failedAfter(ms), text: textOf(result) }
}

/** The words of an answer; whatever else is in it as JSON. */
function textOf(result: Tried['result']): string {
  const content = Array.isArray(result?.content) ? result.content : []
  const parts = content.map((part) => (part.type === 'text' ? (part.text ?? '') : JSON.stringify(part, null, 2)))
  if (parts.length) return parts.join('\n\n')
  return JSON.stringify(result?.structuredContent ?? result ?? {}, null, 2)
}

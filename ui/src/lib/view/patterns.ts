// Patterns of names as lines of text, and back. Pure.

export const textOf = (patterns: string[] | null) => (patterns ?? []).join('\n')

/** Nothing if no pattern is written: then the setting is taken out of the file. */
export function patternsOf(text: string): string[] | null {
  const patterns = text.split('\n').map((line) => line.trim())
  const written = patterns.filter((line) => line !== '')
  return written.length ? written : null
}

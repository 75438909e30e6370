// Converts name patterns to lines of text and back. Pure.

export const textOf = (patterns: string[] | null) => (patterns ?? []).join('\n')

/** `null` if there are no patterns; the setting is then removed from the file. */
export function patternsOf(text: string): string[] | null {
  const patterns = text.split('\n').map((line) => line.trim())
  const written = patterns.filter((line) => line !== '')
  return written.length ? written : null
}

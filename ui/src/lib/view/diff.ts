// Splits a unified diff into lines for display. Pure.

export interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'hunk'
  text: string
}

/** The lines without the file names, which the page shows elsewhere. */
export function linesOf(diff: string): DiffLine[] {
  const lines = diff.replace(/\n$/, '').split('\n')
  const first = lines.findIndex((line) => line.startsWith('@@'))
  const body = first < 0 ? lines.filter((line) => !/^(---|\+\+\+) /.test(line)) : lines.slice(first)
  return body.filter((line, index) => line !== '' || index < body.length - 1).map(lineOf)
}

function lineOf(line: string): DiffLine {
  if (line.startsWith('@@')) return { kind: 'hunk', text: line }
  if (line.startsWith('+')) return { kind: 'added', text: line.slice(1) }
  if (line.startsWith('-')) return { kind: 'removed', text: line.slice(1) }
  return { kind: 'same', text: line.replace(/^ /, '') }
}

// Types of the control API that the generator does not write yet.

export type LogLevel = 'error' | 'warn' | 'info' | 'debug'
export type LogLine = { at: number; level: LogLevel; upstream: string | null; text: string }
export type LogLines = { lines: LogLine[] }

export type CheckState = 'good' | 'bad' | 'skipped'
export type Check = {
  id: string
  title: string
  state: CheckState
  detail: string
  remedy: string | null
  fixable: boolean
}
export type Checks = { checks: Check[] }
export type Fixed = { what: string }

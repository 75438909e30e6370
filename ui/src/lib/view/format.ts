// Formats times and amounts. The current time is always an argument.

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A duration in its largest unit, rounded down: "12 s", "5 min", "3 h", "2 days". */
export function duration(milliseconds: number): string {
  const length = Math.max(0, milliseconds)
  if (length < MINUTE) return `${Math.floor(length / SECOND)} s`
  if (length < HOUR) return `${Math.floor(length / MINUTE)} min`
  if (length < 2 * DAY) return `${Math.floor(length / HOUR)} h`
  return `${Math.floor(length / DAY)} days`
}

/** The rest of a wait, rounded up, so that it ends at 1 and not at 0. `undefined` when it is over. */
export function countdown(milliseconds: number): string | undefined {
  if (milliseconds <= 0) return undefined
  if (milliseconds <= MINUTE) return `${Math.ceil(milliseconds / SECOND)} s`
  return `${Math.ceil(milliseconds / MINUTE)} min`
}

/** Labels for the times on an axis, with seconds if ticks are less than a minute apart. A repeated label is left empty. */
export function tickLabels(times: number[]): string[] {
  const close = times.some((at, index) => index > 0 && at - (times[index - 1] ?? 0) < MINUTE)
  const labels = times.map((at) => (close ? second(at) : minute(at)))
  return labels.map((label, index) => (label === labels[index - 1] ? '' : label))
}

/** Joins names as in a sentence: "a", "a and b", "a, b and c". */
export function listed(names: string[]): string {
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const clockWithSeconds = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const dayOfYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })

/** A time with seconds, for lists of recent events: "14:03:09". */
export const second = (at: number) => clockWithSeconds.format(at)
export const minute = (at: number) => clock.format(at)

/** A time, with the date if it is not today: "14:03", "12 May, 14:03". */
export function moment(at: number, now: number): string {
  const sameDay = new Date(at).toDateString() === new Date(now).toDateString()
  if (sameDay) return clock.format(at)
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  return `${(sameYear ? day : dayOfYear).format(at)}, ${clock.format(at)}`
}

/** Milliseconds in a readable unit: "0.4 ms", "12 ms", "1.3 s", "2 min". */
export function milliseconds(length: number): string {
  if (length === 0) return '0 ms'
  if (length < 1) return `${length.toFixed(1)} ms`
  if (length < SECOND) return `${Math.round(length)} ms`
  if (length < MINUTE) return `${(length / SECOND).toFixed(1)} s`
  return duration(length)
}

/** Bytes as megabytes, or as gigabytes from 1 GB. */
export function bytes(amount: number): string {
  const mega = amount / 1e6
  return mega < 1_000 ? `${Math.round(mega)} MB` : `${(mega / 1_000).toFixed(1)} GB`
}

export const percent = (part: number) =>
  part === 1 ? '100 %' : `${(Math.floor(part * 1_000) / 10).toFixed(1)} %`

/** Ends a third-party text with a full stop, so that another sentence can follow. */
export const sentence = (text: string) => (text === '' || /[.!?…:]$/.test(text) ? text : `${text}.`)

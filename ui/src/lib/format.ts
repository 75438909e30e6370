// Moments and amounts in words. Time is always an argument.

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A length of time in its largest unit, rounded down: "12 s", "5 min", "3 h", "2 days". */
export function duration(milliseconds: number): string {
  const length = Math.max(0, milliseconds)
  if (length < MINUTE) return `${Math.floor(length / SECOND)} s`
  if (length < HOUR) return `${Math.floor(length / MINUTE)} min`
  if (length < 2 * DAY) return `${Math.floor(length / HOUR)} h`
  return `${Math.floor(length / DAY)} days`
}

/** What is left of a wait, rounded up, so that it ends at 1 and not at 0. Nothing when it is over. */
export function countdown(milliseconds: number): string | undefined {
  if (milliseconds <= 0) return undefined
  if (milliseconds <= MINUTE) return `${Math.ceil(milliseconds / SECOND)} s`
  return `${Math.ceil(milliseconds / MINUTE)} min`
}

export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}

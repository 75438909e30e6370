// A state over time as pieces of a line. Pure.

import type { Incident, TimelineSpan, TimelineState } from '../types'

export const DAY = 24 * 60 * 60_000

export type Tone = 'good' | 'busy' | 'bad' | 'paused' | 'unknown'

export interface Piece {
  /** Of the whole, from 0 to 1. */
  left: number
  width: number
  tone: Tone
  from: number
  to: number
  state: TimelineState
  /** What happened then, if that is known. */
  cause: string
}

const tones: Record<TimelineState, Tone> = {
  connected: 'good',
  connecting: 'busy',
  down: 'bad',
  off: 'paused',
  paused: 'paused',
  unwatched: 'unknown',
}

/** What is too short to be seen is drawn as wide as this. */
const THINNEST = 0.004

/** The pieces of the time from `begin` to `end`, each with what is known of its cause. */
export function piecesOf(spans: TimelineSpan[], incidents: Incident[], begin: number, end: number): Piece[] {
  const length = end - begin
  return spans
    .map((span) => ({ ...span, from: Math.max(begin, span.from), to: Math.min(end, span.to ?? end) }))
    .filter(({ from, to }) => to > from || (to === from && to < end && from > begin))
    .map(({ from, to, state }) => {
      const width = Math.max(THINNEST, (to - from) / length)
      const left = Math.min((from - begin) / length, 1 - width)
      return { left, width, from, to, state, tone: tones[state], cause: causeOf(state, from, to, incidents) }
    })
}

function causeOf(state: TimelineState, from: number, to: number, incidents: Incident[]): string {
  if (tones[state] === 'good') return ''
  const then = incidents.find(({ began, end }) => began <= to && (end?.at ?? to) >= from)
  return then ? (then.cause?.what ?? then.sign.what) : ''
}

/** How much of the known time it was connected, from 0 to 1; nothing if nothing is known. */
export function uptimeOf(pieces: Piece[]): number | undefined {
  const known = knownOf(pieces)
  return known > 0 ? lengthOf(pieces.filter(({ tone }) => tone === 'good')) / known : undefined
}

/** Of how much time it is known whether it was connected. */
export const knownOf = (pieces: Piece[]) => lengthOf(pieces.filter(({ tone }) => tone !== 'unknown' && tone !== 'paused'))

const lengthOf = (some: Piece[]) => some.reduce((sum, { from, to }) => sum + (to - from), 0)

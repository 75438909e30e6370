// Divides an upstream's past into the segments of a timeline. Pure.

import type { Incident, TimelineSpan, TimelineState } from '../types'

export const DAY = 24 * 60 * 60_000

export type Tone = 'good' | 'busy' | 'bad' | 'paused' | 'unknown'

export interface Piece {
  /** Fractions of the whole line, from 0 to 1. */
  left: number
  width: number
  tone: Tone
  from: number
  to: number
  state: TimelineState
  /** What happened then, if known. */
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

/** Shorter segments are drawn this wide, so that they can be seen. */
const MIN_WIDTH = 0.004

/** The segments between `begin` and `end`, each with its cause if known. */
export function piecesOf(spans: TimelineSpan[], incidents: Incident[], begin: number, end: number): Piece[] {
  const length = end - begin
  return spans
    .map((span) => ({ ...span, from: Math.max(begin, span.from), to: Math.min(end, span.to ?? end) }))
    .filter(({ from, to }) => to > from || (to === from && to < end && from > begin))
    .map(({ from, to, state }) => {
      const width = Math.max(MIN_WIDTH, (to - from) / length)
      const left = Math.min((from - begin) / length, 1 - width)
      return { left, width, from, to, state, tone: tones[state], cause: causeOf(state, from, to, incidents) }
    })
}

function causeOf(state: TimelineState, from: number, to: number, incidents: Incident[]): string {
  if (tones[state] === 'good') return ''
  const then = incidents.find(({ began, end }) => began <= to && (end?.at ?? to) >= from)
  return then ? (then.cause?.what ?? then.sign.what) : ''
}

/** The connected fraction of the known time, from 0 to 1. `undefined` if nothing is known. */
export function uptimeOf(pieces: Piece[]): number | undefined {
  const known = knownOf(pieces)
  return known > 0 ? lengthOf(pieces.filter(({ tone }) => tone === 'good')) / known : undefined
}

/** How long the gateway knows whether the upstream was connected, in milliseconds. */
export const knownOf = (pieces: Piece[]) => lengthOf(pieces.filter(({ tone }) => tone !== 'unknown' && tone !== 'paused'))

const lengthOf = (some: Piece[]) => some.reduce((sum, { from, to }) => sum + (to - from), 0)

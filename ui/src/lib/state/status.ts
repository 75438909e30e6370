// What is known, and how it changes. Pure: the moment comes with each event.

import type { Presence } from '../gateway/gateway'
import type { Failure, UpstreamState, Status } from '../types'

/** How long a row may say that it restarts, or why it did not. */
export const PATIENCE = 30_000

export interface Board {
  now: number
  presence: Exclude<Presence, { kind: 'lost' }> | { kind: 'lost'; failure: Failure; since: number }
  /** The last state heard, which outlives the gateway that told it. */
  status?: Status
  /** Restarts asked for and not yet seen to be done, by upstream; none outlives its gateway. */
  asked: Record<string, { at: number; before: UpstreamState }>
  /** Restarts refused a moment ago, by upstream. */
  refused: Record<string, { at: number; failure: Failure }>
  /** Editors whose token is being revoked, and why if that was refused. */
  leaving: Record<string, { at: number; failure?: Failure }>
}

export type BoardEvent =
  | { kind: 'told'; presence: Presence }
  | { kind: 'ticked' }
  | { kind: 'asked'; name: string }
  | { kind: 'refused'; name: string; failure: Failure }
  | { kind: 'revoking'; name: string }
  | { kind: 'kept'; name: string; failure: Failure }

/** Before anything is heard: with the state that an earlier page saw, if there was one. */
export function emptyBoard(now: number, status?: Status): Board {
  const board: Board = { now, presence: { kind: 'starting' }, asked: {}, refused: {}, leaving: {} }
  return status ? { ...board, status } : board
}

export function next(board: Board, event: BoardEvent, now: number): Board {
  switch (event.kind) {
    case 'told':
      return tell({ ...board, now }, event.presence)
    case 'ticked':
      return settle({ ...board, now })
    case 'asked': {
      const before = linkOf(board, event.name)
      if (!before) return board
      const asked = { ...board.asked, [event.name]: { at: now, before } }
      return { ...board, now, asked, refused: without(board.refused, event.name) }
    }
    case 'refused': {
      const refused = { ...board.refused, [event.name]: { at: now, failure: event.failure } }
      return { ...board, now, refused, asked: without(board.asked, event.name) }
    }
    case 'revoking':
      return { ...board, now, leaving: { ...board.leaving, [event.name]: { at: now } } }
    case 'kept': {
      const kept = { at: now, failure: event.failure }
      return { ...board, now, leaving: { ...board.leaving, [event.name]: kept } }
    }
  }
}

function tell(board: Board, presence: Presence): Board {
  switch (presence.kind) {
    case 'serving':
      return settle({ ...board, presence, status: presence.status })
    case 'lost': {
      const since = board.presence.kind === 'lost' ? board.presence.since : board.now
      return { ...board, presence: { ...presence, since }, asked: {}, leaving: {} }
    }
    case 'starting':
      return { ...board, presence }
    case 'locked':
      return { ...emptyBoard(board.now), presence }
  }
}

/** Forgets what was asked and is done, and what is too old to be waited for or read. */
function settle(board: Board): Board {
  const fresh = ({ at }: { at: number }) => board.now - at < PATIENCE
  const asked = keep(board.asked, (name, ask) => {
    const link = linkOf(board, name)
    return fresh(ask) && link !== undefined && !isDone(ask.before, link)
  })
  const refused = keep(board.refused, (_, refusal) => fresh(refusal))
  const has = (name: string) => board.status?.editors.some((editor) => editor.name === name)
  const leaving = keep(board.leaving, (name, wish) => fresh(wish) && has(name) === true)
  return { ...board, asked, refused, leaving }
}

/** Done is a new connection, or another attempt that failed. What is off has nothing left to do. */
function isDone(before: UpstreamState, link: UpstreamState): boolean {
  switch (link.state) {
    case 'off':
      return true
    case 'connecting':
    case 'paused':
      return false
    case 'connected':
      return before.state !== 'connected' || before.since !== link.since
    case 'down': {
      const attempts = before.state === 'down' ? before.attempts : 0
      return link.attempts > 0 && link.attempts !== attempts
    }
  }
}

function linkOf(board: Board, name: string): UpstreamState | undefined {
  return board.status?.upstreams.find((upstream) => upstream.name === name)?.link
}

function keep<T>(record: Record<string, T>, wanted: (name: string, value: T) => boolean) {
  return Object.fromEntries(Object.entries(record).filter(([name, value]) => wanted(name, value)))
}

function without<T>(record: Record<string, T>, name: string): Record<string, T> {
  return keep(record, (other) => other !== name)
}

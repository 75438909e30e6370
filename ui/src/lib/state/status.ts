// The state of the dashboard and how events change it. Pure: each event comes with its time.

import type { Presence } from '../gateway/gateway'
import type { Failure, UpstreamState, Status } from '../types'

/** How long a row shows that it is restarting, or why it did not restart. */
export const REQUEST_SHOWN = 30_000

export interface Board {
  now: number
  presence: Exclude<Presence, { kind: 'lost' }> | { kind: 'lost'; failure: Failure; since: number }
  /** The last known state. It stays when the gateway is gone. */
  status?: Status
  /** Requested restarts that are not finished, by upstream. Cleared when the gateway is lost. */
  requested: Record<string, { at: number; before: UpstreamState }>
  /** Recently refused restarts, by upstream. */
  refused: Record<string, { at: number; failure: Failure }>
  /** Editors whose token is being revoked, with the failure if it was not. */
  revoking: Record<string, { at: number; failure?: Failure }>
}

export type BoardEvent =
  | { kind: 'observed'; presence: Presence }
  | { kind: 'ticked' }
  | { kind: 'requested'; name: string }
  | { kind: 'refused'; name: string; failure: Failure }
  | { kind: 'revoking'; name: string }
  | { kind: 'kept'; name: string; failure: Failure }

/** The board before the first event, with the state from before a reload if there is one. */
export function emptyBoard(now: number, status?: Status): Board {
  const board: Board = { now, presence: { kind: 'starting' }, requested: {}, refused: {}, revoking: {} }
  return status ? { ...board, status } : board
}

export function next(board: Board, event: BoardEvent, now: number): Board {
  switch (event.kind) {
    case 'observed':
      return tell({ ...board, now }, event.presence)
    case 'ticked':
      return settle({ ...board, now })
    case 'requested': {
      const before = linkOf(board, event.name)
      if (!before) return board
      const requested = { ...board.requested, [event.name]: { at: now, before } }
      return { ...board, now, requested, refused: without(board.refused, event.name) }
    }
    case 'refused': {
      const refused = { ...board.refused, [event.name]: { at: now, failure: event.failure } }
      return { ...board, now, refused, requested: without(board.requested, event.name) }
    }
    case 'revoking':
      return { ...board, now, revoking: { ...board.revoking, [event.name]: { at: now } } }
    case 'kept': {
      const kept = { at: now, failure: event.failure }
      return { ...board, now, revoking: { ...board.revoking, [event.name]: kept } }
    }
  }
}

function tell(board: Board, presence: Presence): Board {
  switch (presence.kind) {
    case 'serving':
      return settle({ ...board, presence, status: presence.status })
    case 'lost': {
      const since = board.presence.kind === 'lost' ? board.presence.since : board.now
      return { ...board, presence: { ...presence, since }, requested: {}, revoking: {} }
    }
    case 'starting':
    case 'stopped':
      return { ...board, presence }
    case 'locked':
      return { ...emptyBoard(board.now), presence }
  }
}

/** Removes requests that are finished or too old. */
function settle(board: Board): Board {
  const fresh = ({ at }: { at: number }) => board.now - at < REQUEST_SHOWN
  const requested = keep(board.requested, (name, ask) => {
    const link = linkOf(board, name)
    return fresh(ask) && link !== undefined && !isDone(ask.before, link)
  })
  const refused = keep(board.refused, (_, refusal) => fresh(refusal))
  const has = (name: string) => board.status?.editors.some((editor) => editor.name === name)
  const revoking = keep(board.revoking, (name, revocation) => fresh(revocation) && has(name) === true)
  return { ...board, requested, refused, revoking }
}

/** A restart is finished after a new connection or another failed attempt, or if the upstream is off. */
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

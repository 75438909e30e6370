// What a person reads off the board: the headline and the rows. Pure.

import type { Board } from '../state/status'
import * as texts from '../texts/common'
import type { AppStatus, Code, OverallState, UpstreamStatus } from '../types'

/** A gateway that is away this long is not merely restarting. */
const RESTART = 10_000

/** Failures that a restart of the gateway explains. Any other is told at once. */
const passing: Code[] = ['connection_lost', 'connection_refused', 'connect_timeout', 'timeout']

export interface Headline {
  shape: OverallState
  sentence: string
  detail: string
}

export interface Row {
  name: string
  title: string
  target: string
  tools: string
  shape: OverallState
  word: string
  /** What follows the word: since when, or when the next attempt is made. */
  timing: string
  /** What happened and what to do; empty while all is well. */
  detail: string
  /** What can be done about it; empty if nothing. */
  action: string
  /** Whether the action is what helps. */
  urgent: boolean
  /** Whether the action is to be offered: not while it is being done, nor without a gateway. */
  ready: boolean
}

export function headlineOf({ presence, now }: Board): Headline {
  switch (presence.kind) {
    case 'serving': {
      const { overall, sentence, upstreams } = presence.status
      const anyOn = upstreams.some(({ link }) => link.state !== 'off')
      const detail = anyOn ? texts.summary(upstreams) : texts.ready
      return { shape: overall, sentence, detail }
    }
    case 'lost': {
      const { failure, since } = presence
      if (!passing.includes(failure.code)) {
        return { shape: 'down', sentence: failure.what, detail: failure.remedy }
      }
      if (now - since < RESTART) {
        return { shape: 'busy', sentence: texts.restarting, detail: texts.soonBack }
      }
      return { shape: 'down', sentence: texts.away, detail: failure.remedy }
    }
    case 'starting':
    case 'locked':
      return { shape: 'busy', sentence: texts.starting, detail: texts.soonBack }
  }
}

/** How old the state on show is; nothing while it is live. */
export function ageOf({ presence, status, now }: Board): number | undefined {
  if (!status || presence.kind === 'serving') return undefined
  return presence.kind === 'lost' ? now - presence.since : 0
}

export function rowsOf(board: Board): Row[] {
  return (board.status?.upstreams ?? []).map((upstream) => rowOf(upstream, board))
}

export interface EditorRow {
  name: string
  /** When its token was made and when it last spoke. */
  detail: string
  /** How much it is shown, and what is worth knowing about that. */
  sees: string
  hint: string
  /** Why its token was not revoked; empty otherwise. */
  refusal: string
  /** Whether its token can be revoked: Evermoor's own cannot. */
  revocable: boolean
  /** Whether that can be asked for now. */
  ready: boolean
}

export function editorsOf(board: Board): EditorRow[] {
  const live = board.presence.kind === 'serving'
  return (board.status?.editors ?? []).map(({ name, made, seen, own, shown, hint }) => {
    const wish = board.leaving[name]
    return {
      name,
      detail: `${texts.made(made, board.now)}, ${texts.seen(seen, board.now)}`,
      sees: shown ? texts.sees(shown) : '',
      hint: hint ?? '',
      refusal: wish?.failure ? texts.failure(wish.failure) : '',
      revocable: !own,
      ready: live && (!wish || wish.failure !== undefined),
    }
  })
}

/** The one row whose action helps, if there is exactly one and a gateway to do it. */
export function helpOf(board: Board): Row | undefined {
  const urgent = rowsOf(board).filter((row) => row.urgent)
  return urgent.length === 1 && board.presence.kind === 'serving' ? urgent[0] : undefined
}

/** The last step of the restart that is under way, if one is. */
function underWayIn(app: AppStatus | null): string | undefined {
  const restart = app?.restart
  return restart && !restart.end ? restart.steps.at(-1)?.what : undefined
}

function rowOf(upstream: UpstreamStatus, board: Board): Row {
  const live = board.presence.kind === 'serving'
  const asked = upstream.name in board.asked
  const refusal = board.refused[upstream.name]
  const { name, title, target, link } = upstream
  // Restarting an application restarts its program; restarting an address only replaces the connection.
  const isAddress = upstream.app === null && /^https?:/.test(target)
  const row: Row = {
    name,
    title,
    target,
    tools: texts.tools(upstream),
    shape: 'busy',
    word: texts.connecting,
    timing: '',
    detail: '',
    action: isAddress ? texts.reconnect : texts.restart,
    urgent: link.state === 'down',
    ready: live && !asked,
  }
  if (link.state === 'off') {
    return { ...row, shape: 'paused', word: texts.off, tools: '', detail: texts.offDetail, action: '', ready: false }
  }
  if (link.state === 'paused') {
    row.shape = 'paused'
    row.word = texts.paused
    row.timing = live ? texts.forLength(board.now - link.since) : ''
    row.action = texts.resume
    if (asked) return { ...row, shape: 'busy', word: texts.connecting, timing: '' }
  }
  if (asked) return { ...row, word: isAddress ? texts.isReconnecting : texts.isRestarting }
  const step = underWayIn(upstream.app)
  if (step) return { ...row, word: texts.isRestarting, detail: step, ready: false }
  if (link.state === 'connected') {
    row.shape = 'healthy'
    row.word = texts.connected
    row.timing = live ? texts.forLength(board.now - link.since) : ''
    row.detail = upstream.app ? texts.seenOf(upstream.app) : ''
  }
  if (link.state === 'down') {
    row.shape = 'down'
    row.word = texts.words[link.failure.code]
    row.timing = live ? texts.nextTry(link.retryAt - board.now) : ''
    row.detail = texts.failure(link.failure)
  }
  return refusal ? { ...row, detail: texts.failure(refusal.failure) } : row
}

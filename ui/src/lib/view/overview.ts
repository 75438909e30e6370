// The headline and rows of the overview, as pure functions.

import type { Board } from '../state/status'
import * as texts from '../texts/common'
import * as editorTexts from '../texts/editors'
import type { AppStatus, Code, OverallState, UpstreamStatus } from '../types'

/** A gateway that is gone for longer is not just restarting. */
const RESTART_GRACE = 10_000

/** Failures that a gateway restart can cause. Others are shown at once. */
const restartCodes: Code[] = ['connection_lost', 'connection_refused', 'connect_timeout', 'timeout']

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
  /** Follows the word: how long the state has lasted, or when the next attempt is. */
  timing: string
  /** What happened and what to do. Empty if there is no problem. */
  detail: string
  /** The label of the button. Empty if there is no action. */
  action: string
  /** Whether the action solves a problem. */
  urgent: boolean
  /** Whether the action is available: not while it is in progress, and not without a gateway. */
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
      if (!restartCodes.includes(failure.code)) {
        return { shape: 'down', sentence: failure.what, detail: failure.remedy }
      }
      if (now - since < RESTART_GRACE) {
        return { shape: 'busy', sentence: texts.restarting, detail: texts.soonBack }
      }
      return { shape: 'down', sentence: texts.away, detail: failure.remedy }
    }
    case 'starting':
    case 'locked':
      return { shape: 'busy', sentence: texts.starting, detail: texts.soonBack }
  }
}

/** The age of the state on the page, or `undefined` if it is live. */
export function ageOf({ presence, status, now }: Board): number | undefined {
  if (!status || presence.kind === 'serving') return undefined
  return presence.kind === 'lost' ? now - presence.since : 0
}

export function rowsOf(board: Board): Row[] {
  return (board.status?.upstreams ?? []).map((upstream) => rowOf(upstream, board))
}

export interface EditorRow {
  name: string
  /** When its token was created and when it was last seen. */
  detail: string
  /** How much it sees. */
  sees: string
  /** Advice about how much it sees. */
  hint: string
  /** Why its token was not revoked. Empty otherwise. */
  refusal: string
  /** False for Evermoor's own token. */
  revocable: boolean
  /** Whether the token can be revoked now. */
  ready: boolean
}

export function editorsOf(board: Board): EditorRow[] {
  const live = board.presence.kind === 'serving'
  return (board.status?.editors ?? []).map(({ name, made, seen, own, shown, hint }) => {
    const revocation = board.revoking[name]
    return {
      name,
      detail: `${editorTexts.tokenCreated(made, board.now)}, ${editorTexts.lastSeen(seen, board.now)}`,
      sees: shown ? editorTexts.sees(shown) : '',
      hint: hint ?? '',
      refusal: revocation?.failure ? texts.failure(revocation.failure) : '',
      revocable: !own,
      ready: live && (!revocation || revocation.failure !== undefined),
    }
  })
}

/** The row with an urgent action, if there is exactly one and a gateway is running. */
export function helpOf(board: Board): Row | undefined {
  const urgent = rowsOf(board).filter((row) => row.urgent)
  return urgent.length === 1 && board.presence.kind === 'serving' ? urgent[0] : undefined
}

/** The latest step of the restart in progress, if there is one. */
function restartStep(app: AppStatus | null): string | undefined {
  const restart = app?.restart
  return restart && !restart.end ? restart.steps.at(-1)?.what : undefined
}

function rowOf(upstream: UpstreamStatus, board: Board): Row {
  const live = board.presence.kind === 'serving'
  const requested = upstream.name in board.requested
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
    ready: live && !requested,
  }
  if (link.state === 'off') {
    return { ...row, shape: 'paused', word: texts.off, tools: '', detail: texts.offDetail, action: '', ready: false }
  }
  if (link.state === 'paused') {
    row.shape = 'paused'
    row.word = texts.paused
    row.timing = live ? texts.forLength(board.now - link.since) : ''
    row.action = texts.resume
    if (requested) return { ...row, shape: 'busy', word: texts.connecting, timing: '' }
  }
  if (requested) return { ...row, word: isAddress ? texts.isReconnecting : texts.isRestarting }
  const step = restartStep(upstream.app)
  if (step) return { ...row, word: texts.isRestarting, detail: step, ready: false }
  if (link.state === 'connected') {
    row.shape = 'healthy'
    row.word = texts.connected
    row.timing = live ? texts.forLength(board.now - link.since) : ''
    row.detail = upstream.app ? texts.appDetail(upstream.app) : ''
  }
  if (link.state === 'down') {
    row.shape = 'down'
    row.word = texts.words[link.failure.code]
    row.timing = live ? texts.nextTry(link.retryAt - board.now) : ''
    row.detail = texts.failure(link.failure)
  }
  return refusal ? { ...row, detail: texts.failure(refusal.failure) } : row
}

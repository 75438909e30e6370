// A row of the server list, as a pure function of the status.

import type { Board } from '../state/status'
import * as texts from '../texts/common'
import type { AppStatus, OverallState, UpstreamStatus } from '../types'

export interface UpstreamRow {
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
  /** Connected, and nothing to do: one line is enough. */
  calm: boolean
  /** The label of the button. Empty if there is no action. */
  action: string
  /** Whether the action is to sign in, which the server's page does. */
  signsIn: boolean
  /** Whether the action solves a problem. */
  urgent: boolean
  /** Whether the action is available: not while it is in progress, and not without a gateway. */
  ready: boolean
}

export function rowsOf(board: Board): UpstreamRow[] {
  return (board.status?.upstreams ?? []).map((upstream) => rowOf(upstream, board))
}

/** The row with an urgent action, if there is exactly one and a gateway is running. */
export function helpOf(board: Board): UpstreamRow | undefined {
  const urgent = rowsOf(board).filter((row) => row.urgent)
  return urgent.length === 1 && board.presence.kind === 'serving' ? urgent[0] : undefined
}

/** The latest step of the restart in progress, if there is one. */
function restartStep(app: AppStatus | null): string | undefined {
  const restart = app?.restart
  return restart && !restart.end ? restart.steps.at(-1)?.what : undefined
}

/** Whether an application needs nothing from the user. */
function isCalm({ next, offer, notes }: AppStatus): boolean {
  return next === 'nothing' && !offer && notes.length === 0
}

function rowOf(upstream: UpstreamStatus, board: Board): UpstreamRow {
  const live = board.presence.kind === 'serving'
  const requested = upstream.name in board.requested
  const refusal = board.refused[upstream.name]
  const { name, title, target, link } = upstream
  // Restarting an application restarts its program; restarting an address only replaces the connection.
  const isAddress = upstream.app === null && /^https?:/.test(target)
  const row: UpstreamRow = {
    name,
    title,
    target,
    tools: texts.tools(upstream),
    shape: 'busy',
    word: texts.connecting,
    timing: '',
    detail: '',
    calm: false,
    action: isAddress ? texts.reconnect : texts.restart,
    signsIn: false,
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
    row.calm = !refusal && (!upstream.app || isCalm(upstream.app))
  }
  if (link.state === 'down') {
    row.shape = 'down'
    row.word = texts.words[link.failure.code]
    row.timing = live ? texts.nextTry(link.retryAt - board.now) : ''
    row.detail = texts.failure(link.failure)
    row.signsIn = upstream.signIn?.isNeeded ?? false
    if (row.signsIn) row.action = texts.signIn
  }
  return refusal ? { ...row, detail: texts.failure(refusal.failure) } : row
}

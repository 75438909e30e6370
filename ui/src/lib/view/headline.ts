// The headline of a page, as a pure function, and the age of the state on it.

import type { Board } from '../state/status'
import * as texts from '../texts/common'
import type { Code, OverallState } from '../types'

/** A gateway that is gone for longer is not just restarting. */
const RESTART_GRACE = 10_000

/** Failures that a gateway restart can cause. Others are shown at once. */
const restartCodes: Code[] = ['connection_lost', 'connection_refused', 'connect_timeout', 'timeout']

export interface Headline {
  shape: OverallState
  sentence: string
  detail: string
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
    case 'stopped':
      return { shape: 'paused', sentence: texts.stopped, detail: texts.startAgain }
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

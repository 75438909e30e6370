// A row of the list of editors, as a pure function of the status.

import type { Board } from '../state/status'
import * as texts from '../texts/common'
import * as editorTexts from '../texts/editors'

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

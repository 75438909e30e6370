// What a tool says of itself. It is a hint, never a promise.

import type { ToolListing } from '../types'

export function hintsOf({ annotations }: ToolListing): { readOnly: boolean; destructive: boolean } {
  const said = (annotations ?? {}) as { readOnlyHint?: unknown; destructiveHint?: unknown }
  const readOnly = said.readOnlyHint === true
  return { readOnly, destructive: !readOnly && said.destructiveHint === true }
}

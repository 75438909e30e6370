// Reads a tool's annotations. The server sets them, and they may be wrong.

import type { ToolListing } from '../types'

export function hintsOf({ annotations }: ToolListing): { readOnly: boolean; destructive: boolean } {
  const hints = (annotations ?? {}) as { readOnlyHint?: unknown; destructiveHint?: unknown }
  const readOnly = hints.readOnlyHint === true
  return { readOnly, destructive: !readOnly && hints.destructiveHint === true }
}

// The texts of the page that is shown without a token.

export const title = 'This page needs a new link'
export const stale = 'The link was already used or has expired.'
export const remedy = 'Run this in a terminal, or choose Open Evermoor in the tray menu.'

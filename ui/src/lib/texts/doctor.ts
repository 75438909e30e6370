// The doctor's texts.

import { count } from '../view/format'

export const looking = 'Looking at everything once…'
export const about = 'Each check looks at the real thing: files, ports, programs and the endpoint itself.'
export const sentence = (bad: number, all: number) => {
  if (all === 0) return 'There is nothing to check'
  return bad ? `${count(bad, 'thing')} ${bad === 1 ? 'needs' : 'need'} attention` : 'Everything is as it should be'
}
export const checkAgain = 'Check again'
export const checking = 'Checking…'
export const fix = 'Fix'
export const fixing = 'Fixing…'
export const states = { good: 'Good', bad: 'Needs attention', skipped: 'Not checked' }

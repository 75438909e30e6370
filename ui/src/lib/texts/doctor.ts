// The doctor's texts.

import { count } from '../view/format'

export const looking = 'Running all checks…'
export const about = 'Each check tests the real thing: files, ports, programs and the endpoint itself.'
export const sentence = (bad: number, all: number) => {
  if (all === 0) return 'There is nothing to check'
  return bad ? `${count(bad, 'check')} ${bad === 1 ? 'needs' : 'need'} attention` : 'All checks passed'
}
export const checkAgain = 'Check again'
export const checking = 'Checking…'
export const fix = 'Fix'
export const fixing = 'Fixing…'
export const states = { good: 'Passed', bad: 'Needs attention', skipped: 'Not checked' }

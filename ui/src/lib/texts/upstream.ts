// The upstream page's texts.

import type { FormField } from '../view/form'
import { bytes, count, milliseconds, sentence } from '../view/format'

export const unknown = (name: string) => `There is no server “${name}”`
export const unknownDetail = 'It may have been removed from the configuration.'
export const tabs = { health: 'Health', tools: 'Tools', log: 'Log', incidents: 'Incidents' }
export const reconnectOnly = 'Reconnect only'
export const turnOff = 'Turn off'
export const turnOn = 'Turn on'
export const turning = 'Saving…'
export const offDetail = 'Turned off in config.toml. Evermoor does not connect to it.'

export const signingIn = 'Asking the server…'
export const signInWaits = (title: string) => `Waiting for your sign-in to ${title} in the browser.`
export const signInPage = 'Open the page'
export const account = 'Account'
export const signInCode = (url: string) => `Or open ${url} on any device and enter the code`
export const cancelSignIn = 'Cancel'

export const lastDay = 'Last 24 hours'
export const memory = 'Memory'
export const latency = 'Latency'
export const facts = 'Details'
export const crash = 'Last crash'
export const stepsNow = 'Restarting'
export const stepsBefore = 'Last restart'
export const after = (length: number) => `+${(length / 1_000).toFixed(1)} s`

export const memoryNow = 'Memory'
export const median = 'Median'
export const slow = '95th percentile'
export const noLatency = 'No calls in the last few hours.'
export const memorySummary = (last: number, highest: number, alarm: number | null | undefined) =>
  [`Memory: ${bytes(last)} now, ${bytes(highest)} at most`, alarm ? `limit ${bytes(alarm)}` : ''].filter(Boolean).join(', ')
export const tooMuch = (alarm: number) => `limit: ${bytes(alarm)}`
export const latencySummary = (p50: number, p95: number, calls: number) =>
  `Median ${milliseconds(p50)}, 95th percentile ${milliseconds(p95)}; ${count(calls, 'call')} in the last active minute`

export const address = 'Address'
export const endpoint = 'Direct endpoint'
export const theEndpoint = 'the direct endpoint'
export const server = 'Server name'
export const version = 'Version'
export const process = 'Process'
export const processOf = (pid: number, port: number | null) => (port === null ? String(pid) : `${pid}, port ${port}`)
export const load = 'CPU'
export const loadOf = (load: number) => `${(load / 10).toFixed(load < 100 ? 1 : 0)} %`

export const search = 'Search tools'
export const noTools = 'No tools known yet.'
export const noneFound = 'No tool matches.'
export const shownTo = (name: string) => `Show ${name} to editors`
export const readOnly = 'read-only'
export const destructive = 'may change or delete things'
export const tryIt = 'Try'
export const tryTitle = (name: string) => `Try ${name}`
export const tryAbout = 'This makes a real call.'
export const tryCareful = 'This makes a real call, and the tool says it may change or delete things.'
export const noArguments = 'This tool takes no arguments.'
export const call = 'Call'
export const calling = 'Calling…'
export const optional = 'optional'
const written: Partial<Record<FormField['kind'], string>> = { json: 'JSON.', list: 'One per line.' }
export const described = ({ about, kind }: FormField) => [sentence(about), written[kind]].filter(Boolean).join(' ')
export const leaveOut = 'Leave out'
export const yes = 'Yes'
export const no = 'No'
export const wrong = {
  missing: 'Required.',
  number: 'Enter a number.',
  json: 'Enter JSON, such as ["a", "b"] or {"a": 1}.',
}
export const answered = (ms: number) => `Answered in ${milliseconds(ms)}`
export const failedAfter = (ms: number) => `The tool failed after ${milliseconds(ms)}`
export const notDone = (ms: number) => `Not completed after ${milliseconds(ms)}`
export const answer = 'Result'
export const prompts = (amount: number) => count(amount, 'prompt')
export const resources = (amount: number) => count(amount, 'resource')
export const besides = (parts: string[]) => `Also: ${parts.join(' and ')}.`

export const logLabel = 'Log, newest last'
export const noLog = 'Nothing logged yet.'
export const noIncidents = 'No incidents recorded.'

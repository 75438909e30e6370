// The upstream page's texts.

import type { FormField } from './form'
import { bytes, count, milliseconds, sentence } from './format'

export const unknown = (name: string) => `There is no server “${name}”`
export const unknownDetail = 'It may have been taken out of the configuration.'
export const tabs = { health: 'Health', tools: 'Tools', log: 'Log', incidents: 'Incidents' }
export const reconnectOnly = 'Reconnect only'
export const turnOff = 'Turn off'
export const turnOn = 'Turn on'
export const turning = 'Saving…'
export const offDetail = 'It is turned off in config.toml, so nothing connects to it.'

export const lastDay = 'The last 24 hours'
export const memory = 'Memory'
export const latency = 'Time per call'
export const facts = 'Details'
export const crash = 'The last crash'
export const stepsNow = 'Restarting'
export const stepsBefore = 'The last restart'
export const after = (length: number) => `+${(length / 1_000).toFixed(1)} s`

export const memoryNow = 'Memory'
export const median = 'Half under'
export const slow = '95 % under'
export const noLatency = 'No call was made in the last hours.'
export const memorySummary = (last: number, highest: number, alarm: number | null | undefined) =>
  [`Memory: ${bytes(last)} now, ${bytes(highest)} at most`, alarm ? `too much from ${bytes(alarm)} on` : ''].filter(Boolean).join(', ')
export const tooMuch = (alarm: number) => `too much: ${bytes(alarm)}`
export const latencySummary = (p50: number, p95: number, calls: number) =>
  `Half of the calls took less than ${milliseconds(p50)}, 95 % less than ${milliseconds(p95)}; ${count(calls, 'call')} in the last minute that had any`

export const address = 'Where it is'
export const endpoint = 'Its own endpoint'
export const theEndpoint = 'its own endpoint'
export const server = 'Calls itself'
export const version = 'Version'
export const process = 'Process'
export const processOf = (pid: number, port: number | null) => (port === null ? String(pid) : `${pid}, port ${port}`)
export const load = 'Processor'
export const loadOf = (load: number) => `${(load / 10).toFixed(load < 100 ? 1 : 0)} %`

export const search = 'Find a tool'
export const noTools = 'It offers no tools, or none are known yet.'
export const noneFound = 'No tool has this in its name or description.'
export const shownTo = (name: string) => `Show ${name} to editors`
export const readOnly = 'only reads'
export const destructive = 'may change or delete things'
export const tryIt = 'Try'
export const tryTitle = (name: string) => `Try ${name}`
export const tryAbout = 'This makes a real call.'
export const tryCareful = 'This makes a real call, and this tool says that it may change or delete things.'
export const noArguments = 'It takes no arguments.'
export const call = 'Make the call'
export const calling = 'Calling…'
export const optional = 'optional'
const written: Partial<Record<FormField['kind'], string>> = { json: 'Written as JSON.', list: 'One on each line.' }
export const described = ({ about, kind }: FormField) => [sentence(about), written[kind]].filter(Boolean).join(' ')
export const leaveOut = 'Leave out'
export const yes = 'Yes'
export const no = 'No'
export const wrong = {
  missing: 'This is needed.',
  number: 'This has to be a number.',
  json: 'This has to be JSON, such as ["a", "b"] or {"a": 1}.',
}
export const answered = (ms: number) => `Answered in ${milliseconds(ms)}`
export const failedAfter = (ms: number) => `The tool failed after ${milliseconds(ms)}`
export const notDone = (ms: number) => `Not done, after ${milliseconds(ms)}`
export const answer = 'Answer'
export const prompts = (amount: number) => count(amount, 'prompt')
export const resources = (amount: number) => count(amount, 'resource')
export const besides = (parts: string[]) => `Besides: ${parts.join(' and ')}.`

export const logLabel = 'Log, newest last'
export const noLog = 'Nothing has been logged for it yet.'
export const noIncidents = 'It has not failed since its history began.'

// The first run's texts.

import { count, milliseconds } from '../view/format'
import type { DetectedEditor, SelfTest, UpstreamStatus } from '../types'

export const step = (number: number) => `Step ${number} of 3`
export const skip = 'Skip'
export const next = 'Next'
export const back = 'Back'

export const found = (upstreams: UpstreamStatus[], editors: DetectedEditor[]) => {
  const parts = [
    ...(upstreams.length ? [upstreams.map(({ title }) => title).join(', ')] : []),
    ...(editors.length ? [count(editors.length, 'editor')] : []),
  ]
  return parts.length ? `Found: ${parts.join(' and ')}` : 'No servers or editors found yet'
}
export const looking = 'Looking for servers and editors…'
export const foundAbout =
  'Evermoor sits between your editors and their MCP servers and keeps the connection alive when either of them stops. Nothing has been changed so far.'
export const servers = 'Servers'
export const noServers = 'No MCP server is configured. A demo server answers until you add one.'
export const editors = 'Editors on this computer'
export const noEditors = 'No supported editor was found. You can connect any editor by hand later.'

export const pointTitle = 'Point your editors at Evermoor'
export const pointAbout = 'Evermoor adds one entry to each file and keeps a backup. Everything else stays unless you tick it. Each change can be undone.'
export const alreadyConnected = 'is already connected'
export const showChange = 'Show the change'
export const connect = (amount: number) => (amount ? `Connect ${count(amount, 'editor')}` : next)
export const connecting = (title: string) => `Connecting ${title}…`
export const connected = 'Connected'

export const lastTitle = 'Keep it running'
export const lastAbout = 'You can change this later in the settings.'
export const tell = 'Notify me when an application stops'
export const tellAbout = 'One notification when it stays down, with a button to restart it. None for short interruptions.'
export const finish = 'Finish and test'
export const testing = 'Testing the endpoint as an editor would…'
export const works = ({ tools, ms }: SelfTest) => `It works: ${count(tools, 'tool')} in ${milliseconds(ms)}`
export const worksAbout = 'This was a real handshake and a real tool list, at the address your editors use.'
export const doesNot = 'The test failed'
export const remaining = 'Left to do'
export const open = 'Open the overview'
export const testAgain = 'Test again'

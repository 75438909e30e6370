// The first run's texts.

import { count, milliseconds } from '../view/format'
import type { Found, SelfTest, Upstream } from '../types'

export const step = (number: number) => `Step ${number} of 3`
export const skip = 'Skip'
export const next = 'Next'
export const back = 'Back'

export const found = (upstreams: Upstream[], editors: Found[]) => {
  const parts = [
    ...(upstreams.length ? [upstreams.map(({ title }) => title).join(', ')] : []),
    ...(editors.length ? [count(editors.length, 'editor')] : []),
  ]
  return parts.length ? `Found: ${parts.join(' and ')}` : 'Nothing was found yet, and that is fine'
}
export const looking = 'Looking around…'
export const foundAbout =
  'Evermoor stands between your editors and their MCP servers, and keeps the connection when either of them stops. Nothing has been changed so far.'
export const servers = 'What it connects to'
export const noServers = 'No MCP server is set up. The demo answers until you add one.'
export const editors = 'Editors on this machine'
export const noEditors = 'No editor that Evermoor knows was found. You can connect any other by hand later.'

export const pointTitle = 'Point your editors at Evermoor'
export const pointAbout = 'One entry is added to each file, and what else is there stays unless you tick it. A copy of each file is kept, and each change can be undone.'
export const alreadyConnected = 'is connected already'
export const showChange = 'Show the change'
export const connect = (amount: number) => (amount ? `Connect ${count(amount, 'editor')}` : next)
export const connecting = (title: string) => `Connecting ${title}…`
export const connected = 'Connected'

export const lastTitle = 'Keep it running'
export const lastAbout = 'You can change this later, in the settings.'
export const tell = 'Tell me when an application stops'
export const tellAbout = 'One notice when it stays away, with a button to restart it. None for short interruptions.'
export const finish = 'Finish and test'
export const testing = 'Asking the endpoint as an editor would…'
export const works = ({ tools, ms }: SelfTest) => `It works: ${count(tools, 'tool')} in ${milliseconds(ms)}`
export const worksAbout = 'This was a real handshake and a real list of tools, through the address that your editors use.'
export const doesNot = 'The test did not go through'
export const remaining = 'To finish'
export const open = 'Open the overview'
export const testAgain = 'Test again'

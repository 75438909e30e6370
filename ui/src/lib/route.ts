// Where in the dashboard a person is. It stands behind the `#`, so that the tray can name it and
// the browser's own keys go back.

export type Page =
  | 'overview'
  | 'upstream'
  | 'editors'
  | 'activity'
  | 'incidents'
  | 'settings'
  | 'doctor'
  | 'welcome'

export interface Place {
  page: Page
  /** The upstream, on its page. */
  name: string
  /** What was asked for with the place, such as `restart`. */
  wishes: URLSearchParams
}

const plain: Page[] = ['editors', 'activity', 'incidents', 'settings', 'doctor', 'welcome']

/** Anything that is no place is the overview: nobody shall stand before nothing. */
export function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?')
  const [first = '', second = ''] = path.split('/')
  const wishes = new URLSearchParams(query)
  if (first === 'upstreams' && second) return { page: 'upstream', name: decoded(second), wishes }
  const page = plain.find((one) => one === first) ?? 'overview'
  return { page, name: '', wishes }
}

export const hrefOf = (page: Exclude<Page, 'upstream'>) => (page === 'overview' ? '#/' : `#/${page}`)
export const upstreamHref = (name: string) => `#/upstreams/${encodeURIComponent(name)}`

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

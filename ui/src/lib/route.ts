// The current page, as the part of the URL after the `#`, so that the tray can link to a page and the
// browser's back button works.

export type Page =
  | 'overview'
  | 'upstream'
  | 'editors'
  | 'activity'
  | 'incidents'
  | 'settings'
  | 'doctor'
  | 'welcome'

export interface Route {
  page: Page
  /** The upstream's name, on the page of an upstream. */
  name: string
  /** Query parameters, such as `restart`. */
  params: URLSearchParams
}

const plain: Page[] = ['editors', 'activity', 'incidents', 'settings', 'doctor', 'welcome']

/** An unknown path leads to the overview. */
export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?')
  const [first = '', second = ''] = path.split('/')
  const params = new URLSearchParams(query)
  if (first === 'upstreams' && second) return { page: 'upstream', name: decoded(second), params }
  const page = plain.find((one) => one === first) ?? 'overview'
  return { page, name: '', params }
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

// What a tab of the browser has: the token that the one-time code was exchanged for, and requests
// that carry it.

const TOKEN = 'evermoor.token'

/** The token was refused, or there is none. */
export class Locked extends Error {}

/** The one-time code of the address, which is removed from it: it must not be kept or shared. */
export function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get('code') ?? undefined
  if (code) history.replaceState(null, '', location.pathname + location.search)
  return code
}

export async function logIn(code: string) {
  const answer = await fetch('/api/login', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  const refused = answer.status >= 400 && answer.status < 500
  // An old link in a tab that is logged in does no harm.
  if (refused && sessionStorage.getItem(TOKEN)) return
  if (refused) throw new Locked()
  if (!answer.ok) throw new Error(`login answered ${answer.status}`)
  const { token } = (await answer.json()) as { token: string }
  sessionStorage.setItem(TOKEN, token)
}

export function logOut() {
  sessionStorage.removeItem(TOKEN)
}

export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const token = sessionStorage.getItem(TOKEN)
  if (!token) throw new Locked()
  const json: Record<string, string> = init.body === undefined ? {} : { 'Content-Type': 'application/json' }
  const answer = await fetch(path, {
    ...init,
    cache: 'no-store',
    headers: { Authorization: `Bearer ${token}`, ...json },
  })
  if (answer.status === 401) throw new Locked()
  return answer
}

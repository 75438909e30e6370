// The session of a browser tab: exchanges the one-time code for a token, and sends requests with it.

const TOKEN = 'evermoor.token'

/** The gateway rejected the token, or there is none. */
export class Locked extends Error {}

/** Takes the one-time code from the URL and removes it there, so that it is not saved or shared. */
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
  // The tab is already logged in, so an old link does not matter.
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

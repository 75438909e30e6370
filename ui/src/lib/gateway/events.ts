// Reads server-sent events from a fetch body, because `EventSource` cannot send the token in a header.

export interface ServerEvent {
  event: string
  data: string
}

/** Parses events from chunks of text, which may end anywhere. */
export class EventParser {
  #rest = ''
  #event = ''
  #data: string[] = []

  push(chunk: string): ServerEvent[] {
    const events: ServerEvent[] = []
    // A carriage return at the end may be half of a line break, so it stays until the next chunk.
    const text = this.#rest + chunk
    const whole = text.endsWith('\r') ? text.slice(0, -1) : text
    const lines = whole.split(/\r\n|\n|\r/)
    this.#rest = (lines.pop() ?? '') + text.slice(whole.length)
    for (const line of lines) {
      const event = this.#take(line)
      if (event) events.push(event)
    }
    return events
  }

  #take(line: string): ServerEvent | undefined {
    if (line === '') return this.#finish()
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') this.#event = value
    if (field === 'data') this.#data.push(value)
    return undefined
  }

  #finish(): ServerEvent | undefined {
    const event = { event: this.#event || 'message', data: this.#data.join('\n') }
    const complete = this.#data.length > 0
    this.#event = ''
    this.#data = []
    return complete ? event : undefined
  }
}

/** For each chunk of a body, the events that it completes. A keepalive comment completes none. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent[]> {
  const parser = new EventParser()
  const decoder = new TextDecoder()
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield parser.push(decoder.decode(value, { stream: true }))
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

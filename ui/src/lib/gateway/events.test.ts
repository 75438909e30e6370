import { expect, test } from 'vitest'

import { EventParser, eventsOf } from './events'

const parse = (...chunks: string[]) => {
  const parser = new EventParser()
  return chunks.flatMap((chunk) => parser.push(chunk))
}

test('an event has a name and data', () => {
  expect(parse('event: status\ndata: {"a":1}\n\n')).toEqual([{ event: 'status', data: '{"a":1}' }])
})

test('an event without a name is a message', () => {
  expect(parse('data:x\n\n')).toEqual([{ event: 'message', data: 'x' }])
})

test('the events do not depend on the chunks', () => {
  const text = 'event: status\r\ndata: one\r\n\r\n: alive\r\n\r\nevent: status\ndata: two\ndata: three\n\n'
  const whole = parse(text)
  expect(whole.map(({ data }) => data)).toEqual(['one', 'two\nthree'])
  for (let size = 1; size < text.length; size++) {
    const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
    expect(parse(...chunks)).toEqual(whole)
  }
})

test('comments, unknown fields and names without data are ignored', () => {
  expect(parse(': alive\n\nid: 7\nretry: 10\n\nevent: status\n\n')).toEqual([])
})

test('an event does not inherit the name of the previous one', () => {
  expect(parse('event: status\n\ndata: x\n\n')).toEqual([{ event: 'message', data: 'x' }])
})

test('only the first space after the colon is removed', () => {
  expect(parse('data:  x\n\n')).toEqual([{ event: 'message', data: ' x' }])
})

test('an incomplete event is dropped', () => {
  expect(parse('data: x\n')).toEqual([])
})

test('a multi-byte character may be split between chunks', async () => {
  const bytes = new TextEncoder().encode('data: Évermoor\n\n')
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes.slice(0, 7))
      controller.enqueue(bytes.slice(7))
      controller.close()
    },
  })
  const events = []
  for await (const some of eventsOf(body)) events.push(...some)
  expect(events).toEqual([{ event: 'message', data: 'Évermoor' }])
})

import { expect, test } from 'vitest'

import { fieldsOf, fill } from './form'

const schema = {
  type: 'object',
  properties: {
    limit: { type: 'integer', default: 10 },
    query: { type: 'string', description: 'The text to look for' },
    state: { type: 'string', enum: ['open', 'closed'] },
    deep: { type: ['boolean', 'null'] },
    ratio: { type: 'number' },
    labels: { type: 'array', items: { type: 'string' } },
    anything: {},
  },
  required: ['query'],
}

test('every property is a field, required ones first', () => {
  expect(fieldsOf(schema).map(({ name, kind }) => [name, kind])).toEqual([
    ['query', 'lines'],
    ['limit', 'integer'],
    ['state', 'choice'],
    ['deep', 'boolean'],
    ['ratio', 'number'],
    ['labels', 'list'],
    ['anything', 'json'],
  ])
})

test('a field starts with the default of its schema', () => {
  expect(fieldsOf(schema).find(({ name }) => name === 'limit')?.initial).toBe('10')
  const choice = { properties: { a: { enum: ['x', 'y'] } }, required: ['a'] }
  expect(fieldsOf(choice)[0]?.initial).toBe('x')
})

test.each([undefined, null, true, 'text', [], { properties: 3 }, { properties: { a: null } }])('%j is no reason to fail', (odd) => {
  expect(() => fill(fieldsOf(odd), {})).not.toThrow()
})

test('empty fields are left out, and values have their type', () => {
  const written = { query: 'x', limit: ' 5 ', state: '', deep: 'false', ratio: '', labels: 'a b\n\n c ', anything: '{"b":1}' }
  expect(fill(fieldsOf(schema), written)).toEqual({
    values: { query: 'x', limit: 5, deep: false, labels: ['a b', 'c'], anything: { b: 1 } },
    wrong: {},
  })
})

test('each invalid field has its own error', () => {
  const written = { query: '', limit: '1.5', ratio: 'much', anything: '[a]' }
  expect(fill(fieldsOf(schema), written).wrong).toEqual({ query: 'missing', limit: 'number', ratio: 'number', anything: 'json' })
})

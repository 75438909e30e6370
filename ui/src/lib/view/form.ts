// Makes a form from a tool's input schema, and arguments from the filled form. Pure.
//
// Only types and required fields are checked here. The server checks the rest of the schema.

export interface FormField {
  name: string
  title: string
  about: string
  required: boolean
  kind: 'text' | 'lines' | 'number' | 'integer' | 'boolean' | 'choice' | 'list' | 'json'
  choices: string[]
  /** The text in the field at first. */
  initial: string
}

export interface Filled {
  values: Record<string, unknown>
  /** Errors by field name. */
  wrong: Record<string, 'missing' | 'number' | 'json'>
}

type Schema = Record<string, unknown>

export function fieldsOf(schema: unknown): FormField[] {
  const { properties, required } = objectOf(schema)
  const needed = Array.isArray(required) ? required : []
  return Object.entries(objectOf(properties))
    .map(([name, property]) => fieldOf(name, objectOf(property), needed.includes(name)))
    .sort((a, b) => Number(b.required) - Number(a.required))
}

function fieldOf(name: string, schema: Schema, required: boolean): FormField {
  const choices = choicesOf(schema)
  const kind = choices.length ? 'choice' : kindOf(schema)
  const first = schema.default ?? (kind === 'choice' && required ? choices[0] : undefined)
  return {
    name,
    title: typeof schema.title === 'string' ? schema.title : name,
    about: typeof schema.description === 'string' ? schema.description : '',
    required,
    kind,
    choices,
    initial: initialOf(kind, first),
  }
}

function initialOf(kind: FormField['kind'], value: unknown): string {
  if (value === undefined) return ''
  if (kind === 'list' && Array.isArray(value)) return value.join('\n')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function choicesOf(schema: Schema): string[] {
  const plain = Array.isArray(schema.enum) ? schema.enum : []
  return plain.every((one) => typeof one === 'string') ? plain : []
}

function kindOf(schema: Schema): FormField['kind'] {
  switch (typeOf(schema)) {
    case 'string':
      return /\b(text|content|body|markdown|query|prompt)\b/i.test(String(schema.description ?? '')) ? 'lines' : 'text'
    case 'number':
      return 'number'
    case 'integer':
      return 'integer'
    case 'boolean':
      return 'boolean'
    case 'array':
      return typeOf(objectOf(schema.items)) === 'string' ? 'list' : 'json'
    default:
      return 'json'
  }
}

/** The type of the schema. A nullable type counts as its other type. */
function typeOf(schema: Schema): unknown {
  if (!Array.isArray(schema.type)) return schema.type
  const types = schema.type.filter((type) => type !== 'null')
  return types.length === 1 ? types[0] : undefined
}

/** Empty fields are left out; an empty required field is an error. */
export function fill(fields: FormField[], written: Record<string, string>): Filled {
  const filled: Filled = { values: {}, wrong: {} }
  for (const field of fields) {
    const text = written[field.name] ?? ''
    const isText = field.kind === 'text' || field.kind === 'lines'
    const empty = isText ? text === '' : text.trim() === ''
    if (!empty) take(field, text, filled)
    else if (field.required) filled.wrong[field.name] = 'missing'
  }
  return filled
}

function take({ name, kind }: FormField, text: string, filled: Filled) {
  switch (kind) {
    case 'number':
    case 'integer': {
      const number = Number(text)
      const good = Number.isFinite(number) && (kind === 'number' || Number.isInteger(number))
      if (good) filled.values[name] = number
      else filled.wrong[name] = 'number'
      return
    }
    case 'boolean':
      filled.values[name] = text === 'true'
      return
    case 'list':
      filled.values[name] = text.split('\n').map((line) => line.trim()).filter(Boolean)
      return
    case 'json':
      try {
        filled.values[name] = JSON.parse(text)
      } catch {
        filled.wrong[name] = 'json'
      }
      return
    default:
      filled.values[name] = text
  }
}

function objectOf(value: unknown): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {}
}

import { render } from '@testing-library/svelte'
import { describe, expect, test } from 'vitest'

import base from './base.css?raw'
import type { OverallState } from '../lib/types'
import StateIcon from '../components/upstream/StateIcon.svelte'

const [light = '', dark = ''] = base.split('@media (prefers-color-scheme: dark)')

describe.each([
  ['light', light],
  ['dark', dark.slice(0, dark.indexOf('*,'))],
])('in the %s theme', (_, css) => {
  const colour = (name: string) => new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(css)?.[1] ?? ''
  const contrast = (one: string, other: string) => {
    const [dim = 0, bright = 0] = [luminance(colour(one)), luminance(colour(other))].sort((a, b) => a - b)
    return (bright + 0.05) / (dim + 0.05)
  }

  test.each(['text', 'muted', 'accent'])('%s has enough contrast on every background', (ink) => {
    expect(contrast(ink, 'ground')).toBeGreaterThanOrEqual(4.5)
    expect(contrast(ink, 'field')).toBeGreaterThanOrEqual(4.5)
  })

  test.each(['added', 'removed'])('text has enough contrast on %s lines', (ground) => {
    expect(contrast('text', ground)).toBeGreaterThanOrEqual(4.5)
    expect(contrast('muted', ground)).toBeGreaterThanOrEqual(4.5)
  })

  test.each(['accent', 'accent-hover'])('the label of a button has enough contrast on %s', (ground) => {
    expect(contrast('accent-text', ground)).toBeGreaterThanOrEqual(4.5)
  })

  test.each(['healthy', 'degraded', 'down', 'faint'])('the %s icon has enough contrast', (ink) => {
    expect(contrast(ink, 'ground')).toBeGreaterThanOrEqual(3)
  })
})

const drawings = import.meta.glob<string>('../../../icons/tray/*.svg', {
  query: '?raw',
  import: 'default',
  eager: true,
})

test.each(Object.entries(drawings))('the icon is the same as in %s', (path, drawing) => {
  const shape = path.replace(/^.*\/|\.svg$/g, '') as OverallState
  const { container } = render(StateIcon, { shape, size: 'small' })
  const tray = new DOMParser().parseFromString(drawing, 'image/svg+xml')
  expect(strokes(container)).toEqual(strokes(tray))
})

function strokes(drawing: ParentNode) {
  return [...drawing.querySelectorAll('path, circle')].map((part) =>
    ['d', 'cx', 'cy', 'r'].map((name) => part.getAttribute(name)),
  )
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

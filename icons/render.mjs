// Renders the artwork into the bitmaps that the operating systems want: `node icons/render.mjs`.
//
// Needs `rsvg-convert` (librsvg). The bitmaps are committed, so only a change of the artwork needs it.
// Everything comes out as 8-bit RGBA PNG, which Tauri demands; .ico and .icns only wrap such PNGs.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const states = ['healthy', 'busy', 'degraded', 'down', 'paused']

// A light taskbar gets dark strokes and the reverse. "any" is for Linux, where the panel's colour
// cannot be asked for: 3:1 or better on white and on the dark panels in use.
const strokes = { light: '#16202b', dark: '#f3f6f9', any: '#7b8b9b' }

// An image in the menu bar is 18 points high. The drawing is 16 units high, so a unit is a point, and a point is one pixel
// or two: every edge that is on the grid of the drawing is on the grid of the screen.
const menuBarBox = viewBox(8, 8, 18)
const fullBox = viewBox(8, 8, 16)

// macOS wants air around an application's icon; the others draw it edge to edge.
const macBox = viewBox(512, 512, 1024)
const tightBox = viewBox(512, 512, 840)

for (const state of states) {
  const shape = source(`tray/${state}.svg`)
  write(`tray/${state}-template.png`, render(shape, menuBarBox, 18, '#000000'))
  write(`tray/${state}-template@2x.png`, render(shape, menuBarBox, 36, '#000000'))
  for (const [panel, stroke] of Object.entries(strokes)) {
    write(`tray/${state}-${panel}.png`, render(shape, fullBox, 32, stroke))
  }
}

const app = source('app.svg')
const tight = (size) => render(app, tightBox, size)
const airy = (size) => render(app, macBox, size)
write('32x32.png', tight(32))
write('128x128.png', tight(128))
write('128x128@2x.png', tight(256))
write('icon.png', tight(512))
write('icon.ico', ico([16, 24, 32, 48, 64, 256].map((size) => [size, tight(size)])))
write('icon.icns', icns([['icp4', 16], ['icp5', 32], ['ic11', 32], ['ic12', 64], ['ic07', 128],
  ['ic13', 256], ['ic08', 256], ['ic14', 512], ['ic09', 512], ['ic10', 1024]]
  .map(([type, size]) => [type, airy(size)])))

function viewBox(centreX, centreY, size) {
  return [centreX - size / 2, centreY - size / 2, size, size].join(' ')
}

function render(svg, box, size, colour = '#000000') {
  const drawing = svg
    .replace(/viewBox="[^"]*" width="\d+" height="\d+"/, `viewBox="${box}" width="${size}" height="${size}"`)
    .replaceAll('currentColor', colour)
  return execFileSync('rsvg-convert', ['--format', 'png'], { input: drawing })
}

// A directory of images, 16 bytes each after a head of 6, then the images.
function ico(images) {
  const directory = Buffer.alloc(6 + 16 * images.length)
  directory.writeUInt16LE(1, 2)
  directory.writeUInt16LE(images.length, 4)
  let offset = directory.length
  images.forEach(([size, png], index) => {
    const entry = 6 + 16 * index
    directory.writeUInt8(size % 256, entry)
    directory.writeUInt8(size % 256, entry + 1)
    directory.writeUInt16LE(1, entry + 4)
    directory.writeUInt16LE(32, entry + 6)
    directory.writeUInt32LE(png.length, entry + 8)
    directory.writeUInt32LE(offset, entry + 12)
    offset += png.length
  })
  return Buffer.concat([directory, ...images.map(([, png]) => png)])
}

// Chunks of a type, a length that counts its own head, and the image.
function icns(images) {
  const chunks = images.map(([type, png]) => chunk(type, png))
  return chunk('icns', Buffer.concat(chunks))
}

function chunk(type, body) {
  const head = Buffer.alloc(8)
  head.write(type, 'ascii')
  head.writeUInt32BE(8 + body.length, 4)
  return Buffer.concat([head, body])
}

function source(name) {
  return readFileSync(path(name), 'utf8')
}

function write(name, bytes) {
  writeFileSync(path(name), bytes)
}

function path(name) {
  return fileURLToPath(new URL(name, import.meta.url))
}

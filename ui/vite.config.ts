// One build for two homes: served at `/` by the gateway, and shown in the Tauri window. Hence the
// relative base, and no inlined assets: both homes have a content policy without `data:`.

import { svelte } from '@sveltejs/vite-plugin-svelte'
import { svelteTesting } from '@testing-library/svelte/vite'
import { defineConfig } from 'vitest/config'

const gateway = 'http://127.0.0.1:7420'

export default defineConfig({
  base: './',
  cacheDir: '../node_modules/.vite',
  plugins: [svelte(), svelteTesting()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
  },
  server: {
    // The marks are drawn in `icons/`, outside this folder.
    fs: { allow: ['..'] },
    // The gateway only answers pages that it served itself.
    proxy: { '/api': { target: gateway, changeOrigin: true, headers: { origin: gateway } } },
  },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.ts'],
    // Styles are empty in tests, but for the one whose colours are measured.
    css: { include: /base\.css/ },
  },
})

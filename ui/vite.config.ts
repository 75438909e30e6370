// One build for two uses: the gateway serves it at `/`, and the Tauri window shows it. The base is
// therefore relative, and no assets are inlined, because both content security policies forbid `data:`.

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
    // The icons are in `icons/`, outside this folder.
    fs: { allow: ['..'] },
    // The gateway accepts requests only from pages that it served itself.
    proxy: { '/api': { target: gateway, changeOrigin: true, headers: { origin: gateway } } },
  },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.ts'],
    // Tests load no styles except the one whose colours they measure.
    css: { include: /base\.css/ },
  },
})

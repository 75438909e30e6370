// Changes to tauri.conf.json for one system or one purpose.

/**
 * On macOS the command line program, as a program that the bundler signs; on Windows its path. Signed updates if there is
 * a key.
 */
export function overlays(system, { signed = false } = {}) {
  const names = [...({ darwin: ["macos"], win32: ["windows"] }[system] ?? []), ...(signed ? ["signed"] : [])];
  return names.flatMap((name) => ["--config", `src-tauri/bundle.${name}.json`]);
}

// latest.json, which the updater reads: the newest version, and the URL and signature of the package for each system.
// `node scripts/package/update-manifest.mjs OWNER/REPOSITORY TAG BUNDLES` prints the part for the packages in a folder.

import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const kinds = [
  { ending: ".AppImage", system: "linux" },
  { ending: ".app.tar.gz", system: "darwin" },
  { ending: "-setup.exe", system: "windows" },
];
const processors = { x64: "x86_64", arm64: "aarch64" };

/** The processors that a package runs on. The one for macOS is universal. */
function supported(system, processor) {
  return system === "darwin" ? Object.values(processors) : [processors[processor] ?? processor];
}

/** The part for these files. Files without a signature are ignored. */
export function latest({ repository, tag, files, read, processor }) {
  const platforms = {};
  for (const { ending, system } of kinds) {
    const file = files.find((name) => name.endsWith(ending) && files.includes(`${name}.sig`));
    if (!file) continue;
    const name = encodeURIComponent(path.basename(file).replaceAll(" ", "."));
    const update = {
      signature: read(`${file}.sig`).trim(),
      url: `https://github.com/${repository}/releases/download/${tag}/${name}`,
    };
    for (const one of supported(system, processor)) platforms[`${system}-${one}`] = update;
  }
  return { version: tag.replace(/^v/, ""), platforms };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [repository, tag, folder] = process.argv.slice(2);
  const files = readdirSync(folder, { recursive: true }).map((name) => path.join(folder, name));
  const read = (name) => readFileSync(name, "utf8");
  process.stdout.write(`${JSON.stringify(latest({ repository, tag, files, read, processor: process.arch }), null, 2)}\n`);
}

import assert from "node:assert/strict";
import { test } from "node:test";

import { latest } from "./update-manifest.mjs";

const given = { repository: "a/b", tag: "v1.4.0", processor: "x64", read: (name) => `signature of ${name}\n` };

test("each signed package is listed with its signature", () => {
  const files = ["x/Evermoor_1.4.0_amd64.AppImage", "x/Evermoor_1.4.0_amd64.AppImage.sig", "x/Evermoor_1.4.0_amd64.deb"];
  assert.deepEqual(latest({ ...given, files }), {
    version: "1.4.0",
    platforms: {
      "linux-x86_64": {
        signature: "signature of x/Evermoor_1.4.0_amd64.AppImage.sig",
        url: "https://github.com/a/b/releases/download/v1.4.0/Evermoor_1.4.0_amd64.AppImage",
      },
    },
  });
});

test("a package without a signature is not an update", () => {
  assert.deepEqual(latest({ ...given, files: ["x/Evermoor.app.tar.gz"] }).platforms, {});
});

test("the universal package of macOS is listed for both processors", () => {
  const files = ["x/Evermoor.app.tar.gz", "x/Evermoor.app.tar.gz.sig"];
  const { platforms } = latest({ ...given, processor: "arm64", files });
  assert.deepEqual(Object.keys(platforms), ["darwin-x86_64", "darwin-aarch64"]);
  assert.deepEqual(platforms["darwin-x86_64"], platforms["darwin-aarch64"]);
});

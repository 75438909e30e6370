import assert from "node:assert/strict";
import { test } from "node:test";

import { pathIn } from "./keychain.mjs";

test("the path of the default keychain is read from what the system prints", () => {
  assert.equal(pathIn('    "/Users/a b/Library/Keychains/login.keychain-db"\n'), "/Users/a b/Library/Keychains/login.keychain-db");
});

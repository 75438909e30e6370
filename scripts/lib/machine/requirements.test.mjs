import assert from "node:assert/strict";
import { test } from "node:test";

import { chooseManager, forTheTests, forTheTray, installCommands, missing, toCompile } from "./requirements.mjs";

const only = (...names) => (name) => names.includes(name);

test("the installed package manager is used", () => {
  for (const program of ["apt-get", "dnf", "zypper", "pacman"]) {
    assert.equal(chooseManager(only(program)).program, program);
  }
  assert.equal(chooseManager(only("brew")), undefined);
});

test("only what is missing is installed", () => {
  const absent = missing(forTheTray, only("pkg-config"), only("webkit2gtk-4.1"));
  assert.deepEqual(absent.map(({ apt }) => apt), ["libayatana-appindicator3-dev"]);
  assert.deepEqual(missing(toCompile, only("cc"), only()), []);
});

test("without pkg-config no library counts as found", () => {
  assert.equal(missing(forTheTray, only(), () => assert.fail("nobody can answer")).length, forTheTray.length);
});

test("a Python module is checked only if Python is installed", () => {
  const [environments] = forTheTests.filter(({ module }) => module);
  const absent = (...modules) => missing([environments], only("python3"), only(), only(...modules)).length;
  assert.equal(absent("ensurepip"), 0);
  assert.equal(absent(), 1);
  assert.equal(missing([environments], only(), only(), () => assert.fail("nobody can answer")).length, 1);
  assert.equal(environments.apt, "python3-venv");
});

test("apt refreshes its lists, then installs without prompts and without recommended packages", () => {
  assert.deepEqual(installCommands(chooseManager(only("apt-get")), toCompile, true), [
    ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "update", "-qq"],
    ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq", "--no-install-recommends", "build-essential"],
  ]);
});

test("users other than root use sudo", () => {
  const [line] = installCommands(chooseManager(only("pacman")), toCompile, false);
  assert.deepEqual(line, ["sudo", "pacman", "-S", "--needed", "--noconfirm", "base-devel"]);
});

test("rpm systems install by program or library name", () => {
  const [line] = installCommands(chooseManager(only("dnf")), forTheTray, true);
  assert.deepEqual(line.slice(-3), ["/usr/bin/pkg-config", "pkgconfig(webkit2gtk-4.1)", "pkgconfig(ayatana-appindicator3-0.1)"]);
});

test("a package for two needs is listed once", () => {
  const [line] = installCommands(chooseManager(only("pacman")), [...forTheTray, ...forTheTests], true);
  assert.equal(line.filter((word) => word === "webkit2gtk-4.1").length, 1);
});

test("every need can be detected and installed on every system", () => {
  for (const need of [...toCompile, ...forTheTray, ...forTheTests]) {
    assert.ok(need.what && need.apt && need.pacman, JSON.stringify(need));
    const ways = [need.program, need.library, need.module].filter(Boolean);
    assert.equal(ways.length, 1, JSON.stringify(need));
  }
});

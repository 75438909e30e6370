// Finds version numbers in the output of tools and compares them.

/** The first version number in a text such as "cargo 1.95.0 (f2d3ce0bd 2026-03-21)", or undefined. */
export function findVersion(text) {
  const found = /\d+(\.\d+)+/.exec(text);
  return found ? found[0] : undefined;
}

/** Whether `version` is `minimum` or newer. Missing parts count as zero. */
export function atLeast(version, minimum) {
  const have = version.split(".").map(Number);
  const want = minimum.split(".").map(Number);
  for (let i = 0; i < Math.max(have.length, want.length); i += 1) {
    const difference = (have[i] || 0) - (want[i] || 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

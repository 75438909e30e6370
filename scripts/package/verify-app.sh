#!/usr/bin/env bash
# Verifies an application on macOS: that all programs are signed, with the hardened runtime, and for which processors.
#
#   scripts/package/verify-app.sh Evermoor.app [arm64] [x86_64]
#
# An application with a Developer ID must also pass Gatekeeper. One with an ad-hoc signature cannot.
set -euo pipefail

app=${1:?usage: scripts/package/verify-app.sh APP [PROCESSOR...]}
shift

codesign --verify --deep --strict --verbose=2 "$app"
for program in evermoor evermoor-shim evermoor-tray; do
  file=$app/Contents/MacOS/$program
  codesign --verify --strict --verbose=2 "$file"
  # Captured first: with pipefail, a `grep -q` that ends early would make codesign fail.
  signature=$(codesign --display --verbose=2 "$file" 2>&1)
  grep -q 'flags=.*runtime' <<<"$signature" || { echo "$program lacks the hardened runtime:"; echo "$signature"; exit 1; }
  for processor; do
    lipo "$file" -verify_arch "$processor" || { echo "$program does not run on $processor"; exit 1; }
  done
done
"$app/Contents/MacOS/evermoor" --version

if codesign --display --verbose=2 "$app" 2>&1 | grep 'Authority=Developer ID' >/dev/null; then
  spctl --assess --type execute --verbose=2 "$app"
  xcrun stapler validate "$app"
else
  echo "The signature is ad hoc. Gatekeeper refuses a downloaded copy until its user allows it:"
  spctl --assess --type execute --verbose=2 "$app" || true
fi

#!/usr/bin/env bash
# Installs Debian's headless Chromium where no Chromium is in PATH.
set -euo pipefail
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
	if command -v "$name" > /dev/null; then exit 0; fi
done
echo "found no Chromium: installing Debian's chromium-headless-shell" >&2
apt-get update -qq
apt-get install -y -qq --no-install-recommends chromium-headless-shell fonts-dejavu-core > /dev/null

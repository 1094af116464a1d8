#!/bin/sh
# Installs Debian's Chromium for the browser tests where that is possible, and says so where not.
set -u
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then
        exit 0
    fi
done
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    echo "Installing Chromium for the browser tests ..."
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null && exit 0
fi
echo "No Chromium here and no right to install it: the browser tests will say so and be skipped." >&2
echo "Install it with: sudo apt-get install chromium" >&2

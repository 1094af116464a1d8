#!/bin/sh
# Installs Debian's browsers for the browser tests where that is possible, and says so where not.
set -u

have() {
    for name in "$@"; do
        command -v "$name" >/dev/null 2>&1 && return 0
    done
    return 1
}

wanted=""
have chromium chromium-browser google-chrome || wanted="chromium"
have firefox-esr || wanted="$wanted firefox-esr"
have Xvfb || wanted="$wanted xvfb" # Firefox has WebGL only on a display
[ -z "$wanted" ] && exit 0

missing="$wanted"
if have apt-get && [ "$(id -u)" = 0 ]; then
    missing=""
    apt-get update -qq
    for package in $wanted; do
        echo "Installing $package for the browser tests ..."
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$package" >/dev/null \
            || missing="$missing $package"
    done
fi
[ -z "$missing" ] && exit 0
echo "Not here, and could not be installed: the browser tests that need them say so and are skipped." >&2
echo "Install them with: sudo apt-get install $(echo $missing)" >&2

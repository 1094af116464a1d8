#!/bin/sh
# Installs Debian's browsers and PDF reader for the tests where that is possible, and says so where not.
set -u

have() {
    for name in "$@"; do
        command -v "$name" >/dev/null 2>&1 && return 0
    done
    return 1
}

updated=""
missing=""

install() {
    if have apt-get && [ "$(id -u)" = 0 ]; then
        [ -n "$updated" ] || apt-get update -qq
        updated="yes"
        echo "Installing $1 for the tests ..."
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$1" >/dev/null && return 0
    fi
    return 1
}

# Chromium without windows takes a fifth less time; the whole of it does as well.
have chromium-headless-shell || install chromium-headless-shell \
    || have chromium chromium-browser google-chrome || install chromium || missing="chromium"
have firefox-esr || install firefox-esr || missing="$missing firefox-esr"
have Xvfb || install xvfb || missing="$missing xvfb" # Firefox has WebGL only on a display
have pdftotext || install poppler-utils || missing="$missing poppler-utils" # reads PDFs back
[ -z "$missing" ] && exit 0
echo "Not here, and could not be installed: the tests that need them say so and are skipped." >&2
echo "Install them with: sudo apt-get install $(echo $missing)" >&2

#!/bin/sh
# Runs the steps of the Containerfile without a container engine: in a new Debian root, offline, as
# another user, with a read-only root file system. Needs root, debootstrap, util-linux and the
# folder wheelhouse/ (make wheelhouse). Prints the answer of /healthz and /readyz.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
[ -d "$source/wheelhouse" ] || { echo "wheelhouse/ is missing. Run: make wheelhouse" >&2; exit 1; }
root=$(mktemp -d)
chmod 755 "$root"
trap 'umount -l "$root" 2>/dev/null || true; rm -rf "$root"' EXIT
debootstrap --variant=minbase --include=python3,python3-venv bookworm "$root" >/dev/null
app=$root/opt/reading-room
mkdir -p "$app" "$root/tmp/wheelhouse"
cp -r "$source/wheelhouse/." "$root/tmp/wheelhouse/"
sed -n '/^COPY wheelhouse/d; s/^COPY \(.*\) [^ ]*$/\1/p' "$source/deploy/Containerfile" | xargs -n 1 |
    (cd "$source" && xargs -I NAME cp -r --parents NAME "$app/")
chroot "$root" useradd --uid 10001 --user-group --home-dir /var/lib/reading-room --create-home reading-room
chroot "$root" unshare --net env -i PATH=/usr/bin:/bin sh -ec '
    cd /opt/reading-room
    python3 -m venv .venv
    .venv/bin/pip install --quiet --no-index --find-links /tmp/wheelhouse --no-cache-dir \
        --no-deps --require-hashes -r requirements.lock
    .venv/bin/python -m compileall -q app.py analysis data pages study ui
    rm -rf /tmp/wheelhouse'
unshare --mount --net sh -eu -s "$root" <<'INSIDE'
root=$1
mount --bind "$root" "$root"
mount -t tmpfs tmpfs "$root/tmp"
mount -t tmpfs -o uid=10001,mode=700 tmpfs "$root/var/lib/reading-room"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -o remount,bind,ro "$root"
ip link set lo up 2>/dev/null || true
chroot --userspec=10001:10001 "$root" env -i PATH=/usr/bin:/bin HOME=/var/lib/reading-room \
    READING_ROOM_DB=/var/lib/reading-room/reading-room.db PYTHONDONTWRITEBYTECODE=1 sh -eu <<'SERVER'
cd /opt/reading-room
! touch app.py 2>/dev/null || { echo "The root file system can be written." >&2; exit 1; }
.venv/bin/python -m study demo --db "$READING_ROOM_DB" --url http://127.0.0.1:8501 --empty
.venv/bin/streamlit run app.py --server.port 8501 >/tmp/log 2>&1 &
trap "kill $!" EXIT
.venv/bin/python - <<'CHECK'
import time
import urllib.request

for path in ("healthz", "readyz"):
    for attempt in range(120):
        try:
            print(path, urllib.request.urlopen(f"http://127.0.0.1:8501/{path}", timeout=5).read().decode())
            break
        except OSError:
            time.sleep(1)
    else:
        raise SystemExit(f"/{path} does not answer.")
CHECK
SERVER
INSIDE

"""How few bytes a film takes without loss, and how long it takes to write and to read them.

Films are the demo's: as they are, and enlarged to 2,048 x 2,500 with fresh quantum noise of a fixed
seed, which is what makes a real film heavy. Each is written in every way of `encoders`, and read by
a worker in a real browser, which says by hash whether every sample came back.
"""

import argparse
import hashlib
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from benchmarks.encoders import EIGHT_BITS, SIXTEEN_BITS, Encoding
from benchmarks.films import HEIGHT, WIDTH, with_noise
from benchmarks.machine import CHROMIUM_FLAGS, chromium
from study.films import Grey

DESCRIPTION = "bytes, server time and browser time of films in every lossless encoding"

SEED = 20250604
_ROOT = Path(__file__).parent.parent
_ASK = """(film) => new Promise((resolve, reject) => {
  const worker = new Worker("/decoders.js", {type: "module"});
  worker.onmessage = ({data}) => { worker.terminate(); resolve(data); };
  worker.onerror = (error) => reject(new Error(error.message));
  worker.postMessage(film);
})"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the benchmark's own options."""
    parser.add_argument("--films", type=int, default=2, help="films of each kind")
    parser.add_argument("--repeats", type=int, default=7, help="how often each is decoded")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure; return one row for each kind of film and encoding."""
    rows = []
    with _served() as (shelf, address), _browser(address) as page:
        for kind, films in _films(args.films).items():
            encodings = EIGHT_BITS if films[0].dtype == np.uint8 else SIXTEEN_BITS
            measured = [_measured(film, encodings, shelf, page, args.repeats) for film in films]
            found = {name: _summary([one[name] for one in measured]) for name in encodings}
            first = found[next(iter(encodings))]
            rows += [_row(kind, name, one, first) for name, one in found.items()]
    return {"width": WIDTH, "height": HEIGHT, "films": args.films, "rows": rows}


def text(result: Mapping[str, Any]) -> str:
    """Return the rows as a table a kind."""
    lines = []
    for kind in dict.fromkeys(row["kind"] for row in result["rows"]):
        lines += ["", f"{kind}: kB, ratio | encode CPU s, ratio | decode ms median, best, ratio"]
        for row in result["rows"]:
            if row["kind"] == kind:
                lines.append(
                    f"  {row['encoding']:36s} {row['bytes'] / 1000:8.0f} {row['bytes_ratio']:.3f} |"
                    f" {row['encode_s']:6.2f} {row['encode_ratio']:6.2f} |"
                    f" {row['decode_ms']:6.0f} {row['decode_best_ms']:5.0f}"
                    f" {row['decode_ratio']:6.2f}{'' if row['exact'] else '  NOT EXACT'}"
                )
    return "\n".join(lines[1:])


def _films(n: int) -> dict[str, list[Grey]]:
    paths = sorted((_ROOT / "data" / "demo" / "films").glob("*.png"))[:n]
    demo = [np.asarray(Image.open(path)).astype(np.uint16) for path in paths]
    rng = np.random.default_rng(SEED)
    large = [_enlarged(film, rng) for film in demo]
    return {
        f"{WIDTH} x {HEIGHT}, 8 bit": [np.rint(film * 255).astype(np.uint8) for film in large],
        f"{WIDTH} x {HEIGHT}, 12 bit": [np.rint(film * 4095).astype(np.uint16) for film in large],
        f"{WIDTH} x {HEIGHT}, 16 bit": [np.rint(film * 65_535).astype(np.uint16) for film in large],
        "demo films, cut to 8 bit": [(film >> 8).astype(np.uint8) for film in demo],
        "demo films, 16 bit": demo,
    }


def _enlarged(film: Grey, rng: np.random.Generator) -> np.ndarray:
    small = Image.fromarray(film.astype(np.float32) / 65_535)
    signal = np.asarray(small.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)).clip(0, 1)
    return with_noise(signal, rng.standard_normal(signal.shape))


def _measured(
    film: Grey,
    encodings: Mapping[str, Encoding],
    shelf: dict[str, tuple[bytes, Encoding]],
    page: Page,
    repeats: int,
) -> dict[str, dict[str, Any]]:
    """Return what a film costs in each encoding."""
    encode_s = {}
    for n, (name, way) in enumerate(encodings.items()):
        start = time.process_time()
        shelf[f"/film/{n}"] = (way.encode(film), way)
        encode_s[name] = time.process_time() - start
    height, width = film.shape
    films = [{"url": url, "decoder": way.decoder} for url, (_, way) in shelf.items()]
    asked = {"films": films, "width": width, "height": height, "bits": 8 * film.dtype.itemsize}
    told = page.evaluate(_ASK, {**asked, "repeats": repeats})
    sha256 = hashlib.sha256(film.tobytes()).hexdigest()
    found = {
        name: {
            "bytes": len(body),
            "encode_s": encode_s[name],
            "decode_ms": statistics.median(one["times_ms"]),
            "decode_best_ms": min(one["times_ms"]),
            "exact": one["sha256"] == sha256,
        }
        for name, (body, _), one in zip(encodings, shelf.values(), told, strict=True)
    }
    shelf.clear()
    return found


def _summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    gathered: dict[str, list[Any]] = defaultdict(list)
    for one in found:
        for key, value in one.items():
            gathered[key].append(value)
    exact = all(gathered.pop("exact"))
    return {**{key: statistics.fmean(each) for key, each in gathered.items()}, "exact": exact}


def _row(kind: str, name: str, one: dict[str, Any], first: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": kind,
        "encoding": name,
        **one,
        "bytes_ratio": one["bytes"] / first["bytes"],
        "encode_ratio": one["encode_s"] / first["encode_s"],
        "decode_ratio": one["decode_ms"] / first["decode_ms"],
    }


@contextmanager
def _served() -> Iterator[tuple[dict[str, tuple[bytes, Encoding]], str]]:
    """Serve films from memory, and the worker with the page's own module."""
    shelf: dict[str, tuple[bytes, Encoding]] = {}
    scripts = {
        "/decoders.js": Path(__file__).with_name("decoders.js"),
        "/js/film-samples.js": _ROOT / "ui" / "viewer" / "js" / "film-samples.js",
    }

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path in shelf:
                body, way = shelf[self.path]
                self._send(body, way.media_type, gzipped=way.gzipped)
            elif self.path in scripts:
                self._send(scripts[self.path].read_bytes(), "text/javascript")
            else:
                self._send(b"<!doctype html><title>encodings</title>", "text/html")

        def _send(self, body: bytes, media_type: str, *, gzipped: bool = False) -> None:
            self.send_response(200)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            if gzipped:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield shelf, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def _browser(address: str) -> Iterator[Page]:
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_FLAGS))
        page = browser.new_page()
        page.goto(address)
        yield page
        browser.close()

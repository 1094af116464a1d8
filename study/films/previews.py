"""Films as small pictures for a page about a case: windowed to eight bits, never clipped."""

import io

import numpy as np
from PIL import Image

from study.films.decoding import Grey


def preview(pixels: Grey, *, low: int, high: int, longest: int = 1600) -> bytes:
    """Return a film as an 8-bit greyscale PNG.

    Parameters
    ----------
    pixels : numpy.ndarray of unsigned int, shape (height, width)
        Grey levels.
    low, high : int
        The film's range of grey levels, shown from black to white.
    longest : int, default 1600
        The longer side at most, in pixels; a smaller film keeps its size.
    """
    span = max(int(high) - int(low), 1)
    shown = np.clip((pixels.astype(np.float32) - low) * (255 / span), 0, 255)
    picture = Image.fromarray(np.rint(shown).astype(np.uint8))
    picture.thumbnail((longest, longest), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    picture.save(out, format="PNG")
    return out.getvalue()

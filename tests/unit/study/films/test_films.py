"""Films have exact grey levels for all file formats; the browser receives only pixels."""

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngInfo

from study.base.errors import BadFile
from study.films import grey_levels, inspect, pack_film
from tests.film_decoder import unpacked

REAL_FILMS = Path(__file__).parents[5] / "shared" / "cxr"


def ramp_film(shape: tuple[int, int] = (23, 31), top: int = 65_535) -> np.ndarray:
    """Return samples of the complete range."""
    n = shape[0] * shape[1]
    samples = (np.arange(n, dtype=np.uint64) * 7919 % (top + 1)).astype(np.uint16)
    samples[-1] = top
    return samples.reshape(shape)


def image_bytes(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    """Return the bytes of an image file."""
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def png_chunk(kind: bytes, body: bytes) -> bytes:
    """Return one PNG chunk."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_bytes(
    width: int, height: int, depth: int, colour: int, rows: bytes, interlace: int = 0
) -> bytes:
    """Return a PNG of a kind that Pillow cannot write."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    return (
        b"\x89PNG\r\n\x1a\n"
        + png_chunk(b"IHDR", header)
        + png_chunk(b"IDAT", zlib.compress(rows))
        + png_chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_sixteen_bits_are_read_without_loss(kind: str) -> None:
    """Samples are neither scaled nor clipped."""
    samples = ramp_film()
    assert np.array_equal(grey_levels(image_bytes(Image.fromarray(samples), kind)), samples)


def test_big_endian_samples_have_the_same_values() -> None:
    """The film is the same as in a little-endian TIFF."""
    samples = ramp_film()
    data = image_bytes(Image.fromarray(samples.astype(">u2")), "TIFF")
    assert data.startswith(b"MM")
    result = grey_levels(data)
    assert np.array_equal(result, samples)
    assert result.dtype == np.uint16


def test_twelve_bits_in_sixteen_are_not_scaled() -> None:
    """The values `bits`, `low` and `high` describe the range in use."""
    samples = ramp_film(top=4095)
    facts = inspect(image_bytes(Image.fromarray(samples)))
    assert (facts.bits, facts.low, facts.high) == (16, 0, 4095)
    assert (facts.width, facts.height) == (31, 23)


def test_32_bit_samples_are_read_if_they_fit_into_16_bits() -> None:
    """A sample above 65,535 is refused."""
    fits = ramp_film().astype(np.int32)
    assert np.array_equal(grey_levels(image_bytes(Image.fromarray(fits), "TIFF")), fits)
    with pytest.raises(BadFile, match="only 0 to 65,535 are supported"):
        grey_levels(image_bytes(Image.fromarray(fits + 1), "TIFF"))
    with pytest.raises(BadFile, match="pixel values -5"):
        grey_levels(image_bytes(Image.fromarray(fits - 5), "TIFF"))


def test_one_bit_is_black_and_white() -> None:
    """The samples are 0 and 255."""
    bits = ramp_film() > 30_000
    assert np.array_equal(grey_levels(image_bytes(Image.fromarray(bits))), np.where(bits, 255, 0))


@pytest.mark.parametrize("mode", ["L", "P", "RGB", "RGBA", "LA"])
def test_grey_levels_are_the_same_in_all_8_bit_modes(mode: str) -> None:
    """Palette, colour and alpha do not change grey levels."""
    levels = np.arange(256, dtype=np.uint8).reshape(16, 16)
    image = Image.fromarray(levels).convert(mode)
    if mode in ("LA", "RGBA"):
        image.putalpha(Image.fromarray(levels[::-1].copy()))
    result = grey_levels(image_bytes(image))
    assert np.array_equal(result, levels)
    assert result.dtype == np.uint8


def test_palette_with_transparency_is_read_without_a_warning() -> None:
    """Transparency is ignored in all notations."""
    image = Image.fromarray(np.arange(256, dtype=np.uint8).reshape(16, 16)).convert("P")
    data = image_bytes(image, transparency=bytes(range(256)))
    assert np.array_equal(grey_levels(data).ravel(), np.arange(256))


def test_colour_is_converted_to_luminance() -> None:
    """The weights are those of ITU-R 601: .299, .587, .114."""
    image = Image.new("RGB", (1, 1), (200, 100, 50))
    assert grey_levels(image_bytes(image))[0, 0] == round(0.299 * 200 + 0.587 * 100 + 0.114 * 50)


def test_an_interlaced_png_gives_the_same_film() -> None:
    """The test writes a film of 2 x 2 in the seven passes of Adam7."""
    rows = b"\0\x12\x34" + b"\0\xab\xcd" + b"\0\x00\x01\xff\xff"
    result = grey_levels(png_bytes(2, 2, 16, 0, rows, interlace=1))
    assert result.tolist() == [[0x1234, 0xABCD], [0x0001, 0xFFFF]]


def test_16_bit_colour_is_refused() -> None:
    """Pillow would silently discard the low bytes."""
    with pytest.raises(BadFile, match="16 bits per channel"):
        grey_levels(png_bytes(1, 1, 16, 2, b"\0" + bytes(6)))


def test_a_tiff_with_white_as_zero_and_more_than_8_bits_is_refused() -> None:
    """Pillow inverts such a TIFF at 8 bits and not at 16, so its polarity would be lost."""
    data = image_bytes(Image.fromarray(ramp_film()), "TIFF", tiffinfo={262: 0})
    with pytest.raises(BadFile, match="0 is white"):
        grey_levels(data)


def test_a_jpeg_film_is_read() -> None:
    """The samples of a smooth film differ by at most three grey levels."""
    levels = np.linspace(0, 255, 64 * 64).reshape(64, 64).astype(np.uint8)
    result = grey_levels(image_bytes(Image.fromarray(levels), "JPEG", quality=95))
    assert np.abs(result.astype(int) - levels).max() <= 3


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_applied(orientation: int) -> None:
    """The film is rotated as browsers do; Pillow's function is the reference."""
    levels = np.zeros((16, 32), dtype=np.uint8)
    levels[:8, :8] = 200
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = image_bytes(Image.fromarray(levels), exif=exif)
    with Image.open(io.BytesIO(data)) as image:
        assert np.array_equal(grey_levels(data), np.asarray(ImageOps.exif_transpose(image)))
    facts = inspect(data)
    assert (facts.height, facts.width) == grey_levels(data).shape


XMP = b"""<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="6"/></x:xmpmeta>"""


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP"])
@pytest.mark.parametrize("orientation", [0, 3])
def test_an_orientation_in_xmp_is_not_applied(kind: str, orientation: int) -> None:
    """Browsers ignore it; an EXIF orientation is still applied."""
    levels = np.zeros((16, 32), dtype=np.uint8)
    levels[:8, :8] = 200
    info = PngInfo()
    info.add_itxt("XML:com.adobe.xmp", XMP.decode())
    options: dict[str, Any] = {"pnginfo": info} if kind == "PNG" else {"xmp": XMP}
    if kind == "TIFF":
        options = {"tiffinfo": {700: XMP}}
    if kind in ("JPEG", "WEBP"):
        options["quality"] = 100
    if orientation:
        exif = Image.Exif()
        exif[0x0112] = orientation
        options["exif"] = exif
        if kind == "TIFF":
            options = {"tiffinfo": {700: XMP, 0x0112: orientation}}
    data = image_bytes(Image.fromarray(levels), kind, **options)
    assert b"tiff:Orientation" in data
    expected = levels[::-1, ::-1] if orientation else levels
    result = grey_levels(data)
    assert result.shape == levels.shape
    assert np.abs(result.astype(int) - expected).max() <= 3


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF"])
def test_a_truncated_file_is_refused_at_every_length(kind: str) -> None:
    """A part of a film is never shown."""
    data = image_bytes(Image.fromarray((ramp_film((64, 64)) >> 8).astype(np.uint8)), kind)
    for end in (0, 1, 20, len(data) // 2, len(data) - 40):
        with pytest.raises(BadFile, match=r"; .*(export|copy)"):
            inspect(data[:end])


def test_a_changed_byte_of_a_png_is_detected() -> None:
    """Unlike Pillow, the program verifies the checksums of pixels."""
    data = bytearray(image_bytes(Image.fromarray(ramp_film((64, 64)))))
    data[len(data) // 2] ^= 1
    with pytest.raises(BadFile, match="damaged"):
        inspect(bytes(data))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not an image"),
        (b"hello", "not an image"),
        (b"%PDF-1.7 and more", "not an image"),
        (bytes(128) + b"DICM" + bytes(50), "DICOM"),
        (b"P5 2 2 4095\n" + bytes(8), "not an image"),
        (png_bytes(10_001, 1, 8, 0, bytes(10_002)), "10001 x 1 pixels"),
        (png_bytes(9_000, 9_000, 1, 0, b""), "9000 x 9000 pixels"),
    ],
)
def test_other_files_are_refused_with_a_remedy(data: bytes, message: str) -> None:
    """The message has the kind of the file and states what to do."""
    with pytest.raises(BadFile, match=message) as refused:
        inspect(data)
    assert "export" in str(refused.value)


def test_a_decompression_bomb_is_refused() -> None:
    """A small file with a declared size of 10 gigapixels is not unpacked."""
    with pytest.raises(BadFile):
        inspect(png_bytes(100_000, 100_000, 8, 0, b""))


def test_several_frames_are_refused() -> None:
    """The file does not state which frame is the film."""
    frames = [Image.new("L", (4, 4), level) for level in (0, 200)]
    with pytest.raises(BadFile, match="2 frames"):
        inspect(image_bytes(frames[0], "TIFF", save_all=True, append_images=frames[1:]))


@given(st.binary(max_size=400), st.integers(0, 300))
def test_random_bytes_are_read_or_refused(noise: bytes, position: int) -> None:
    """No other error occurs."""
    sound = image_bytes(Image.fromarray(ramp_film((8, 8))), "TIFF")
    for data in (noise, sound[:position] + noise + sound[position + len(noise) :]):
        try:
            facts = inspect(data)
        except BadFile:
            continue
        assert facts.width >= 1


@pytest.mark.thorough
@pytest.mark.skipif(not REAL_FILMS.is_dir(), reason="the real radiographs are not on this machine")
def test_real_films_reach_the_browser_without_loss() -> None:
    """Films of all sources are decoded, and the sent film has the same grey levels."""
    paths = [
        path
        for source in sorted(REAL_FILMS.iterdir())
        if source.is_dir()
        for path in sorted(source.iterdir())[:4]
        if path.suffix in (".png", ".jpg", ".jpeg")
    ]
    assert len(paths) >= 8
    for path in paths:
        film = grey_levels(path.read_bytes())[200:500, 100:420]
        assert np.array_equal(unpacked(pack_film(film)), film), path

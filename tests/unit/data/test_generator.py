"""Physics, geometry and measurements of the film generator, tested with small phantoms."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

SKIP_REASON = "needed only to regenerate the demo films, see data/generator/requirements.txt"
pytest.importorskip("scipy", reason=SKIP_REASON)
pytest.importorskip("nibabel", reason=SKIP_REASON)

from data.generator import anatomy, examinations, film, projection  # noqa: E402 (after the skips)
from data.generator.anatomy import Chest  # noqa: E402 (after the skips)
from data.generator.bank import ABILITIES, build_bank, write_predictions  # noqa: E402 (after the skips)

DEMO = Path(__file__).resolve().parents[3] / "data" / "demo"

LABELS = {
    "lung_upper_lobe_right": 1,
    "lung_middle_lobe_right": 2,
    "lung_lower_lobe_right": 3,
    "lung_upper_lobe_left": 4,
    "lung_lower_lobe_left": 5,
    "heart": 6,
    "atrial_appendage_left": 7,
}


def phantom(heart_mm: float = 120.0) -> Chest:
    """Return a phantom, 280 mm wide: a box of water with two box lungs and a box heart."""
    spacing = np.array([2.0, 2.0, 2.0])
    hu = np.full((170, 110, 170), -1000.0, np.float32)
    labels = np.zeros(hu.shape, np.uint8)
    hu[10:160, 10:100, :] = 0.0
    labels[15:155, 20:90, 20:150] = LABELS["lung_upper_lobe_left"]
    labels[85:155, 20:90, 20:150] = LABELS["lung_upper_lobe_right"]
    half = int(heart_mm / 4)
    labels[85 - half : 85 + half, 53:57, 30:80] = LABELS["heart"]
    hu[labels > 0] = -850.0
    hu[labels == LABELS["heart"]] = 45.0
    return Chest(hu=hu, labels=labels, spacing_mm=spacing, names=LABELS)


@pytest.mark.parametrize(
    ("table", "energy_kev", "published_cm2_per_g"),
    [
        (projection.WATER_CM2_PER_G, 40.0, 0.2683),
        (projection.WATER_CM2_PER_G, 60.0, 0.2059),
        (projection.WATER_CM2_PER_G, 100.0, 0.1707),
        (projection.CORTICAL_BONE_CM2_PER_G, 50.0, 0.4242),
        (projection.CORTICAL_BONE_CM2_PER_G, 80.0, 0.2229),
        (projection.TITANIUM_CM2_PER_G, 60.0, 0.7661),
    ],
)
def test_coefficients_equal_those_of_nist(
    table: NDArray[np.float64], energy_kev: float, published_cm2_per_g: float
) -> None:
    """Source: NIST SRD 126 (Hubbell & Seltzer); liquid water, cortical bone (ICRU-44), titanium."""
    assert table[list(projection.ENERGIES_KEV).index(energy_kev)] == published_cm2_per_g


def test_solid_bone_leaves_no_soft_tissue() -> None:
    """At the CT number of cortical bone, the soft tissue is 0, and water is only water."""
    hu = np.array([-1000.0, 0.0, projection.cortical_bone_hu()], np.float32)
    water, bone = projection.material_densities(hu)
    np.testing.assert_allclose(water, [0.0, 1.0, 0.0], atol=1e-5)
    np.testing.assert_allclose(bone, [0.0, 0.0, 1.92], atol=1e-3)


def test_transmission_follows_beer_lambert() -> None:
    """The transmission of 10 cm of water is the weighted sum of five exponentials."""
    depth = np.array([10.0], np.float32)
    nothing = np.zeros(1, np.float32)
    weights = projection.SPECTRUM_WEIGHTS / projection.SPECTRUM_WEIGHTS.sum()
    expected = (weights * np.exp(-10.0 * projection.WATER_CM2_PER_G)).sum()
    assert projection.transmission(depth, nothing, nothing)[0] == pytest.approx(expected)


def test_a_plane_is_magnified_by_detector_distance_over_its_distance() -> None:
    """Points 100 mm apart, 200 mm before the detector, are 100 * 1830 / 1630 mm apart on it."""
    geometry = projection.view_geometry(phantom(), "PA")
    depth = geometry.detector_mm - 200.0
    column, _, _ = geometry.project(np.array([[100.0, depth, 150.0], [200.0, depth, 150.0]]))
    assert abs(column[1] - column[0]) * geometry.pixel_mm == pytest.approx(100 * 1830 / 1630)


def test_the_patients_right_is_at_the_left_of_the_image() -> None:
    """Higher x is the patient's right, and has a lower column on the PA film."""
    geometry = projection.view_geometry(phantom(), "PA")
    column, _, _ = geometry.project(np.array([[100.0, 100.0, 150.0], [200.0, 100.0, 150.0]]))
    assert column[1] < column[0]


def test_the_projection_of_water_has_the_thickness_of_the_phantom() -> None:
    """The central ray passes 180 mm of phantom: 140 mm of lung and 40 mm of water."""
    chest = phantom(heart_mm=0.0)
    geometry = projection.view_geometry(chest, "PA")
    water, bone = projection.project_tissue(chest, geometry)
    row, column = (n // 2 for n in geometry.shape)
    assert water[row, column] == pytest.approx(4.0 + 0.15 * 14.0, rel=0.02)
    assert bone.max() == 0.0


def test_apices_and_sulci_are_on_the_film() -> None:
    """All voxels of the lungs are projected inside both films with a margin."""
    chest = phantom()
    for view in ("PA", "LATERAL"):
        geometry = projection.view_geometry(chest, view)
        points = np.argwhere(chest.lung("left") | chest.lung("right")) * chest.spacing_mm
        column, row, _ = geometry.project(points)
        rows, columns = geometry.shape
        assert row.min() > 20
        assert row.max() < rows - 20
        assert column.min() > 20
        assert column.max() < columns - 20


@pytest.mark.parametrize("heart_mm", [120.0, 168.0])
def test_the_cardiothoracic_ratio_of_a_phantom_is_measured_correctly(heart_mm: float) -> None:
    """The ratio is corrected for the different magnification of the two planes."""
    chest = phantom(heart_mm)
    geometry = projection.view_geometry(chest, "PA")
    back_mm, heart_depth_mm = 20 * 2.0, 53 * 2.0
    widest = np.max(geometry.magnification(np.array([back_mm, 89 * 2.0])))
    nearest = np.max(geometry.magnification(np.array([heart_depth_mm, 56 * 2.0])))
    expected = (heart_mm * nearest) / (280.0 * widest)
    assert examinations.cardiothoracic_ratio(chest, geometry) == pytest.approx(expected, rel=0.02)


def test_the_projection_keeps_the_mass_of_a_device() -> None:
    """The area density of a straight wire, summed over the film, equals its mass."""
    geometry = projection.view_geometry(phantom(), "PA")
    wire = anatomy.solid_tube(
        np.array([[150.0, 100.0, 140.0], [180.0, 100.0, 140.0], [200.0, 100.0, 140.0]]),
        radius_mm=1.0,
        g_per_cm=0.1,
    )
    area = projection.project_devices([wire], geometry)
    pixel_cm2 = (geometry.pixel_mm / geometry.magnification(100.0) / 10.0) ** 2
    assert area.sum() * pixel_cm2 == pytest.approx(0.1 * 5.0, rel=0.02)


def test_a_film_is_read_from_its_png_unchanged(tmp_path: Path) -> None:
    """The pixels read have 16 bits."""
    from PIL import Image

    pixels = np.random.default_rng(1).integers(0, 65536, (40, 30)).astype(np.uint16)
    film.write_png(tmp_path / "film.png", pixels)
    with Image.open(tmp_path / "film.png") as image:
        assert image.mode == "I;16"
        np.testing.assert_array_equal(np.asarray(image), pixels)


def test_levels_span_the_range_evenly() -> None:
    """Grey values from 0 to 1 are written as 1024 levels in steps of 64."""
    levels = film.quantise(np.linspace(0.0, 1.0, 5000)[None, :])
    assert np.unique(levels).size == 1024
    assert set(np.diff(np.unique(levels))) == {64}


def test_better_models_are_correct_more_often(tmp_path: Path) -> None:
    """The share of correct letters follows the simulated abilities over many items."""
    letters = np.random.default_rng(5).choice(list("ABCD"), 800)
    bank = {
        f"{number:04d}": {
            "question": "?",
            "options": ["A. a", "B. b", "C. c", "D. d"],
            "correct_answer": str(letter),
            "task_name": "Presence Assessment",
        }
        for number, letter in enumerate(letters)
    }
    write_predictions(bank, tmp_path, 7)
    share = []
    for name in ABILITIES:
        answers = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
        share.append(
            np.mean([answers[i]["model_prediction"] == bank[i]["correct_answer"] for i in bank])
        )
    assert share[0] > share[1] > share[2] > 0.25


def test_the_committed_bank_equals_the_output_of_the_generator() -> None:
    """All entries of items, options and pixel spacings are compared."""
    stored = json.loads((DEMO / "provenance.json").read_text(encoding="utf-8"))
    committed = json.loads((DEMO / "bank.json").read_text(encoding="utf-8"))
    assert build_bank(stored["examinations"], stored["seed"]) == committed

"""Devices as geometry: points of metal in patient millimetres, projected without any voxel grid.

A catheter is a millimetre wide, about the size of a voxel, so drawing it into the CT would blur it.
Each device is therefore a cloud of small masses that the projector deposits on the detector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STEP_MM = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A cloud of titanium-equivalent masses of one width.

    Attributes
    ----------
    points_mm : ndarray of float64, shape (n, 3)
        Positions in volume millimetres (voxel index times spacing).
    mass_g : float
        Mass of each point in grams of titanium.
    radius_mm : float
        Radius of the little sphere each point stands for.
    """

    points_mm: NDArray[np.float64]
    mass_g: float
    radius_mm: float


def smooth_curve(knots_mm: NDArray[np.float64], step_mm: float = STEP_MM) -> NDArray[np.float64]:
    """Points at equal arc length on a smooth curve through knots (centripetal Catmull-Rom).

    Parameters
    ----------
    knots_mm : ndarray, shape (k, 3)
        Knots in order; k is at least 2.
    step_mm : float
        Distance between neighbouring points.
    """
    knots = np.asarray(knots_mm, dtype=np.float64)
    padded = np.vstack([2 * knots[0] - knots[1], knots, 2 * knots[-1] - knots[-2]])
    t = np.linspace(0.0, 1.0, 60, endpoint=False)[:, None]
    pieces = []
    for a, b, c, d in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        cubic = (-a + 3 * b - 3 * c + d) * t**3 + (2 * a - 5 * b + 4 * c - d) * t**2
        pieces.append(0.5 * (2 * b + (c - a) * t + cubic))
    dense = np.vstack([*pieces, knots[-1:]])
    length = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(dense, axis=0), axis=1))]
    even = np.linspace(0.0, length[-1], max(int(length[-1] / step_mm), 2))
    return np.stack([np.interp(even, length, dense[:, axis]) for axis in range(3)], axis=1)


def tube(knots_mm: NDArray[np.float64], *, radius_mm: float, g_per_cm: float) -> Device:
    """Lay a solid catheter, lead or wire along a smooth curve.

    Parameters
    ----------
    knots_mm : ndarray, shape (k, 3)
        Course of the tube.
    radius_mm : float
        Its radius.
    g_per_cm : float
        Titanium-equivalent mass per centimetre of its length.
    """
    return Device(
        points_mm=smooth_curve(knots_mm), mass_g=g_per_cm * STEP_MM / 10.0, radius_mm=radius_mm
    )


def hollow_tube(
    knots_mm: NDArray[np.float64], *, radius_mm: float, g_per_cm: float, stripe_g_per_cm: float
) -> list[Device]:
    """Lay a tracheal tube: a thin wall, seen as two faint lines, and an opaque stripe."""
    course = smooth_curve(knots_mm, step_mm=0.4)
    angles = np.linspace(0.0, 2 * np.pi, 24, endpoint=False)
    ring = radius_mm * np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
    wall = (course[:, None, :] + ring[None, :, :]).reshape(-1, 3)
    wall_mass_g = g_per_cm * 0.04 / len(angles)
    stripe = tube(
        np.asarray(knots_mm) + np.array([0.6 * radius_mm, 0.8 * radius_mm, 0.0]),
        radius_mm=0.7,
        g_per_cm=stripe_g_per_cm,
    )
    return [Device(points_mm=wall, mass_g=wall_mass_g, radius_mm=0.5), stripe]


def solid(inside_mm: NDArray[np.float64], *, total_g: float, radius_mm: float) -> Device:
    """Make a rigid body of points that fill it evenly (a pacemaker's can, a port's chamber)."""
    return Device(points_mm=inside_mm, mass_g=total_g / len(inside_mm), radius_mm=radius_mm)

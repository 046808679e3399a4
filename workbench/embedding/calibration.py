"""Numbers that belong to an encoder: where its cosines of conflicts and duplicates lie, and what a good match scores.

They differ so much between encoders that one set for all is wrong. ``workbench conflicts FILE`` measures the band of an encoder
on labelled pairs; an encoder object may carry its own values as attributes of the same names.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.config import AssemblyConfig


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """conflict_band: cosines between which a pair is tested for conflict (pairs above it too, before being called duplicates).

    duplicate_threshold: cosine from which a pair without conflict is a near-duplicate. reference_relevance: fused score
    below which even the best match of a store counts as weak. All in [0, 1].
    """

    conflict_band: tuple[float, float]
    duplicate_threshold: float
    reference_relevance: float


# 0.75-0.92 is the reference band of bge-m3; it also serves encoders nobody has measured.
REFERENCE = Calibration(conflict_band=(0.75, 0.92), duplicate_threshold=0.92, reference_relevance=0.60)
MEASURED = {
    "all-MiniLM-L6-v2": Calibration(conflict_band=(0.35, 0.95), duplicate_threshold=0.95, reference_relevance=0.65),
    "BAAI/bge-m3": REFERENCE,
}


def calibration_of(encoder: Any) -> Calibration:
    """The encoder's own values where it has them, else the measured ones by model name, else the reference."""
    base = MEASURED.get(str(encoder.name).partition("@")[0], REFERENCE)
    own = {item.name: getattr(encoder, item.name, None) for item in fields(Calibration)}
    return replace(base, **{name: value for name, value in own.items() if value is not None})


def closed(config: AssemblyConfig, encoder: Any) -> AssemblyConfig:
    """``config`` with the encoder's numbers where it leaves them open."""
    own = calibration_of(encoder)
    missing = {item.name: getattr(own, item.name) for item in fields(Calibration) if getattr(config, item.name) is None}
    return config.filled(missing) if missing else config

"""The result of an A/B comparison: rows, and how they print, render and are kept."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.columns import aligned, screen_width
from workbench.errors import DataError, RunError
from workbench.tabular import Tabular

if TYPE_CHECKING:
    import pandas as pd

    from workbench.reports.cells import Table

SCHEMA = "workbench.comparison/1"


@dataclass(frozen=True, kw_only=True)
class ComparisonRow:
    """One metric of arm b against arm a. Numbers that the data cannot give are None, never NaN.

    n: queries defined for both arms; n_clusters: users among them; n_undefined*: queries left out. difference: mean_b
    - mean_a in the metric's unit, ci95 its interval. p_value raw, p_floor the smallest attainable, p_adjusted after
    Holm and q_value after Benjamini-Hochberg over the family. effect_size: Cohen's d_z over queries. mde: minimum
    detectable effect at 80 % power for this row alone. margin: differences up to it count as equivalent. wins, ties,
    losses: queries on which b is better, equal, worse.
    """

    arm_a: str
    arm_b: str
    metric: str
    unit: str
    higher_is_better: bool
    n: int
    n_clusters: int
    n_undefined: int = 0
    n_undefined_a_only: int = 0
    n_undefined_b_only: int = 0
    mean_a: float | None = None
    mean_b: float | None = None
    difference: float | None = None
    ci95: tuple[float, float] | None = None
    interval_method: str = "not enough data"
    p_value: float | None = None
    p_floor: float | None = None
    p_adjusted: float | None = None
    q_value: float | None = None
    effect_size: float | None = None
    mde: float | None = None
    margin: float | None = None
    wins: int = 0
    ties: int = 0
    losses: int = 0
    verdict: str = "not enough data"
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON: no NaN, tuples as lists."""
        return asdict(self) | {"ci95": None if self.ci95 is None else list(self.ci95)}


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Tabular):
    """Arms against a baseline on the same queries, paired and clustered by user.

    rows: one per arm and metric. primary: the metric corrected on its own (over the arms), if one was named.
    alpha: level of the corrected tests. Prints as a table, renders in notebooks,
    exports with ``to_dataframe``, ``to_dict`` and ``save``.
    """

    baseline: str
    arms: tuple[str, ...]
    alpha: float
    n_resamples: int
    seed: int
    rows: tuple[ComparisonRow, ...]
    primary: str | None = None

    @property
    def family_size(self) -> int:
        """How many tests the p-values are corrected over: the rows with a p-value, those of the primary metric apart."""
        return sum(row.p_value is not None and row.metric != self.primary for row in self.rows)

    @property
    def family(self) -> str:
        """The family, the correction and the test, in one line for every table."""
        others = [row for row in self.rows if row.metric != self.primary]
        metrics = len({row.metric for row in others})
        left_out = len(others) - self.family_size
        first = f"primary metric {self.primary}, corrected over the arms only; other " if self.primary else ""
        without = f" ({left_out} without enough data left out)" if left_out else ""
        return (
            f"{first}family: {metrics} metrics x {len(self.arms)} arm{'s' * (len(self.arms) != 1)} against {self.baseline}, "
            f"{self.family_size} tests{without}; p raw: paired sign-flip test by user; "
            "p Holm: corrected for any false positive; q BH: Benjamini-Hochberg; "
            f"verdicts by p Holm at {self.alpha:g}; intervals 95 %, one row each, by user"
        )

    def __iter__(self) -> Iterator[ComparisonRow]:
        return iter(self.rows)

    def row(self, metric: str, arm: str | None = None) -> ComparisonRow:
        """The row of a metric; name the arm if there are several. Raises DataError if there is none."""
        name = arm if arm is not None or len(self.arms) > 1 else self.arms[0]
        for row in self.rows:
            if row.metric == metric and row.arm_b == name:
                return row
        known = sorted({row.metric for row in self.rows})
        raise DataError(f"no row for metric {metric!r} of arm {name!r}; metrics: {known}, arms: {list(self.arms)}")

    def table(self) -> list[dict[str, str]]:
        """The rows as shown: every number a text with its n, interval and test."""
        return [_cells(row, many=len(self.arms) > 1) for row in self.rows]

    def __str__(self) -> str:
        arms = ", ".join(self.arms)
        head = f"{arms} against {self.baseline} (difference = {arms if len(self.arms) == 1 else 'arm'} - {self.baseline})"
        return "\n".join([head, _text(self.table(), self.rows, many=len(self.arms) > 1), self.family])

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.tables_of import comparison

        return comparison(self)

    def to_dataframe(self) -> pd.DataFrame:
        """One row per arm and metric; ``ci95`` as two columns ``ci95_low`` and ``ci95_high``."""
        import pandas as pd

        records = []
        for row in self.rows:
            record = row.to_dict()
            low, high = record.pop("ci95") or (None, None)
            records.append(record | {"ci95_low": low, "ci95_high": high})
        columns = [field.name for field in fields(ComparisonRow) if field.name != "ci95"] + ["ci95_low", "ci95_high"]
        frame = pd.DataFrame(records, columns=columns)
        numbers = [field.name for field in fields(ComparisonRow) if field.type == "float | None"]
        return frame.astype(dict.fromkeys([*numbers, "ci95_low", "ci95_high"], "float64"))

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON with the family, the correction and the settings."""
        return {
            "schema": SCHEMA,
            "baseline": self.baseline,
            "arms": list(self.arms),
            "difference": "arm minus baseline",
            "alpha": self.alpha,
            "family": {
                "size": self.family_size,
                "p_adjusted": "Holm",
                "q_value": "Benjamini-Hochberg",
                "text": self.family,
            },
            "n_resamples": self.n_resamples,
            "seed": self.seed,
            "primary": self.primary,
            "rows": [row.to_dict() for row in self.rows],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Comparison:
        """The inverse of ``to_dict``. Raises DataError on anything else."""
        if not isinstance(data, Mapping) or data.get("schema") != SCHEMA:
            found = data.get("schema") if isinstance(data, Mapping) else data
            raise DataError(f"not a saved comparison: schema is {found!r}, must be {SCHEMA!r}")
        try:
            rows = tuple(
                ComparisonRow(**{**row, "ci95": None if row["ci95"] is None else tuple(row["ci95"])}) for row in data["rows"]
            )
            return cls(
                baseline=data["baseline"],
                arms=tuple(data["arms"]),
                alpha=data["alpha"],
                n_resamples=data["n_resamples"],
                seed=data["seed"],
                rows=rows,
                primary=data.get("primary"),
            )
        except (KeyError, TypeError) as error:
            raise DataError(f"saved comparison is damaged: {error}; compare again") from None

    def save(self, path: str | Path) -> None:
        """Write as JSON; the file is complete or not there."""
        target = Path(path)
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            part.write_text(json.dumps(self.to_dict(), indent=1, allow_nan=False, ensure_ascii=False), encoding="utf-8")
            part.replace(target)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise RunError(f"cannot write {target}: {error}") from None

    @classmethod
    def load(cls, path: str | Path) -> Comparison:
        """Read what ``save`` wrote. Raises DataError if the file is missing or is something else."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(f"cannot read a comparison from {path}: {error}") from None
        return cls.from_dict(data)


def _cells(row: ComparisonRow, *, many: bool) -> dict[str, str]:
    digits = 3 if row.unit == "share" else 1
    interval = None if row.ci95 is None else f"[{_number(row.ci95[0], digits, '+')}, {_number(row.ci95[1], digits, '+')}]"
    left_out = row.n_undefined + row.n_undefined_a_only + row.n_undefined_b_only
    arm = {"arm": row.arm_b} if many else {}
    return arm | {
        "metric": f"{row.metric} {'↑' if row.higher_is_better else '↓'}",
        "n": f"{row.n} ({left_out} undefined)" if left_out else str(row.n),
        "users": str(row.n_clusters),
        row.arm_a if not many else "baseline": _number(row.mean_a, digits),
        row.arm_b if not many else "value": _number(row.mean_b, digits),
        "difference": _number(row.difference, digits, "+"),
        "95 % interval": interval or "–",
        "p raw": _p(row.p_value),
        "p Holm": _p(row.p_adjusted),
        "q BH": _p(row.q_value),
        "d_z": _number(row.effect_size, 2, "+"),
        "detectable": _number(row.mde, digits),
        "margin": _number(row.margin, digits),
        "win/tie/loss": f"{row.wins}/{row.ties}/{row.losses}",
        "verdict": row.verdict,
        "note": row.note,
    }


def _number(value: float | None, digits: int, sign: str = "") -> str:
    """A number as text; one that is not 0 never shows as 0."""
    if value is None:
        return "–"
    text = f"{value:{sign}.{digits}f}"
    return f"{value:{sign}.1e}" if value and not float(text) else text


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _text(table: list[dict[str, str]], rows: Sequence[ComparisonRow], *, many: bool) -> str:
    """The table as text. On a narrow screen what decides stands first, and the remarks below, each once."""
    if not table:
        return "(nothing compared)"
    if screen_width() is None:
        return aligned([{name: " ".join(cell.split()) for name, cell in cells.items()} for cells in table], right=frozenset())
    keys = ["arm", "metric"] if many else ["metric"]
    first = [*keys, "difference", "95 % interval", "p Holm", "verdict", "n"]
    cells = []
    remarks: dict[str, list[str]] = {}
    for shown, row in zip(table, rows, strict=True):
        rest = {name: cell for name, cell in shown.items() if name not in (*first, "note")}
        left_out = row.n_undefined + row.n_undefined_a_only + row.n_undefined_b_only
        cells.append({**{name: shown[name] for name in first}, "n": str(row.n), "undefined": str(left_out), **rest})
        if row.note:
            remarks.setdefault(row.note, []).append(f"{row.arm_b} {row.metric}" if many else row.metric)
    words = frozenset((*keys, "verdict"))
    notes = [f"{', '.join(names)}: {note}" for note, names in remarks.items()]
    return "\n".join([aligned(cells, keys=len(keys), right=frozenset(cells[0]) - words), *notes])

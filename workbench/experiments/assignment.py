"""Which user gets which arm in a live trial: a pure function of the user, the arms and a salt."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from workbench.errors import ConfigError


def assign_arm(user_id: str, arms: Sequence[str], *, salt: str) -> str:
    """The arm of a user: always the same one, in any process, without a table.

    arms: distinct names in a fixed order, each gets an equal share of users. salt: name of the trial; another salt
    gives an independent assignment, so that one trial's arms do not line up with the next one's. The first 8 bytes of
    a SHA-256 over salt and user, read as a fraction of 2^64, pick the arm. Raises ConfigError on bad arms or names.
    """
    for name, value in (("user_id", user_id), ("salt", salt)):
        if not isinstance(value, str) or not value:
            raise ConfigError(f"{name} is {value!r}: must be non-empty text")
    if isinstance(arms, str) or not arms or not all(isinstance(arm, str) and arm for arm in arms):
        raise ConfigError(f"arms is {arms!r}: must be a list of names")
    if len(set(arms)) < len(arms):
        raise ConfigError(f"arms is {list(arms)!r}: names must differ")
    digest = hashlib.sha256(json.dumps([salt, user_id]).encode()).digest()
    return arms[(int.from_bytes(digest[:8]) * len(arms)) >> 64]

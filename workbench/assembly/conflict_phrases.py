"""Which words around a verb of ending or moving say what ended, and what moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from workbench.assembly.conflict_lexicon import word_set

_AWAY = word_set("de von aus da do")
_TOWARDS = word_set("a para nach al")
_GOALS = word_set("to into onto over from a al para zu nach in auf von de pelo por")


def theme(
    behind: Sequence[str], ahead: Sequence[str], links: Mapping[str, str], breaks: Set[int], at: int, passive: bool
) -> tuple[str, ...]:
    """Keys of the noun phrase that ended (English order).

    Args:
        behind: keys behind the verb.
        ahead: keys in front of it.
        links: key -> the preposition in front of it.
        breaks: numbers of keys read before each "and" or comma.
        at: number of keys read before the verb.
        passive: the verb is passive ("was cancelled"), so what ended stands in front.

    Returns:
        The phrase behind an active verb, up to the next preposition or break, else all that is in front.
    """
    if passive or not behind:
        return tuple(ahead)
    for position, key in enumerate(behind):
        if position and (key in links or at + position in breaks):
            return tuple(behind[:position])
    return tuple(behind)


def goal(behind: Sequence[str], links: Mapping[str, str], language: str, switched: bool) -> tuple[int, tuple[str, ...]]:
    """What a verb of moving moves.

    Returns:
        (2, ()) if the subject itself moved: a goal follows the verb at once ("moved to Leeds"), or word order does not tell;
        (1, keys) if something else did ("switched supplier to ..."), with the keys of it; (0, ()) without a goal. A tool
        somebody "moved over to" is never a place to live.
    """
    if language != "en":
        return 2, ()
    for position, key in enumerate(behind[:5]):
        if links.get(key) in _GOALS:
            return (1 if position or switched else 2), tuple(behind[:position])
    return 0, ()


def source(behind: Sequence[str], links: Mapping[str, str], language: str, names: Set[str]) -> tuple[str, ...]:
    """What something moved away from: keys behind "from"; in other languages names behind "de", "von", ... if a goal follows."""
    if language == "en":
        return tuple(key for key in behind if links.get(key) == "from")
    for position, key in enumerate(behind):
        if links.get(key) in _TOWARDS:
            return tuple(one for one in behind[:position] if links.get(one) in _AWAY and one in names)
    return ()

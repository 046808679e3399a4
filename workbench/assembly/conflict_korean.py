"""Korean tokens for the conflict test: cut particles and common endings so that forms of one word share a key.

This is no morphological analysis: suffixes are cut from a fixed list, longest first, and a stem keeps at least one syllable.
"""

from __future__ import annotations


def _longest_first(text: str) -> tuple[str, ...]:
    return tuple(sorted(text.split(), key=lambda item: (-len(item), item)))


_PARTICLES = _longest_first("""
    에서는 에게는 으로는 에서도 까지는 부터는 이라는 에서 에게 한테 으로 까지 부터 처럼 보다 마다
    이나 이랑 에는 에도 과는 와는 로는 은 는 이 가 을 를 에 의 로 와 과 도 만 랑 께서 께 이다
    다 이며 이고 이지만 입니다 이에요 예요 이라 라고
""")
_ENDINGS = _longest_first("""
    한다 했다 합니다 했습니다 하는 하고 하며 하던 하기 해서 하다 하지 하면 해요 했어요 할 한 했으며
    하셨다 하신다 할게 었다 았다 였다 습니다 는다 었습니다 았습니다 었으며 았으며 었고 았고 으며 고
    며 지 던 는 던 어서 아서 어요 아요 겠다 다 니 면 기 을 은 으면 게 었어 았어 려고 는데 지만
    으니 어야 아야 졌다 진다 졌고 됐다 되었다 된다 되어 겨서 였고
""")
_HA = _longest_first("""
    한다 했다 합니다 했습니다 하는 하고 하며 하기 해서 하다 하지 하면 해요 했어요 할 한 했으며 하니
    하던 했고 해야 하신다
""")


def past(token: str) -> bool:
    """Whether a predicate shows the past suffix (었/았/였/했/갔/왔/...): a final consonant ㅆ before a closing ending."""
    for ending in ("다", "습니다", "어", "어요", "고", "으며", "는데", "지만", "던"):
        if token.endswith(ending) and len(token) > len(ending):
            code = ord(token[-len(ending) - 1]) - 0xAC00
            if 0 <= code < 11172 and code % 28 == 20 and token[-len(ending) - 1] not in "있겠":
                return True
    return False


def conditional(token: str) -> bool:
    """Whether a predicate ends as a condition (-면)."""
    return len(token) > 2 and token.endswith("면") and not token.endswith(("라면", "측면", "냉면", "정면", "표면"))


def negated(token: str) -> bool:
    """Whether the token itself carries a negation (안, 못, 않-, 없-, 아니-, 말-)."""
    if token in ("안", "못"):
        return True
    return token.startswith(("않", "없", "아니", "말아", "말고", "마세요", "못했", "못한", "못하")) or "없" in token[1:]


def stems(token: str) -> tuple[str, ...]:
    """Candidate stems of a token, most specific first; the last one is the fallback key."""
    found: list[str] = [token]
    for ending in _HA:
        if token.endswith(ending) and len(token) > len(ending):
            found.append(token[: -len(ending)] + "하")
            break
    for table in (_PARTICLES, _ENDINGS):
        for ending in table:
            if token.endswith(ending) and len(token) > len(ending):
                found.append(token[: -len(ending)])
                break
    shortest = min(found[1:], key=len) if len(found) > 1 else token
    for ending in _PARTICLES:
        if shortest.endswith(ending) and len(shortest) - len(ending) >= 2:
            found.append(shortest[: -len(ending)])
            break
    return tuple(found)


def key(token: str) -> str:
    """The fallback content key: the shortest stem of at least two syllables, else the token, cut to three syllables."""
    candidates = [item for item in stems(token) if len(item) >= 2] or [token]
    return min(candidates, key=lambda item: (len(item), item))[:3]

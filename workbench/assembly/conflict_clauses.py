"""The state of reading one sentence from left to right: subject, polarity and topic of every clause."""

from __future__ import annotations

from workbench.assembly.conflict_lexicon import FLAGS, Lexicon, Word, word_set
from workbench.assembly.conflict_phrases import goal, source, theme
from workbench.assembly.conflict_statement import Clause, reach
from workbench.assembly.conflict_units import Value

F = FLAGS
_NEG, _NONEG, _NEVER, _END, _ENDWORD = F["neg"], F["noneg"], F["never"], F["end"], F["endword"]
_PAST, _PART, _AUX, _BE, _IF = F["past"], F["participle"], F["aux"], F["be"], F["if"]
_MOVE, _RELOCATE, _SEPARABLE, _PARTICLE = F["move"], F["relocate"], F["separable"], F["particle"]
_SELF, _NOM, _FIRST, _MINE, _KIN, _GEN = F["self"], F["nom"], F["first"], F["mine"], F["kin"], F["genitive"]
_CAP, _NAME, _CODE, _WEAK, _UNIQ, _UNIQADJ = F["cap"], F["name"], F["code"], F["weak"], F["uniq"], F["uniqadj"]
_INDEF, _POSS, _PREP, _FUNC, _GREET = F["indef"], F["poss"], F["prep"], F["func"], F["greet"]
_PREDICATE = _AUX | _PAST | _NEG | F["end"] | F["move"] | F["relocate"] | _PART | F["pref"]
_CONCORD = word_set("es pt")
_USERS = word_set("user usuario usuaria usuário usuária nutzer nutzerin benutzer 사용자")
_OTHERS = word_set("he she they you er sie él ella ele ela du ihr")
_INSTEAD = word_set("instead rather statt anstatt en em anstelle")
_MODALS = word_set("can may shall should must could might")
_TIMES = word_set("clock date weekday month year")
_INSIDE = word_set("insid outsid dentro fuera fora innerha außerha")
_MANY = word_set("pet sibling child")
_AFTER_NAME = word_set("and y e und se ya já también também")
_KOREAN_PLACE = ("에서", "에", "으로", "로")


def _kinds(word: Word) -> tuple[str, ...]:
    """What one relative or belonging is denied as: itself where its group has many members, else the group."""
    return (word.key,) if _MANY & {*word.groups} else word.groups


class ClauseReader:
    """Collects one sentence: `value`, `polarity`, `meaning`, `person`, `content` per token, `close` at clause ends."""

    def __init__(self, book: Lexicon, me: str, talk: bool) -> None:
        self.book = book
        self.language = book.language
        self.me = me
        self.talk = talk
        self.keys: list[str] = []
        self.weak: set[str] = set()
        self.names: set[str] = set()
        self.heads: set[str] = set()
        self.maybe: set[str] = set()
        self.possessors: set[str] = set()
        self.owners: set[str] = set()
        self.head_closed = False
        self.values: list[Value] = []
        self.scopes: set[str] = set()
        self.slots = 0
        self.flags = 0
        self.opposed: list[tuple[str, str, str, int]] = []
        self.clauses: list[Clause] = []
        self.indefinite: set[str] = set()
        self.unique: set[str] = set()
        self.lacks: set[str] = set()
        self.has: set[tuple[str, str]] = set()
        self.links: dict[str, str] = {}
        self.preposition = self.relation = self.condition = self.owner = ""
        self.outdated = -1
        self.breaks: set[int] = set()
        self.carried = ""
        self.value_names: set[str] = set()
        self.article = self.pending_unique = self.fresh = False
        self.moved = 0
        self.replaced: tuple[str, ...] = ()
        self.previous = Word("")
        self._open()

    def _open(self) -> None:
        self.start = self.subject_at = len(self.keys)
        self.denies = self.negators = self.refuses = self.never = self.flipped = self.past = self.muted = self.vague = False
        self.count = 0
        self.neg_at = self.ended_at = self.moved_at = -1
        self.passive = self.direct = self.switched = False
        self.auxiliary = self.be = self.separable = -9
        self.separable_at = 0

    def close(self) -> None:
        """Ends the clause, unless nothing was said in it."""
        keys = tuple(self.keys[self.start :])
        if keys or self.count:
            scope: tuple[str, ...] = keys
            front: tuple[str, ...] = ()
            if self.neg_at >= 0:
                front = tuple(self.keys[self.subject_at : self.neg_at])
                if self.language == "en" and not self.flipped:
                    scope = tuple(self.keys[self.neg_at :])
            if self.neg_at < 0 or self.language != "en" or self.flipped or not scope:
                scope = tuple(self.keys[self.subject_at :])
            ended = None
            if self.ended_at >= 0:
                behind, ahead = self.keys[self.ended_at : self.ended_at + 4], self.keys[self.start : self.ended_at]
                if self.language == "en":
                    ended = theme(behind, ahead, self.links, self.breaks, self.ended_at, self.passive) or keys
                else:
                    ended = tuple(ahead[-2:]) or keys if self.language == "ko" else keys
            if self.moved_at >= 0:
                sources = source(self.keys[self.moved_at :], self.links, self.language, self.names)
                if sources and ended is None:
                    ended, self.denies = sources, not self.denies
                moved, replaced = goal(self.keys[self.moved_at :], self.links, self.language, self.switched)
                self.moved = max(self.moved, moved)
                self.replaced = replaced or self.replaced
            first = "" if self.subject_at > self.start or self.direct else keys[0] if keys else ""
            self.clauses.append(
                Clause(
                    keys,
                    reach(keys),
                    first,
                    front,
                    scope,
                    self.denies,
                    self.refuses,
                    self.never,
                    ended,
                    self.past,
                    self.vague,
                )
            )
        self._open()

    def value(self, value: Value) -> None:
        """A number, time or date; after `before`/`after` or as a habit it restricts instead of stating."""
        if self.outdated == len(self.keys) or (self.moved_at >= 0 and self.preposition == "from"):
            if self.outdated >= 0 and self.ended_at == self.outdated:  # a value was replaced, nothing ended
                self.ended_at = -1
                self.denies = not self.denies
                self.refuses = not self.refuses
            self.outdated = -1  # the old value: "Wednesday instead of Monday", "moved from nine to ten"
        elif self.relation and value.dimension in _TIMES:
            self.scopes.add(f"rel:{self.relation}:{value.dimension}:{value.amount}")
        elif value.dimension == "habit":
            self.scopes.add(f"wk:{value.amount}")
        else:
            self.values.append(value)
        self.relation = self.preposition = ""

    def polarity(self, i: int, lows: list[str], word: Word) -> None:
        """Negators, endings, movements, tense."""
        f = word.flags
        if f & _NONEG:
            self.muted = True
        elif f & _NEG and not self.muted:
            self.never = self.never or bool(f & _NEVER)
            self.count += 1
            if self.language not in _CONCORD or self.count == 1:
                self.denies = not self.denies
                self.refuses = not self.refuses
                self.negators = not self.negators
            if self.neg_at < 0:
                self.neg_at = len(self.keys)
        if f & _END and not self.article and not (i > 1 and lows[i - 1] == "be" and lows[i - 2] in _MODALS):
            self.ended_at = len(self.keys)
            self.denies = not self.denies
            self.refuses = not self.refuses
            self.passive = i - self.be <= 2 and lows[i] not in ("instead", "no", "not")
            if lows[i] in _INSTEAD or "from" in lows[i + 1 : i + 3]:
                self.outdated = len(self.keys)
        if f & _SEPARABLE:
            self.separable = i
            self.separable_at = len(self.keys)
        elif f & _PARTICLE and 1 < i - self.separable < 7 and self.ended_at < 0:
            self.ended_at = self.separable_at  # "giving the sofa away"
            self.denies = not self.denies
        if f & _ENDWORD and self.negators:
            self.ended_at = self.neg_at
        if f & (_MOVE | _RELOCATE) and not self.article:
            self.moved_at = len(self.keys)
            self.carried = self.keys[-1] if len(self.keys) > self.start else ""
            self.switched = lows[i + 1 : i + 2] == ["over"]  # "moved over to" another tool
            if f & _RELOCATE:
                self.moved = 2
        if f & _PAST and (f & _AUX or self.auxiliary < 0):
            self.past = True
        elif (
            f & _PART
            and not (f & _CAP and i)  # the magazine Salted Gazebo
            and self.auxiliary < 0
            and not (self.direct and len(self.keys) > self.subject_at)
            and not self.previous.flags & (_INDEF | _POSS | _PREP)
        ):
            self.past = self.past or i == 0 or lows[i - 1] not in ("the", "this", "that")
        if f & _AUX:
            self.auxiliary = i
            if f & _BE:
                self.be = i
        if f & _IF:
            self.condition = lows[i]

    def meaning(self, word: Word) -> None:
        """States, scopes, belongings."""
        for family, stage in word.opposed:
            self.opposed.append((family, stage, word.key, len(self.clauses)))
        if word.scope:
            kind, _, key = word.scope.partition(":")
            if kind != "rel":
                self.scopes.add(word.scope)
            elif key in _INSIDE:
                self.scopes.add(f"where:{key}")
            else:
                self.relation = key
        if word.groups:
            if self.negators and self.neg_at == len(self.keys) and not self.owner:
                self.lacks.update(word.generic or _kinds(word))
            elif self.owner:
                self.has.update((self.owner, kind) for kind in (*word.groups, *_kinds(word)))
        if not self.negators:
            self.lacks.update(word.lacks)

    def person(self, low: str, word: Word) -> None:
        """First person, relatives, and whose they are."""
        f = word.flags
        if f & _KIN:
            person = f"{self.owner or '?'}>{word.key}"
            if f & _GEN:
                self.owner = person
            else:
                self._head(person)
                self.direct = True
                self.owner = ""
        elif f & (_GEN | _MINE):
            self.owner = self.me
            self.fresh = True
        elif low in _USERS or (f & (_NOM | _FIRST) and low not in _OTHERS):
            if not self.heads and not self.preposition:
                self.head_closed = False
            self._head(self.me)
            self.direct = True

    def _head(self, person: str) -> None:
        if not self.head_closed and not self.preposition:
            self.heads.add(person)
            self.subject_at = len(self.keys)

    def content(self, tokens: list[str], lows: list[str], i: int, word: Word, following: Word) -> None:
        """A word that carries a topic."""
        f, key = word.flags, word.key
        after = lows[i + 1] if i + 1 < len(lows) else ""
        named = bool(f & (_NAME | _CODE)) or bool(f & _CAP and i)
        if (
            f & _CAP
            and (after in (",", "!") or not after or after in ".?")
            and ((i > 0 and (lows[i - 1] == "," or self.previous.flags & _GREET)) or (self.talk and i == 0 and after == ","))
        ):
            return  # spoken to, not about: "Thanks, Mel!"
        tentative = False
        if i == 0 and not named and tokens[0][0].isupper() and not f & (_KIN | _WEAK) and self.language != "ko":
            verbal = _PREDICATE if self.language == "en" else _PREDICATE | _WEAK
            tentative = bool(f & _GEN or following.flags & verbal or after[:1].isdecimal() or after in _AFTER_NAME) or (
                after.endswith("s") and bool(following.flags & F["weak"] or following.key)
            )
            named = tentative and self.language != "de"
        if named or tentative:
            if named:
                self.names.add(key)
                if self.previous.flags & _BE and not self.preposition:
                    self.value_names.add(key)
            if f & _GEN:
                self.owner = key
                self.fresh = True
                self.owners.add(key)
            elif not self.head_closed and not self.preposition and len(self.keys) - self.start < 2 and not f & _CODE:
                (self.maybe if tentative else self.heads).add(key)
        if f & _KIN and not named:
            return
        if word.flip:
            self.denies = not self.denies
            self.flipped = True
        if f & _WEAK:
            self.weak.add(key)
        if self.article:
            self.indefinite.add(key)
        if self.preposition:
            self.links.setdefault(key, self.preposition)
        elif self.language == "ko" and tokens[i].endswith(_KOREAN_PLACE):
            self.links.setdefault(key, "에")
        if self.condition:
            self.scopes.add(f"if:{key}")
            self.condition = ""
        if self.relation:
            self.relation = ""
        if f & _UNIQ or (self.pending_unique and not f & _UNIQADJ):
            self.unique.add(key)
            self.pending_unique = False
        if f & _UNIQADJ:
            if self.language in _CONCORD and self.keys:
                self.unique.add(self.keys[-1])
            self.pending_unique = True
        if self.fresh and not f & _GEN:
            if not self.heads and not self.head_closed and not self.preposition:
                self.possessors.add(self.owner)
            self.fresh = False
        self.keys.append(key)
        self.preposition = ""

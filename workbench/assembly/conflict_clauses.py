"""The state of reading one sentence from left to right: subject, polarity and topic of every clause."""

from __future__ import annotations

from workbench.assembly.conflict_lexicon import FLAGS, SLOTS, Lexicon, Word
from workbench.assembly.conflict_statement import SELF, Clause, Sentence, reach
from workbench.assembly.conflict_values import Value

F = FLAGS
_NEG, _NONEG, _NEVER, _END, _ENDWORD = F["neg"], F["noneg"], F["never"], F["end"], F["endword"]
_PAST, _PART, _AUX, _BE, _IF = F["past"], F["participle"], F["aux"], F["be"], F["if"]
_MOVE, _RELOCATE, _SEPARABLE, _PARTICLE = F["move"], F["relocate"], F["separable"], F["particle"]
_SELF, _NOM, _FIRST, _MINE, _KIN, _GEN = F["self"], F["nom"], F["first"], F["mine"], F["kin"], F["genitive"]
_CAP, _NAME, _CODE, _WEAK, _UNIQ, _UNIQADJ = F["cap"], F["name"], F["code"], F["weak"], F["uniq"], F["uniqadj"]
_INDEF, _POSS, _PREP, _FUNC, _GREET = F["indef"], F["poss"], F["prep"], F["func"], F["greet"]
_HYPO, _NOHYPO, _PASTB, _UNTIL, _YOU, _THIRD, _PREF = (
    F["hypo"], F["nohypo"], F["pastb"], F["until"], F["you"], F["third"], F["pref"],
)  # fmt: skip
_PREDICATE = _AUX | _PAST | _NEG | F["end"] | F["move"] | F["relocate"] | _PART | F["pref"]
_CONCORD = frozenset(("es", "pt"))
_USERS = frozenset("user usuario usuaria usuário usuária nutzer nutzerin benutzer 사용자".split())
_INSTEAD = frozenset("instead rather statt anstatt en em anstelle".split())
_TIMES = frozenset(("clock", "date", "weekday", "month", "year"))
_INSIDE = frozenset("insid outsid dentro fuera fora innerha außerha".split())
_GOALS = frozenset("to into onto over from a al para zu nach in auf von de pelo por".split())
_HOMING = frozenset(("share", "rent", "stay"))
_KOREAN_PLACE = ("에서", "에", "으로", "로")
_PRO_DROP = frozenset(("es", "pt", "ko"))
_PERSON_SLOTS = SLOTS["reside"] | SLOTS["work"] | SLOTS["study"]


class ClauseReader:
    """Collects one sentence. Call `value`, `polarity`, `meaning`, `person`, `content` per token, `close` at clause ends."""

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
        self.value_names: set[str] = set()
        self.copula = False
        self.article = self.pending_unique = self.fresh = False
        self.moved = 0
        self.replaced: tuple[str, ...] = ()
        self.previous = Word("")
        self._open()

    def _open(self) -> None:
        self.start = self.subject_at = len(self.keys)
        self.denies = self.negators = self.never = self.flipped = self.past = self.muted = self.vague = False
        self.count = 0
        self.neg_at = self.ended_at = self.moved_at = -1
        self.passive = self.direct = False
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
                    ended = self._theme(behind, ahead) or keys
                else:
                    ended = tuple(ahead[-2:]) or keys if self.language == "ko" else keys
            if self.moved_at >= 0:
                sources = tuple(key for key in self.keys[self.moved_at :] if self.links.get(key) == "from")
                if sources and ended is None:
                    ended, self.denies = sources, not self.denies
                self._goal()
            first = "" if self.subject_at > self.start or self.direct else keys[0] if keys else ""
            self.clauses.append(
                Clause(keys, reach(keys), first, front, scope, self.denies, self.negators, self.never, ended, self.past, self.vague)
            )
        self._open()

    def _theme(self, behind: list[str], ahead: list[str]) -> tuple[str, ...]:
        """The noun phrase that ended: behind an active verb up to the next preposition, in front of a passive one."""
        if self.passive or not behind:
            return tuple(ahead)
        for at, key in enumerate(behind):
            if at and (key in self.links or self.ended_at + at in self.breaks):
                return tuple(behind[:at])
        return tuple(behind)

    def _goal(self) -> None:
        """What moved: the subject, if a goal follows the verb at once, else what stands between verb and goal."""
        if self.language != "en":
            self.moved = 2
            return
        behind = self.keys[self.moved_at :]
        for at, key in enumerate(behind[:5]):
            if self.links.get(key) in _GOALS:
                self.moved = max(self.moved, 1 if at else 2)
                self.replaced = tuple(behind[:at])
                return

    def value(self, value: Value) -> None:
        """A number, time or date; after `before`/`after` or as a habit it restricts instead of stating."""
        if self.outdated == len(self.keys) or (self.moved_at >= 0 and self.preposition == "from"):
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
                self.negators = not self.negators
            if self.neg_at < 0:
                self.neg_at = len(self.keys)
        if f & _END:
            self.ended_at = len(self.keys)
            self.denies = not self.denies
            self.passive = i - self.be <= 2 and lows[i] != "instead"
            if lows[i] in _INSTEAD:
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
            if f & _RELOCATE:
                self.moved = 2
        if f & _PAST and (f & _AUX or self.auxiliary < 0):
            self.past = True
        elif f & _PART and self.auxiliary < 0 and not (self.direct and len(self.keys) > self.subject_at) and not self.previous.flags & (_INDEF | _POSS | _PREP):
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
        for group in word.groups:
            if self.negators and self.neg_at == len(self.keys) and not self.owner:
                self.lacks.add(group)
            elif self.owner:
                self.has.add((self.owner, group))
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
        elif f & _NOM or f & _FIRST or low in _USERS:
            if low not in ("he", "she", "they", "you", "er", "sie", "él", "ella", "ele", "ela", "du", "ihr"):
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
        if f & _CAP and (after in (",", "!") or not after or after in ".?") and (
            (i > 0 and (lows[i - 1] == "," or self.previous.flags & _GREET)) or (self.talk and i == 0 and after == ",")
        ):
            return  # spoken to, not about: "Thanks, Mel!"
        tentative = False
        if i == 0 and not named and tokens[0][0].isupper() and not f & (_KIN | _WEAK) and self.language != "ko":
            verbal = _PREDICATE if self.language != "de" else _PREDICATE | _WEAK
            tentative = bool(f & _GEN or following.flags & verbal or after[:1].isdigit() or after == "and") or (
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

    def finish(self, first: Word) -> Sentence | None:
        """The sentence, or None if it asserts nothing about now."""
        flags = self.flags
        if not self.clauses and (self.opposed or self.lacks or self.has or self.values):
            self.count = 1
            self.close()
        past = any(clause.past for clause in self.clauses)
        if flags & _HYPO and not flags & _NOHYPO or flags & _PASTB:
            return None
        if past and (flags & _UNTIL or any(value.dimension == "year" for value in self.values)):
            return None
        heads = self.heads or self.maybe or self.possessors
        if not heads and (first.flags & (_WEAK | _PREF | _PAST | _PART) or (self.language in _PRO_DROP and self.slots & _PERSON_SLOTS)):
            heads = {self.me}
        if self.talk:
            if not heads or flags & _YOU or (flags & _THIRD and not self.heads):
                return None
        if not (self.keys or self.values or self.opposed or self.lacks or self.has) or not self.clauses:
            return None
        if self.slots & SLOTS["home"] and ("share" in self.weak or not _HOMING.isdisjoint(self.keys)):
            self.slots |= SLOTS["reside"]
        owner = next(iter(heads)) if len(heads) == 1 else self.me
        keys = tuple(self.keys)
        return Sentence(
            language=self.language,
            talk=self.talk,
            keys=keys,
            reach=self.clauses[0].reach if len(self.clauses) == 1 else reach(keys),
            strong=tuple(dict.fromkeys(key for key in keys if key not in self.weak)),
            names=frozenset(self.names),
            heads=frozenset(heads),
            direct=bool(self.heads or self.maybe) or not self.possessors,
            owners=frozenset(self.owners),
            values=tuple(self.values),
            scopes=frozenset(self.scopes),
            slots=self.slots,
            opposed=tuple(
                (family, stage, key, at < len(self.clauses) and self.clauses[at].negators) for family, stage, key, at in self.opposed
            ),
            flags=flags,
            clauses=tuple(self.clauses),
            indefinite=frozenset(self.indefinite),
            unique=frozenset(self.unique),
            lacks=frozenset((owner, group) for group in self.lacks),
            has=frozenset(self.has),
            links=self.links,
            value_names=frozenset(self.value_names),
            moved=self.moved,
            replaced=self.replaced,
            past=past,
        )


__all__ = ["SELF", "ClauseReader"]

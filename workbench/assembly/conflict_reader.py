"""Reads a text into the sentences it asserts. Questions, wishes, suppositions and memories of old times say nothing about now."""

from __future__ import annotations

import re

from workbench.assembly.conflict_clauses import ClauseReader
from workbench.assembly.conflict_lexicon import FLAGS, SLOTS, Word, lexicon, stem, word_set
from workbench.assembly.conflict_statement import SELF, TRAITS, Clause, Sentence, reach
from workbench.assembly.conflict_tokens import PUNCTUATION, language_of, remembered, resolve, tokenize
from workbench.assembly.conflict_values import read_value

_SENTENCES = 32
"""Sentences that are kept of one text: the time to compare two texts grows with the product."""
_SPEAKER = re.compile(r"([A-Z][\w'-]*(?: [A-Z][\w'-]*)?): +(?=\S)")
_ENDS = frozenset(".!?\n…")
_BREAKS = frozenset(";:—–()")
_TITLES = word_set("dr mr mrs ms st no nr prof approx ca vs e.g i.e sr sra dra bzw z.b")
_SUBORDINATE = word_set("because since if when whenever unless although while as weil wenn da als porque si cuando se quando")
_ARTICLES = word_set("the a this that no every each")
_RELATIVE = word_set("who which whose")

F, T = FLAGS, TRAITS
_VALUE, _OPENER, _FUNC, _INDEF, _CONJ = F["value"], F["opener"], F["func"], F["indef"], F["conj"]
_NOM, _NEG, _PREP, _RICH = F["nom"], F["neg"], F["prep"], F["rich"]
_PEOPLE = F["self"] | F["mine"] | F["kin"] | F["first"]
_POLAR = (
    F["neg"] | F["noneg"] | F["end"] | F["endword"] | F["move"] | F["relocate"] | F["past"] | F["participle"] | F["aux"]
    | F["if"] | F["never"] | F["separable"] | F["particle"]
)  # fmt: skip
_VERBAL = F["aux"] | F["weak"] | F["past"] | F["pref"] | F["participle"] | F["end"] | F["move"]
_UNIV, _BE, _GREET, _PAST = F["univ"], F["be"], F["greet"], F["past"]
_LIKERS = F["nom"] | F["self"] | F["neg"] | F["aux"] | F["kin"] | F["cap"] | F["name"] | F["never"] | F["upd"] | F["third"]
"""Words in front of a verb "like"; behind others it compares ("something like that")."""
_RESTART = _UNIV | F["noneg"]
_LOCATIVE = word_set("in at on under behind beside inside above")
_LINKING = ("지만", "는데", "으며", "니까", "하니", "하며", "하고", "했고")
_PLAIN = _FUNC | _INDEF
_VAGUE, _AND, _UNIQADJ = F["vague"], F["and"], F["uniqadj"]
_BARE_VERB = F["weak"] | F["pref"] | F["past"] | F["participle"]
_PERSON_SLOTS = SLOTS["reside"] | SLOTS["work"] | SLOTS["study"]
_PRO_DROP = word_set("es pt ko")
_HOMING = word_set("share rent stay")
_NO_SPEAKER = _FUNC | F["light"] | F["prep"] | F["upd"]


def read(text: str) -> tuple[Sentence, ...]:
    """The sentences of `text` that state something about the present or a plan, in order.

    A leading `Name: ` makes first-person statements those of that speaker. Such a text, and any with a greeting or an
    exclamation, is talk: sentences without a subject of their own ("Sounds great!") and those about the listener are left out.
    """
    speaker = ""
    match = _SPEAKER.match(text)
    if match and not resolve(match[1].split()[0], "en").flags & _NO_SPEAKER:
        speaker = match[1].lower()
        text = text[match.end() :]
    tokens = tokenize(text)
    lows = [token.lower() for token in tokens]
    book = lexicon(language_of(text, lows))
    language = book.language
    known = remembered(language)
    words = [known.get(token) or resolve(token, language) for token in tokens]
    n = len(tokens)
    chatty = bool(speaker) or "!" in tokens or (n > 0 and bool(words[0].flags & _GREET))
    out: list[Sentence] = []
    start = 0
    for i, token in enumerate(tokens):
        if (token in _ENDS and not _abbreviated(tokens, lows, i, n)) or i == n - 1:
            stop = i + 1
            if token != "?" and stop - start > 1 and tokens[start] != "¿":
                reader = ClauseReader(book, speaker or SELF, chatty)
                _sentence(reader, tokens[start:stop], lows[start:stop], words[start:stop])
                sentence = _asserted(reader, words[start])
                if sentence is not None:
                    out.append(sentence)
            start = stop
            if len(out) == _SENTENCES:
                break
    return tuple(out)


def _abbreviated(tokens: list[str], lows: list[str], i: int, n: int) -> bool:
    """Whether a full stop belongs to a title or to a German ordinal number."""
    if tokens[i] != "." or i == 0 or i + 1 >= n:
        return False
    return lows[i - 1] in _TITLES or (lows[i - 1].isdecimal() and len(lows[i - 1]) <= 2 and tokens[i + 1][0].isupper())


def _sentence(reader: ClauseReader, tokens: list[str], lows: list[str], words: list[Word]) -> None:
    """Feeds the tokens of one sentence to its reader."""
    language, phrases = reader.book.language, reader.book.phrases
    n, i = len(tokens), 0
    subordinate = lows[0] in _SUBORDINATE
    while i < n:
        word = words[i]
        f = word.flags
        if not f & ~_PLAIN and not word.key and word is not PUNCTUATION:
            reader.article = bool(f & _INDEF)
            reader.previous = word
            i += 1
            continue
        step = 1
        if f & _OPENER:
            for tail, joined in phrases.get(lows[i], ()):
                if lows[i + 1 : i + 1 + len(tail)] == list(tail):
                    word, step = joined, len(tail) + 1
                    f = word.flags
                    break
        if f & _PAST and i and step == 1 and tokens[i][0].isupper() and language == "en":
            word = Word(stem(lows[i], language), F["cap"])  # Plover Fell
            f = word.flags
        if f & _VALUE:
            value, j = read_value(lows, words, i, len(reader.keys), language)
            if value is not None:
                reader.value(value)
            i = max(j, i + 1)
            reader.previous = word
            continue
        if word is PUNCTUATION:
            low = lows[i]
            if low in _BREAKS or (
                low == ","
                and i + 1 < n
                and (words[i + 1].flags & (_CONJ | _NOM | _RESTART) or (subordinate and not reader.clauses))
            ):
                reader.close()
            reader.preposition = reader.owner = ""
            reader.breaks.add(len(reader.keys))
            reader.previous = word
            i += 1
            continue
        reader.flags |= f
        if word.slots:
            reader.slots |= word.slots
        if f & _VAGUE:
            reader.vague = True
        elif f & _AND:
            reader.breaks.add(len(reader.keys))
        if word.key or f & ~_PLAIN:
            following = words[i + step] if i + step < n else PUNCTUATION
            if (
                f & _CONJ
                and not (reader.negators and lows[i] in _RELATIVE)
                and (not f & _AND or following.flags & (_NOM | _NEG | _UNIV | F["aux"]))
            ):
                reader.close()
            if f & _POLAR:
                reader.polarity(i, lows, word)
            if f & _RICH:
                # "is single", but not "the single caller"
                reader.meaning(word._replace(lacks=()) if word.lacks and i and lows[i - 1] in _ARTICLES else word)
            if f & _PEOPLE:
                reader.person(lows[i], word)
            if word.key and not (lows[i] == "like" and not reader.previous.flags & _LIKERS):
                reader.content(tokens, lows, i, word, following)
            elif f & _UNIQADJ:
                reader.pending_unique = True
            if f & _VERBAL and i and (language != "de" or reader.heads) and not f & _NOM:
                reader.head_closed = True
                reader.owner = ""
            if f & _PREP and (i or language != "pt"):
                reader.preposition = lows[i]
                reader.pending_unique = False
                if reader.previous.flags & _BE and lows[i] in _LOCATIVE and not following.flags & _PREP:
                    reader.slots |= SLOTS["place"]
            if language == "ko" and lows[i].startswith("때") and reader.keys:
                reader.scopes.add(f"if:{reader.keys[-1]}")  # "when"
            if language == "ko" and lows[i].endswith(_LINKING) and len(lows[i]) > 2:
                reader.close()
        reader.article = bool(f & _INDEF)
        reader.previous = word
        i += step
    reader.close()


def _asserted(reader: ClauseReader, first: Word) -> Sentence | None:
    """The sentence, or None if it asserts nothing about now."""
    flags = reader.flags
    if not reader.clauses and (reader.opposed or reader.lacks or reader.has or reader.values):
        reader.count = 1
        reader.close()
    past = any(clause.past for clause in reader.clauses)
    if flags & F["pastb"] or (flags & F["hypo"] and not flags & F["nohypo"]):
        return None
    if past and (flags & F["until"] or any(value.dimension == "year" for value in reader.values)):
        return None
    heads = reader.heads or reader.maybe or reader.possessors
    unspoken = reader.language in _PRO_DROP and reader.slots & _PERSON_SLOTS
    if not heads and (first.flags & _BARE_VERB or unspoken):
        heads = {reader.me}  # "Prefers window seats", "Vivo en Zaragoza"
    if reader.talk and (not heads or flags & F["you"] or (flags & F["third"] and not reader.heads)):
        return None
    if not (reader.keys or reader.values or reader.opposed or reader.lacks or reader.has) or not reader.clauses:
        return None
    if reader.slots & SLOTS["home"] and ("share" in reader.weak or not _HOMING.isdisjoint(reader.keys)):
        reader.slots |= SLOTS["reside"]
    owner = next(iter(heads)) if len(heads) == 1 else reader.me
    keys = tuple(reader.keys)
    clauses = tuple(reader.clauses)
    return Sentence(
        language=reader.language,
        talk=reader.talk,
        keys=keys,
        reach=reader.clauses[0].reach if len(reader.clauses) == 1 else reach(keys),
        strong=tuple(dict.fromkeys(key for key in keys if key not in reader.weak)),
        names=frozenset(reader.names),
        heads=frozenset(heads),
        direct=bool(reader.heads or reader.maybe) or not reader.possessors,
        owners=frozenset(reader.owners),
        values=tuple(reader.values),
        scopes=frozenset(reader.scopes),
        slots=reader.slots,
        opposed=tuple(
            (family, stage, key, at < len(reader.clauses) and reader.clauses[at].refuses)
            for family, stage, key, at in reader.opposed
        ),
        flags=flags,
        clauses=clauses,
        indefinite=frozenset(reader.indefinite),
        unique=frozenset(reader.unique),
        lacks=frozenset((owner, group) for group in reader.lacks),
        has=frozenset(reader.has),
        links=reader.links,
        value_names=frozenset(reader.value_names),
        moved=reader.moved,
        carried=reader.carried,
        replaced=reader.replaced,
        past=past,
        traits=_traits(reader, clauses),
    )


def _traits(reader: ClauseReader, clauses: tuple[Clause, ...]) -> int:
    """Bits of what a rule needs to find before it can fire."""
    flags, slots = reader.flags, reader.slots
    found = 0
    for clause in clauses:
        found |= T["denies"] if clause.denies else T["affirms"]
        if clause.ended is not None and clause.denies:
            found |= T["ends"]
    if flags & F["pref"]:
        found |= T["prefers"]
    if flags & F["upd"]:
        found |= T["updates"]
    if reader.moved:
        found |= T["moves"]
    if reader.names:
        found |= T["named"]
    if any(scope.startswith(("wk:", "part:")) for scope in reader.scopes):
        found |= T["weekly"]
    if slots & (SLOTS["place"] | SLOTS["tool"] | SLOTS["code"]):
        found |= T["placed"]
    if slots & _PERSON_SLOTS:
        found |= T["settled"]
    if reader.value_names:
        found |= T["named_value"]
    if reader.values:
        found |= T["valued"]
    if reader.opposed:
        found |= T["staged"]
    if reader.unique:
        found |= T["unique"]
    if reader.lacks:
        found |= T["lacks"]
    return found

"""The few word lists that keyword search needs: English stop words, names among them, names that are one word.

Only English words are stopped. A store holds text of any language, and the function words of one are content words of
another: `die` is a German article and an English verb, `las` and `los` are half of *Las Vegas* and *Los Angeles*, `mit` is
MIT, `la` is L.A. BM25's IDF weighs `de` or `der` down by itself in a store where they are frequent. Measured on 60
hand-written Spanish, German and Portuguese memories in one store, with one question each: the right memory is first for
all 60, whether the function words of those languages are stopped or not.

For English the list does matter: on LoCoMo the recall of BM25 in the first ten is 57.0 without stop words and 63.2 with
them. The words of questions (what, when, did) make the difference. `will`, `may` and `mine` are left out, at no loss: they
are a name, a month and a place.
"""

from __future__ import annotations

from typing import Final

# Function words only, not words that carry meaning in a memory (not, no, never, all, few, before, after, like, want).
# Forms without an apostrophe are how people type.
_STOP_WORDS: Final = """
    a about am an and any are as at be because been being but by can could did do does doing done for from had has have
    having he her hers herself him himself his how i if in into is it its itself just me might must my myself of on onto
    or our ours ourselves shall she should so some such than that the their theirs them themselves then there these they
    this those to too upon us very was we were what when where which while who whom whose why with would you your yours
    yourself yourselves
    aint arent cant couldnt didnt doesnt dont hadnt hasnt havent im isnt ive shouldnt thats wasnt werent whats wont
    wouldnt youre
    eg etc ie
"""
STOP_WORDS: Final[frozenset[str]] = frozenset(_STOP_WORDS.split())
"""Folded words that yield no token."""

ACRONYMS: Final[frozenset[str]] = frozenset({"IT", "US"})
"""Upper-case words that do, although their lower-case twins are stopped: information technology, the United States."""

_ONE_WORD: Final = """
    airbnb bluetooth facetime firefox github gitlab hubspot imessage javascript linkedin macbook mcdonalds onedrive openai
    paypal playstation postgresql powerpoint powershell snapchat soundcloud tensorflow tiktok typescript whatsapp
    wordpress youtube
"""
ONE_WORD: Final[frozenset[str]] = frozenset(_ONE_WORD.split())
"""Folded names with an inner capital whose halves mean something else: JavaScript is not Java."""

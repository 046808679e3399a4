"""English forms that no suffix rule reaches: went is go, geese are goose.

Only forms that hardly have another meaning: `saw`, `left`, `rose`, `wound`, `bit`, `ground`, `leaves` and `lives` stay
themselves. On LoCoMo the list lifts the recall of BM25 in the first ten by 0.6 points (0.9 with the date in front).
"""

from __future__ import annotations

from typing import Final

_BASES_AND_FORMS: Final = """
    arise arose arisen | awake awoke awoken | beat beaten | become became | begin began begun | bend bent
    bite bitten | bleed bled | blow blew blown | break broke broken | breed bred | bring brought | build built
    burn burnt | buy bought | catch caught | choose chose chosen | cling clung | come came | creep crept
    deal dealt | dig dug | draw drew drawn | dream dreamt | drink drank drunk | drive drove driven | eat ate eaten
    fall fell fallen | feed fed | feel felt | fight fought | find found | flee fled | fly flew flown
    forbid forbade forbidden | forget forgot forgotten | forgive forgave forgiven | freeze froze frozen
    get got gotten | give gave given | go went gone | grow grew grown | hang hung | hear heard | hide hid hidden
    hold held | keep kept | kneel knelt | know knew known | lay laid | lead led | lean leant | leap leapt
    learn learnt | lend lent | lose lost | make made | mean meant | meet met | mow mown | pay paid | prove proven
    ride rode ridden | ring rang rung | rise risen | run ran | say said | see seen | seek sought | sell sold
    send sent | sew sewn | shake shook shaken | shine shone | show shown | shrink shrank shrunk | sing sang sung
    sink sank sunk | sit sat | sleep slept | slide slid | smell smelt | speak spoke spoken | spell spelt
    spend spent | spill spilt | spin spun | spring sprang sprung | stand stood | steal stole stolen | stick stuck
    sting stung | strike struck | swear swore sworn | sweep swept | swell swollen | swim swam swum | swing swung
    take took taken | teach taught | tear tore torn | tell told | think thought | throw threw thrown
    understand understood | wake woke woken | wear wore worn | weave wove woven | weep wept | win won
    write wrote written | calf calves | child children | foot feet | goose geese | half halves | knife knives
    loaf loaves | man men | mouse mice | ox oxen | shelf shelves | thief thieves | tooth teeth | wife wives
    wolf wolves | woman women
"""
IRREGULAR: Final[dict[str, str]] = {
    form: base
    for base, *forms in (entry.split() for entry in _BASES_AND_FORMS.strip().replace("\n", "|").split("|"))
    for form in forms
}
"""Folded form -> folded base form."""

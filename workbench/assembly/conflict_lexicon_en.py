"""English words the rule-based conflict test knows. Lemmas suffice where a stem leads back to them; `_` joins phrases.

Keys are classes explained in `conflict_lexicon`; `syn:K`/`flip:K` map words to the key K (`flip` with reversed polarity),
`opp:F:S` puts words at stage S of a family F of mutually exclusive states.
"""

from __future__ import annotations

WORDS: dict[str, str] = {
    "func": """called utc gmt cet est pst a an the this that these those it its itself is are am be been being was were
        has have had having do does did will shall 'll may and or as than then so such there here which who whom whose
        what where how also too either neither both each very really quite rather fairly pretty just even still already
        yet ever about around roughly approximately almost nearly exactly currently own up out off down back away over
        well oh wow yeah yes please kindly thanks thank_you him her them his hers theirs their he she they themselves
        himself herself whether let let's lot lots etc ok okay again even_when even_if even_though must should ought can
        has_to have_to had_to be_able going_to needs_to that's is_able are_able usually normally generally typically
        mostly mainly often sometimes always constantly regularly decision note fyi appreciate mind totally definitely
        absolutely actually basically completely fully entirely quickly slowly somewhat somehow""",
    "vague": "it them this that these those",
    "and": "and",
    "indef": "a an another some one",
    "prep": """in on at to for of from with by into onto under above below behind beside near between among through
        across along against about via inside outside during after before per than until since within towards over
        around off""",
    "conj": "but because while whereas although though so and since which who unless therefore",
    "light": """much many few little more less most well better fine sorry dropped_off drop_off dropped_by drop_by
        drop_in dropped_in drops_off happen happens happening thing things stuff way time day days week weeks month
        months year years one ones bit kind sort type part get got gets getting make makes made making put puts putting
        take takes taking took go goes going come comes coming keep keeps kept keeping give gives gave set sets say says
        said tell tells told show shows showed let lets seem seems become becomes became stay stays staying remain
        remains hold holds held place own owns owned possess have_got serve serves include includes included contain
        contains feature features first second today tomorrow tonight yesterday this_week next_week this_year this_month
        next_month last_week last_year daily every_day each_day at_all a_lot far long_ago weekly monthly yearly hour
        minute hours minutes strict new old big small good great nice able likely due used use uses something anything
        someone anyone somebody anybody any a_word_of a_single using person people takes_place take_place stand_still
        stands_still run_by go_ahead going_ahead planned exist exists everyday latest current recent recently decide
        decides decided agree agrees agreed""",
    "neg": """have_yet_to has_yet_to not n't never no none nobody nothing cannot without nowhere neither hardly barely
        decided_against ain't don't won't lack lacks lacking no_one not_any not_a refuse refuses refused unable_to
        far_from""",
    "never": "never",
    "noneg": """not_even not_only not_just no_wonder no_doubt no_problem can't_wait cannot_wait can't_help no_matter
        not_to_mention why_not nothing_but no_worries can't_believe couldn't_agree nothing_like can't_imagine
        can't_complain not_bad couldn't_be can't_thank can't_get_enough no_way doesn't_matter don't_worry
        don't_forget couldn't_have not_as_if don't_know don't_think not_sure no_idea don't_mind not_necessarily
        no_less not_least won't_forget don't_mean can't_tell no_rush no_pressure not_too not_so not_very""",
    "end": """no_longer not_anymore stop stopped stops quit quits cancel cancelled canceled cancels drop dropped ditch
        ditched abandon abandoned discontinue discontinued retire retired decommission decommissioned scrap scrapped
        give_up gave_up given_up giving_up dump dumped phase_out phased_out shut_down shutting_down cut_out resign
        resigned pull_out pulled_out withdraw withdrew withdrawn back_out backed_out replace replaced replaces replacing
        call_off called_off instead_of rather_than unsubscribe unsubscribed abolish abolished sold_off get_rid_of
        got_rid_of rid_of in_place_of taken_the_place_of took_the_place_of takes_the_place_of supersede superseded
        deprecate deprecated moved_away_from deactivate deactivated dropped_out terminate terminated swap swapped swaps
        throw_out threw_out done_with removed remove gone is_off are_off leave_behind left_behind refund refunded
        let_go_of sworn_off swear_off cease ceased part_with parted_with sold_my sold_our sold_the gave_away given_away
        giving_away broke_off broken_off break_off pulled_the_plug_on took_down migrated_from moved_from switched_from
        switch_from changed_from converted_from migrate_from has_changed_from have_changed_from taken_over_from
        took_over_from takes_over_from closed_the_account close_the_account closed_my_account closed_our_account""",
    "separable": """give gives gave given giving call called calling turn turned turning throw threw thrown throwing
        shut hand handed send sent sell selling sold""",
    "particle": "away off down out back",
    "supersede": """replace replaced replaces replacing supersede superseded superseding taken_the_place_of
        took_the_place_of takes_the_place_of""",
    "endword": "anymore any_more any_longer",
    "move": """migrate migrated migrating move moves moved moving shift shifted switch switched switching change
        changed convert converted settle settled""",
    "relocate": "relocate relocated relocates relocating transferred rehomed resettled sold_up moved_house",
    "greet": "hey hi hello thanks thank congrats congratulations wow bye dear oh yeah yep yes sure",
    "resched": """instead_of reschedule rescheduled postpone postponed push_back pushed_back put_back bring_forward
        brought_forward delay delayed extend extended shift shifted rebook rebooked put_off moved_forward slip slips
        slipped""",
    "upd": """now nowadays these_days from_now_on as_of since_then instead any_more anymore lately at_present
        at_the_moment just_became up_to down_to raised lowered increased decreased bumped upgraded downgraded put_up
        went_up newly has_become have_become has_changed changed_to at_last finally from_today effective_immediately""",
    "past": """was were had did went saw ran came bought took got made said told gave found left met sat ate drank slept
        drove flew rode swam wrote won lost felt thought knew began broke brought built caught chose dealt fell fought
        forgot grew heard hid hit kept led lent sent spent spoke stole stood taught threw understood woke wore had_been
        was_being sang hung paid held tore blew drew shot shook shrank rang sank""",
    "plan": "planned scheduled set_for due pencilled_in",
    "reports": "decided agreed planned showed stated announced confirmed reported noted warned",
    "pastb": """used_to formerly previously once_upon as_a_child as_a_kid as_a_student as_a_teenager as_a_boy as_a_girl
        in_my_youth when_i_was when_we_were when_he_was when_she_was ago back_then in_those_days in_the_past originally
        at_first until_recently my_former my_old_job growing_up in_my_twenties in_my_thirties at_university in_college
        back_when earlier_this in_the_old_days during_university as_an_undergraduate old_days""",
    "until": "until till back_in back_in_the",
    "hypo": """make_sure would could might if_i'd if_only suppose imagine wish wishes hoping hope maybe perhaps possibly
        considering thinking_of thinking_about wondering whether dream were_to""",
    "nohypo": "would_rather would_like would_appreciate would_prefer would_love would_hate",
    "if": "if unless when whenever except in_case",
    "self": "i me myself we us ourselves user i'm i've i'd i'll we're we've we'll we'd",
    "nom": "i we user he she they you i'm i've i'd i'll we're we've we'll we'd",
    "poss": "my our your his her their mine ours",
    "mine": "my our mine ours",
    "you": "you your yours yourself",
    "third": "he she they him her them",
    "univ": """all every everything only nobody whole always entire everyone solely exclusively nothing_else
        nobody_else one_and_only""",
    "pref": """prefer prefers preferred preference rather would_rather always_go_for go_for favour favourite favorite
        opt like_best""",
    "uniqadj": "main primary default favourite favorite sole principal official current everyday only go-to",
    "uniq": """manager boss supervisor landlord landlady gp dentist birthday password passphrase pin address nickname
        surname blood_type deadline birthplace hometown headquarters capital postcode zip_code phone_number username
        email_address maiden_name nationality star_sign native_language mother_tongue shoe_size best_friend
        family_doctor general_practitioner dental_check-ups employer internet_at_home home_internet next_of_kin
        first_name middle_name codename passcode hostname port_number licence_plate homepage ringtone""",
    "kin": """brothers sisters sons daughters cousins neighbours neighbors friends aunts uncles brother sister mother
        father mum mom dad wife husband son daughter cousin neighbour neighbor friend aunt uncle grandmother grandfather
        grandma grandpa girlfriend boyfriend partner spouse parents child kid kids children nephew niece flatmate
        roommate colleague colleagues baby twin fiancée fiancé stepfather stepmother stepson godmother mother-in-law
        father-in-law brother-in-law sister-in-law son-in-law daughter-in-law in-laws grandson granddaughter
        grandparents mum_and_dad mom_and_dad toddler teenager coworker co-worker housemate mate girl boy godchild godson
        goddaughter""",
    "slot:reside": """live_alone lives_alone living_alone live lives lived living reside resides based dwell inhabit
        neighbours""",
    "slot:home": "flat apartment studio cottage house houseboat narrowboat villa bungalow farmhouse bedsit room",
    "slot:work": "work works working employed joined employ employer",
    "slot:study": "study studies studying university college",
    "slot:place": """hosted host hosting located stored hang hangs lives lived keep kept takes_place take_place parked
        stands moored docked filed placed tracked""",
    "slot:site": "office headquarters company firm shop store repository source archive warehouse workshop",
    "slot:tool": "runs run built deployed powered hosted rewritten heat",
    "slot:code": "written rewritten built compiled",
    "scope:season": "summer winter spring autumn fall monsoon",
    "scope:week": "weekday weekdays weekend weekends",
    "scope:term": "term holidays semester vacation holiday termtime school_nights school_days off-season season",
    "scope:part": """morning mornings evening evenings night nights nightly afternoon afternoons breakfast lunch dinner
        bedtime noon midday dawn dusk sunset sunrise""",
    "scope:where": "home abroad upstairs downstairs indoors outdoors",
    "scope:env": """staging production prod development dev sandbox test_environment test_database live_database canary
        preview""",
    "scope:rel": "after before inside outside above below",
    "syn:love": "like love loves enjoy enjoys adore fond fan relish keen savour cherish",
    "flip:love": """hate hates dislike dislikes detest loathe dread can't_stand cannot_stand can't_bear cannot_bear
        despise abhor couldn't_stand not_keen sick_of fed_up_with""",
    "flip:open": "closed close closes shut",
    "syn:open": "open opens opened is_open still_open remains_open stays_open",
    "syn:allow": "allow allowed permit permitted allows permits may_use welcome",
    "flip:allow": "forbid forbidden prohibit prohibited ban banned disallow disallowed prohibits bans",
    "syn:includ": "covered included",
    "flip:includ": "excluded excludes exclude",
    "flip:marri": "unmarried",
    "flip:paid": "unpaid",
    "syn:paid": "paid",
    "flip:safe": "unsafe dangerous hazardous",
    "flip:compat": "incompatible",
    "syn:compat": "compatible",
    "flip:accept": "decline declined reject rejected turn_down turned_down turning_down",
    "syn:accept": "accept accepts accepted accepting approve approves approved",
    "flip:enabl": "disable disabled disables turned_off switched_off deactivate",
    "syn:enabl": "enable enabled enables turned_on switched_on activate activated active",
    "flip:energi": "drain drains drained exhaust exhausts exhausting draining tire tires",
    "syn:energi": "energise energises energize energizes invigorate energising",
    "flip:rememb": "forget forgot forgets forgotten",
    "syn:rememb": "remember remembers remembered",
    "flip:possibl": "impossible",
    "flip:legal": "illegal",
    "flip:interest": "uninterested bored boring",
    "flip:need": "unnecessary exempt optional",
    "syn:need": "need needs needed require requires required necessary mandatory compulsory",
    "flip:toler": "intolerant",
    "flip:lock": "unlocked unlock",
    "flip:happi": "unhappy",
    "flip:healthi": "unhealthy",
    "flip:reliabl": "unreliable",
    "flip:avail": "unavailable",
    "flip:fit": "unfit",
    "flip:support": "unsupported",
    "flip:stabl": "unstable",
    "flip:insur": "uninsured",
    "flip:encrypt": "unencrypted",
    "flip:agre": "disagree",
    "flip:trust": "distrust mistrust",
    "flip:finish": "unfinished",
    "syn:mother": "mother mum mom mummy",
    "syn:father": "father dad daddy",
    "syn:parent": "parent parents mum_and_dad mom_and_dad folks",
    "syn:child": "child children kid kids",
    "syn:spous": "spouse",
    "syn:start": "start starts begin begins kick_off kicks_off starting commence commences departs depart go_live",
    "syn:fetch": "pick_up picked_up picks_up collect collected collects",
    "syn:costs": """cost costs price prices priced pay pays paying charge charges charged fee fees bill billed bills
        quote quoted rate rates""",
    "syn:wage": "salary wage wages pay_packet paycheck",
    "syn:dog": "dog dogs puppy pup hound",
    "syn:cat": "cat cats kitten",
    "syn:offic": "office company headquarters firm",
    "syn:gp": "gp general_practitioner family_doctor",
    "syn:dentist": "dentist dental_check-ups",
    "syn:volunt": "volunteer volunteers volunteering help_out helps_out helping_out",
    "syn:team": "team",
    "syn:work": "work works job shift employed worked working",
    "syn:store": "store stores stored save saves saved",
    "syn:trip": "trip holiday vacation flying journey",
    "syn:film": "film movie movies films",
    "syn:bike": "bike bicycle",
    "syn:repli": "reply answer replies answers response responses respond",
    "syn:flat": "flat apartment",
    "syn:lift": "lift elevator",
    "syn:puls": "pulse heart_rate",
    "syn:extens": "extension",
    "syn:write": "write writes writing written",
    "syn:expir": "expire expires",
    "syn:deadlin": "deadline due",
    "syn:repo": "repo repository codebase source",
    "syn:seat": "seat seats",
    "syn:engin": "engineer engineers",
    "weak": """want need try help start begin run live work love like prefer think know feel look play eat drink read
        write speak wear buy own visit see hear watch travel walk drive pay cost leave move plan decide finish ask
        learn teach host store support provide accept send bring study change""",
    "opp:marital:1": "single",
    "opp:marital:2": "dating in_a_relationship",
    "opp:marital:3": "engaged engagement",
    "opp:marital:4": "married got_married wed wedded",
    "opp:marital:5": "divorced separated split_up broke_up",
    "opp:marital:6": "widowed widow widower",
    "opp:ticket:1": """is_open still_open remains_open stays_open reopened unresolved pending under_review awaiting
        outstanding in_review undecided in_progress being_processed under_consideration""",
    "opp:ticket:2": """closed resolved fixed approved granted merged completed came_through went_through rejected
        denied refused turned_down""",
    "opp:release:1": "beta alpha preview experimental draft prototype",
    "opp:release:2": "generally_available stable released published ga launched live",
    "opp:job:1": """unemployed out_of_work between_jobs jobless looking_for_a_job looking_for_work job-hunting
        job_hunting looking_for_a_new_job""",
    "opp:job:2": "started_as hired got_a_job new_job started_at first_day_at began_work employed joined",
    "opp:hospital:1": "in_hospital in_the_hospital hospitalised hospitalized in_intensive_care",
    "opp:hospital:2": "discharged out_of_hospital recuperating home_from_hospital back_home",
    "opp:damage:1": """broken leaking leaks leaky dripping faulty damaged out_of_order defective cracked blocked
        clogged""",
    "opp:damage:2": """repaired mended fixed stopped_dripping stopped_leaking working_again works_again replaced
        running_again unblocked as_good_as_new""",
    "opp:leave:1": """on_maternity_leave on_paternity_leave on_parental_leave on_sick_leave on_leave on_sabbatical
        on_holiday off_sick""",
    "opp:leave:2": """back_at_work back_at_her_desk back_at_his_desk back_at_my_desk back_from_leave returned_to_work
        back_in_the_office""",
    "opp:birth:1": "pregnant expecting",
    "opp:birth:2": "gave_birth newborn had_a_baby",
    "opp:sale:1": "for_sale on_the_market up_for_sale",
    "opp:sale:2": "sold off_the_market",
    "opp:arrive:1": "on_its_way on_order backordered in_transit not_arrived on_backorder",
    "opp:arrive:2": "delivered arrived",
    "opp:len:1": "short brief terse concise short-form",
    "opp:len:2": "long lengthy verbose detailed long-form",
    "opp:firm:1": "soft squishy tender",
    "opp:firm:2": "firm hard",
    "opp:cook:1": "rare medium-rare",
    "opp:cook:2": "well-done well_done",
    "opp:formal:1": "formal",
    "opp:formal:2": "informal casual",
    "opp:sweet:1": "sweet sugary sweetened",
    "opp:sweet:2": "unsweetened",
    "opp:chrono:1": "morning_person early_bird",
    "opp:chrono:2": "night_owl night_person",
    "opp:arch:1": "monolith monolithic monorepo",
    "opp:arch:2": "microservices split_into split_up_into polyrepo",
    "opp:vis:1": "public",
    "opp:vis:2": "private",
    "opp:mode:1": "dark",
    "opp:mode:2": "light_mode light_theme",
    "opp:temp:1": "hot",
    "opp:temp:2": "cold iced chilled",
    "opp:lr:1": "left left-handed",
    "opp:lr:2": "right right-handed",
    "opp:diet:1": "vegetarian vegan",
    "opp:diet:2": "meat steak lamb pork chicken beef bacon burger cheeseburger ham sausage",
    "opp:sync:1": "synchronous synchronously",
    "opp:sync:2": "asynchronous asynchronously",
    "opp:order:1": "ascending",
    "opp:order:2": "descending",
    "opp:case:1": "lowercase",
    "opp:case:2": "uppercase",
    "opp:auto:1": "manually by_hand manual",
    "opp:auto:2": "automatically automatic automated",
    "group:sibling": "brother sister brothers sisters sibling siblings twin",
    "group:pet": "pet pets dog cat hamster puppy kitten rabbit budgie parrot tortoise goldfish",
    "group:child": "child children kids kid son daughter sons daughters toddler",
    "group:car": "car cars",
    "group:partner": "girlfriend boyfriend wife husband spouse partner fiancé fiancée",
    "group:mate": "flatmate roommate housemate",
    "group:garden": "garden",
    "group:bike": "bike bicycle",
    "group:tv": "tv television",
    "hyper:sibling": "sibling siblings",
    "hyper:pet": "pet pets animal animals",
    "hyper:child": "child children kid kids",
    "lacks:partner": "single",
    "lacks:mate": "live_alone lives_alone living_alone live_on_my_own lives_on_her_own lives_on_his_own",
}

NUMBERS: dict[str, float] = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000, "million": 1e6, "dozen": 12,
    "couple_of": 2, "half": 0.5, "once": 1, "twice": 2, "thrice": 3, "k": 1000, "half_a": 0.5, "half_an": 0.5,
    "a_quarter_of_an": 0.25, "quarter_of_an": 0.25, "quarter": 0.25,
}  # fmt: skip

WEEKDAYS = "monday mon|tuesday tue tues|wednesday wed|thursday thu thurs|friday fri|saturday sat|sunday sun"
MONTHS = (
    "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep|october oct|"
    "november nov|december dec"
)

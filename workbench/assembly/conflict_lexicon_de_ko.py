"""German and Korean words the rule-based conflict test knows; the classes are those of `conflict_lexicon_en`.

Korean words are listed in the form that remains once particles and common endings are cut off (see `conflict_korean`).
"""

from __future__ import annotations

GERMAN: dict[str, str] = {
    "func": """der die das den dem des ein eine einen einem einer eines und oder ist sind war waren sein bin bist seid
        hat haben habe hatte hatten wird werden wurde wurden es er sie ihr ihn ihm ihnen mich mir dich dir uns euch
        sich man dass daß als wie so sehr auch noch schon mal nur ja wohl dort hier da dieser diese dieses diesem
        diesen welcher welche was wer wo wann warum bitte danke ganz etwa ungefähr circa eben doch gerade fast immer
        darf dürfen kann können muss müssen soll sollen gibt gib etwas mein meine meinen meinem meiner meines unser
        unsere unseren unserem dein deine seine ihre ihrem ihren richtig kommt kommen zu""",
    "and": "und",
    "indef": "ein eine einen einem einer",
    "prep": """in im an am auf aus bei beim mit nach von vom zu zum zur für gegen ohne um über unter vor hinter neben
        zwischen durch während seit bis ab wegen laut gegenüber fürs ins ans""",
    "conj": "aber weil obwohl während sondern und denn",
    "light": """ding dinge machen mache macht tag tage woche monat jahr heute gestern morgen abend nacht neu neue neuen
        neuer nutzen nutze nutzt verwenden verwende verwendet gehen geht gehe bleibt liegt steht stehen enthält
        kriege bekomme lassen lässt diese_woche diesen_monat dieses_jahr nächste_woche morgens abends täglich lang
        besitze besitzt besitzen pflegen""",
    "neg": "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand nirgends weder nirgendwo",
    "never": "nie niemals",
    "noneg": "nicht_nur nichts_als kein_problem kein_wunder keine_ahnung nicht_wahr",
    "end": """nicht_mehr kein_mehr aufgehört gekündigt kündigte abgesagt abgeblasen gestrichen eingestellt aufgegeben
        abgeschafft ersetzt ersetzte abgelöst statt anstatt anstelle storniert ausgetreten abgemeldet entfernt
        verabschiedet weg aufgelöst umgestiegen_von gewechselt_von abgebrochen verworfen umgestellt_von abgeschaltet
        ausgestiegen""",
    "endword": "mehr",
    "move": """umgezogen umzug gezogen zog ziehen verlegt verlegte gewechselt wechselte umgestiegen umgestellt
        gewandert migriert versetzt verlagert""",
    "resched": "verschoben verlegt gelegt vorgezogen vertagt umgelegt verlängert",
    "upd": """jetzt nun inzwischen mittlerweile neuerdings nunmehr ab_sofort nur_noch nun_doch heutzutage von_nun_an
        seit_dem derzeit""",
    "past": """war waren hatte hatten ging gingen sah sahen kam kamen lief liefen kaufte bekam nahm aß trank fuhr
        schrieb las wohnte arbeitete lebte spielte wurde_gebaut sagte machte fand gab traf blieb flog""",
    "pastb": "früher damals ehemals einst vormals als_kind als_student als_studentin als_jugendlicher vor_jahren",
    "if": "wenn falls sofern",
    "hypo": "würde würden könnte könnten sollte sollten wäre wären hätte hätten vielleicht eventuell möglicherweise",
    "self": "ich wir mich mir uns nutzer nutzerin benutzer",
    "nom": "ich wir er sie du ihr",
    "poss": "mein meine meinen meinem meiner meines unser unsere unseren unserem unserer sein seine ihre dein deine",
    "mine": "mein meine meinen meinem meiner meines unser unsere unseren unserem unserer",
    "you": "du dich dir dein deine ihr euch",
    "third": "er ihn ihm sie",
    "univ": "alle alles jeder jede jedes ausschließlich nur sämtliche ganze einzige einziger einziges",
    "pref": "bevorzuge bevorzugt bevorzugen lieber lieblings am_liebsten ziehe_vor vorzugsweise",
    "uniqadj": "hauptsächlich einziges einzige einziger",
    "uniq": """hausarzt hausärztin zahnarzt zahnärztin chef chefin vorgesetzter vorgesetzte vermieter vermieterin
        passwort kennwort adresse anschrift geburtstag blutgruppe hauptstadt telefonnummer nachname spitzname
        lieblingsfarbe lieblingsbuch lieblingsessen lieblingsfilm lieblingsautor lieblingsautorin lieblingstier
        klassenlehrer klassenlehrerin steuerberater steuerberaterin""",
    "kin": """bruder schwester mutter vater mama papa frau mann sohn tochter cousin cousine nachbar nachbarin freund
        freundin onkel tante oma opa großmutter großvater eltern kind kinder ehefrau ehemann schwiegermutter
        schwiegervater neffe nichte schwager schwägerin enkel enkelin mitbewohner mitbewohnerin baby kollege
        kollegin""",
    "slot:reside": "wohne wohnt wohnen lebe lebt leben miete wohnung wg haus umzug umgezogen ziehe zog gezogen",
    "slot:work": "arbeite arbeitet arbeiten job stelle angestellt beschäftigt",
    "slot:study": "studiere studiert uni universität hochschule",
    "slot:place": "liegt hängt steht lagert gehostet befindet aufbewahrt",
    "slot:site": "büro firma archiv sitz lager laden",
    "slot:tool": "läuft geschrieben entwickelt heizen heizt",
    "scope:season": "sommer winter frühling frühjahr herbst",
    "scope:week": "wochenende wochenenden wochentags werktags feiertags",
    "scope:rel": "nach vor innerhalb außerhalb außer während bis",
    "scope:term": "ferien schulzeit urlaub semester",
    "scope:part": "mittags frühstück abendessen",
    "scope:where": "zuhause daheim",
    "syn:love": "mag mögen magst liebe liebt lieben gern gerne genieße",
    "flip:love": "hasse hasst verabscheue ungern",
    "flip:open": "geschlossen zu_hat schließt",
    "syn:open": "offen geöffnet öffnet auf_hat",
    "syn:allow": "erlaubt gestattet zugelassen",
    "flip:allow": "verboten untersagt",
    "flip:marri": "unverheiratet",
    "flip:sich": "unsicher",
    "syn:costs": "kostet kosten preis zahle zahlt zahlen gebühr beitrag bezahle",
    "syn:start": "beginnt beginnen fängt_an startet",
    "syn:accept": "angenommen zugesagt",
    "flip:accept": "abgelehnt ausgeschlagen",
    "syn:reply": "antwort antworten",
    "weak": """wohne wohnt wohnen lebe lebt leben arbeite arbeitet arbeiten studiere studiert esse isst trinke trinkt
        lese liest spreche spricht brauche braucht will möchte kaufe kauft spielt spiele fahre fährt""",
    "opp:marital:1": "ledig single",
    "opp:marital:3": "verlobt",
    "opp:marital:4": "verheiratet geheiratet heirateten",
    "opp:marital:5": "geschieden getrennt",
    "opp:ticket:1": "offen ausstehend steht_noch_aus noch_aus in_bearbeitung in_prüfung",
    "opp:ticket:2": "erledigt genehmigt bewilligt abgeschlossen geschickt eingetroffen erteilt abgelehnt",
    "opp:damage:1": "kaputt defekt undicht tropft beschädigt",
    "opp:damage:2": "repariert behoben instandgesetzt geflickt",
    "opp:job:1": "arbeitslos arbeitssuchend auf_jobsuche",
    "opp:job:2": "angefangen_bei eingestellt neue_stelle",
    "opp:hospital:1": "im_krankenhaus",
    "opp:hospital:2": "entlassen",
    "opp:arrive:1": "unterwegs bestellt",
    "opp:arrive:2": "geliefert angekommen eingetroffen",
    "opp:firm:1": "weich",
    "opp:firm:2": "bissfest hart fest",
    "opp:len:1": "kurz kurze kurzen knapp knappe",
    "opp:len:2": "lang lange langen ausführlich ausführliche ausführlichen",
    "opp:formal:1": "siezen förmlich gesiezt",
    "opp:formal:2": "duzen geduzt",
    "opp:diet:1": "vegetarier vegetarierin veganer veganerin vegetarisch vegan",
    "opp:diet:2": "fleisch schnitzel wurst steak speck hähnchen",
    "group:child": "kind kinder sohn tochter söhne töchter",
    "group:sibling": "geschwister bruder schwester brüder schwestern",
    "group:pet": "haustier haustiere hund katze kater hamster",
    "hyper:child": "kinder",
    "hyper:sibling": "geschwister",
    "hyper:pet": "haustier haustiere",
    "group:car": "auto autos wagen golf",
    "group:partner": "freundin freund ehefrau ehemann frau mann",
    "lacks:partner": "single ledig",
    "lacks:mate": "wohne_allein lebe_allein wohnt_allein lebt_allein",
    "group:mate": "mitbewohner mitbewohnerin",
}

KOREAN: dict[str, str] = {
    "func": """오전 오후 에 은 는 가 을 를 로 으로 까지 부터 의 와 과 이다 다 쯤 나 저 내 제 우리 이
        그 것 수 때 있 하 되 더 도 또 및 좀 꼭 늘 항상 아주 매우 정말 이미 아직 모두 그리고
        바로 해 주 주세요 부탁 번거로우시겠지만 만들어 법 에서 거기 약 당시 각각 만 씩 중이 중""",
    "weak": "다니 배우 먹 마시 읽 보",
    "light": """오늘 어제 내일 매일 매주 매달 이번 지난달 지난주 다음 아침마다 일 년 날 시작 새로 사용하 쓰
        기능 집 이번주 내년 올해""",
    "neg": "안 못 없 않 아니 말",
    "never": "한번도 결코 절대",
    "end": """그만두 그만뒀 취소 해지 끊 포기 중단 폐지 철회 탈퇴 더이상 접었 그만하 대신 없앴 폐기 취소되
        취소하 해지하 중단하 포기하 끊었""",
    "move": """이사 이사하 옮기 옮겼 옮긴 옮겨 바꾸 바꿔 바뀌 바꿨 전학 이전 이전하 이직 갈아탔 전환 이적""",
    "resched": "미뤄 미루 미뤘 연기 연기되 앞당겨 앞당 변경 변경되 옮겨 당겨",
    "upd": "이제 지금 요즘 현재 앞으로 이제부터 바꿔 올라 내려 올랐 내렸",
    "pastb": "예전 옛날 과거 어렸 어릴 학생때 전에",
    "if": "만약 만일",
    "hypo": "만약 만일 혹시",
    "self": "나 저 사용자",
    "nom": "나 저 우리 사용자",
    "mine": "내 제 우리",
    "poss": "내 제 우리",
    "univ": "전부 모두 항상 오직 유일 모든 만",
    "pref": "선호 선호하 낫 더좋아하",
    "uniq": """비밀번호 주소 생일 혈액형 상사 담임 주치의 팀장 전화번호 별명 수도 본사 최애 기본 메인
        좋아하는색""",
    "kin": """형 누나 오빠 언니 동생 남동생 여동생 아버지 어머니 엄마 아빠 아내 남편 아들 딸 할머니
        할아버지 이모 고모 삼촌 친구 이웃 큰아이 작은아이 장인어른 장모님 시어머니 시아버지 조카 부모님
        여자친구 남자친구 사촌 큰딸 작은딸 큰아들 작은아들 룸메이트""",
    "slot:reside": "살 산다 사 살고 거주 거주하 전세 월세 원룸 아파트 이사 이사하 집",
    "slot:work": "근무 근무하 다니 일하 직장 회사",
    "slot:study": "대학 대학교 학교 전공",
    "slot:place": "보관 보관하 걸려 두",
    "slot:site": "사무실 본사 회사 가게",
    "slot:tool": "작성 배포 배포하 개발",
    "scope:season": "여름 겨울 봄 가을",
    "scope:week": "주말 평일 주중",
    "scope:term": "방학 학기 휴가",
    "scope:rel": "이후 이전 밖 안에",
    "scope:part": "아침 점심 저녁 밤",
    "syn:love": "좋아하 사랑하 즐기 즐겨 좋",
    "flip:love": "싫어하 싫 싫어 질색 미워하",
    "flip:open": "닫 닫혀 닫았",
    "syn:open": "열 열려 연다",
    "flip:allow": "금지 금지되",
    "syn:allow": "허용 허용되 가능",
    "syn:costs": "가격 비용 요금 통신비 값 월세",
    "opp:marital:1": "미혼 독신 솔로",
    "opp:marital:3": "약혼 약혼하",
    "opp:marital:4": "결혼 결혼하 기혼",
    "opp:marital:5": "이혼 이혼하",
    "opp:ticket:1": "대기 심사 보류 미정 진행",
    "opp:ticket:2": "승인 승인되 완료 해결 완료되 해결되 통과 통과하",
    "opp:damage:1": "고장 망가 깨",
    "opp:damage:2": "수리 수리하 고쳤 고쳐",
    "opp:job:1": "무직 백수 실업자 실직 구직",
    "opp:job:2": "취직 취직하 입사 입사하 야근 출근 출근하 취업",
    "opp:hospital:1": "입원 입원하",
    "opp:hospital:2": "퇴원 퇴원하",
    "opp:formal:1": "존댓말 높임말",
    "opp:formal:2": "반말",
    "opp:diet:1": "채식 채식주의자 비건",
    "opp:diet:2": "고기 삼겹살 소고기 돼지고기 닭고기",
    "group:child": "아들 딸 아이",
    "group:sibling": "형제 자매 형 누나 언니 오빠 동생",
    "group:pet": "반려동물 강아지 고양이 개",
    "hyper:child": "아이 자녀",
    "hyper:sibling": "형제 자매",
    "hyper:pet": "반려동물",
    "group:car": "차 자동차 승용차",
    "group:partner": "여자친구 남자친구 아내 남편",
    "lacks:partner": "미혼 솔로",
}

NUMBERS_DE: dict[str, float] = {
    "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "elf": 11,
    "zwölf": 12, "fünfzehn": 15, "zwanzig": 20, "dreißig": 30, "vierzig": 40, "fünfzig": 50, "sechzig": 60,
    "hundert": 100, "tausend": 1000, "halb": 0.5, "halbe": 0.5, "halben": 0.5, "anderthalb": 1.5, "eineinhalb": 1.5,
    "dutzend": 12, "dreizehn": 13, "vierzehn": 14,
}  # fmt: skip
NUMBERS_KO: dict[str, float] = {
    "한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9, "열": 10, "열한": 11,
    "열두": 12, "스무": 20, "서른": 30, "마흔": 40, "쉰": 50, "하나": 1, "둘": 2, "셋": 3, "넷": 4,
}  # fmt: skip
WEEKDAYS_DE = (
    "montag montags|dienstag dienstags|mittwoch mittwochs|donnerstag donnerstags|freitag freitags|"
    "samstag samstags sonnabend sonnabends|sonntag sonntags"
)
MONTHS_DE = "januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember"
WEEKDAYS_KO = "월요일|화요일|수요일|목요일|금요일|토요일|일요일"

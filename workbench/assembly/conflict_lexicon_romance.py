"""Spanish and Portuguese words the rule-based conflict test knows; the classes are those of `conflict_lexicon_en`."""

from __future__ import annotations

SPANISH: dict[str, str] = {
    "func": """el la los las lo un una unos unas al del que y e o u es son era ser soy somos está están estoy estamos
        estar ha han he hemos haber hay había se le les te os nos me mi mis tu tus su sus este esta estos estas ese
        esa eso muy más menos ya también como cuando donde cual quien aún todavía tan así sólo solo bastante casi
        al_final tengo tiene tenemos tienen tener habrá por_favor gracias siempre habla""",
    "and": "y e",
    "indef": "un una unos unas",
    "prep": """de del a al en con por para sobre bajo desde entre hacia tras ante contra según hasta dentro durante
        después antes""",
    "conj": "pero porque aunque mientras y",
    "light": """cosa cosas persona personas hacer hago hace vez día días semana mes año hoy ayer mañana noche tarde
        nuevo nueva usar uso usa usamos echo echar llevar lleva llevo va voy ir van poner pone pongo encuentra
        contiene incluye queda quedan esta_semana este_mes este_año todos_los_días cada""",
    "neg": "no nunca jamás nada nadie ningún ninguna ninguno sin tampoco ni",
    "never": "nunca jamás",
    "noneg": "no_sólo no_solo no_obstante nada_más sin_embargo sin_duda sin_problema",
    "end": """ya_no dejé dejó dejado dejar_de dejo_de dejamos cancelado cancelada cancelar canceló cancelé cancelamos
        abandoné abandonado abandonó suspendido suspendida suspendieron anulado anulada anularon dio_de_baja
        di_de_baja de_baja sustituido sustituida reemplazado reemplazada reemplazó sustituyó borrado eliminado
        en_lugar_de en_vez_de renunció renuncié descartado descartamos desistimos cambiado_de cambié_de cambiamos_de
        cambió_de retirado retirada quitado""",
    "move": """mudado mudada mudó mudé mudanza mudamos mudar trasladado trasladada trasladó trasladé trasladamos
        pasamos cambié cambiado cambiamos cambió migrado migramos migró""",
    "resched": """aplazado aplazada pospuesto pospuesta aplazó adelantado adelantada retrasado retrasada reprogramado
        cambiado_al""",
    "upd": """ahora actualmente desde_ahora a_partir_de últimamente hoy_en_día subido subieron bajado bajaron al_final
        en_adelante""",
    "past": """era fue fui fueron tuve tuvo hizo hice hicimos vi vio fuimos llevé pasó compré compró dije dijo estuve
        estuvo había trabajé trabajó vivía vivió viví comí comió tuvimos nació gané ganó perdí perdió""",
    "pastb": """antes_tocaba antiguamente solía solíamos solían cuando_era de_niño de_niña de_pequeño de_pequeña
        en_el_pasado hace_años""",
    "if": "si",
    "hypo": """quizá quizás tal_vez ojalá podría podríamos debería deberíamos gustaría sería estaría tendría viviría
        iría""",
    "self": "yo me mí nosotros nosotras conmigo usuario usuaria",
    "first": """vivo trabajo tengo soy estoy he prefiero uso hablo bebo como tomo leo compro necesito quiero voy hago
        guardo pago estudio vivimos trabajamos tenemos somos estamos usamos pagamos terminé desayuno""",
    "nom": "yo nosotros él ella ellos ellas usted",
    "poss": "mi mis nuestro nuestra nuestros nuestras su sus tu tus",
    "mine": "mi mis nuestro nuestra nuestros nuestras",
    "third": "él ella ellos ellas",
    "univ": "todo toda todos todas único única solamente únicamente exclusivamente siempre",
    "pref": "prefiero prefiere preferimos preferido preferida favorito favorita",
    "uniqadj": "principal favorito favorita preferido predeterminado único única titular",
    "uniq": """contraseña dirección jefe jefa cumpleaños cabecera dentista casero casera apellido capital teléfono
        clave grupo_sanguíneo sede médico_de_cabecera médica_de_cabecera""",
    "kin": """hermano hermana padre madre papá mamá marido esposa esposo mujer hijo hija primo prima vecino vecina
        amigo amiga tío tía abuelo abuela novia novio pareja padres hijos suegro suegra sobrino sobrina cuñado
        cuñada nieto nieta bebé niño niña yerno nuera compañero compañera""",
    "slot:reside": """vivo vive vivimos viven vivir piso apartamento casa alquiler mudanza reside resido mudado mudó
        mudé mudada mudamos""",
    "slot:work": "trabajo trabaja trabajamos trabajan empleo contratado contrataron",
    "slot:study": "estudio estudia universidad colegio instituto",
    "slot:place": "guardo guarda guardan guardamos está_en alojado alojada ubicado ubicada queda_en cuelga",
    "slot:site": "oficina sede empresa",
    "slot:tool": "despliega ejecuta escrito escrita desplegado funciona",
    "scope:season": "verano invierno primavera otoño",
    "scope:week": "entre_semana finde fin_de_semana fines_de_semana laborables festivos",
    "scope:rel": "antes después dentro fuera tras",
    "scope:where": "casa",
    "scope:if": "cuando",
    "scope:term": "vacaciones curso",
    "scope:part": "mañana tarde noche mediodía desayuno cena almuerzo",
    "syn:love": "gusta gustan gusto encanta encantan adoro adora apasiona encantado amo disfruto",
    "flip:love": """odio odia detesto detesta aborrezco no_soporto no_aguanto no_soporta no_aguanta no_me_gusta
        no_le_gusta""",
    "flip:open": "cerrado cerrada cierra cierran cierro",
    "syn:open": "abre abren abierto abierta abrir",
    "syn:allow": "permitido permitida permite permiten admiten",
    "flip:allow": "prohibido prohibida prohíbe prohíben",
    "syn:costs": "cuesta cuestan precio pago paga pagamos tarifa cuota cobra cobran coste costar",
    "syn:accept": "aceptado acepté aceptó acepta",
    "flip:accept": "rechazado rechacé rechazó rechaza",
    "syn:start": "sale empieza comienza empiezo empezar comenzar",
    "syn:doctor": "doctor doctora médico médica dr dra médico_de_cabecera médica_de_cabecera",
    "weak": """vivo vive trabajo trabaja como come bebo bebe hablo habla quiero quiere necesito necesita tomo toma leo
        lee compro compra uso""",
    "opp:marital:1": "soltero soltera",
    "opp:marital:3": "prometidos prometido prometida",
    "opp:marital:4": "casado casada casados casó casamos casaron",
    "opp:marital:5": "divorciado divorciada separado separada",
    "opp:ticket:1": "pendiente abierta en_trámite en_revisión pendientes",
    "opp:ticket:2": "cerrada resuelto resuelta aprobado aprobada concedido concedida rechazada denegado denegada",
    "opp:damage:1": "roto rota averiado averiada estropeado estropeada gotea",
    "opp:damage:2": "reparado reparada arreglado arreglada",
    "opp:job:1": "paro desempleado desempleada sin_trabajo buscando_trabajo",
    "opp:job:2": "contratado contratada empecé_a_trabajar contrataron",
    "opp:hospital:1": "ingresado ingresada",
    "opp:hospital:2": "dado_de_alta el_alta",
    "opp:arrive:1": "en_camino",
    "opp:arrive:2": "llegado entregado entregada llegó",
    "opp:firm:1": "blando blanda",
    "opp:firm:2": "duro dura firme",
    "opp:len:1": "corto corta cortas cortos breve breves",
    "opp:len:2": "largo larga largas largos detallada detalladas",
    "opp:diet:1": "vegetariano vegetariana vegano vegana",
    "opp:diet:2": "carne jamón chuletón cordero pollo cerdo ternera",
    "group:child": "hijo hija hijos hijas",
    "group:sibling": "hermano hermana hermanos hermanas",
    "group:pet": "mascota mascotas perro perra gato gata",
    "hyper:child": "hijos",
    "hyper:sibling": "hermanos",
    "hyper:pet": "mascota mascotas",
    "group:car": "coche coches carro auto",
    "group:partner": "novia novio marido esposa esposo mujer pareja",
    "lacks:partner": "soltero soltera",
    "lacks:mate": "vivo_solo vivo_sola vive_solo vive_sola",
    "group:mate": "compañero_de_piso compañera_de_piso",
}

PORTUGUESE: dict[str, str] = {
    "func": """o a os as um uma uns umas ao à às aos do da dos das no na nos nas num numa pelo pela pelos pelas que e
        ou é são era ser sou somos está estão estou estamos estar há tem têm tenho temos ter se lhe lhes me te meu
        minha meus minhas seu sua seus suas nosso nossa este esta estes estas esse essa isso muito mais menos também
        como já ainda tão assim só quase bem então para_mim por_favor por_gentileza obrigado obrigada quando onde
        sempre foi foram""",
    "and": "e",
    "indef": "um uma uns umas",
    "prep": """de do da dos das a à às ao em no na nos nas num numa com por para pra sobre sob desde entre até sem
        contra segundo dentro durante depois antes pelo pela""",
    "conj": "mas porque embora enquanto e",
    "light": """coisa coisas pessoa pessoas haverá fazer faço faz vez dia dias semana mês ano hoje ontem amanhã noite
        tarde manhã novo nova usar uso usa usamos vai vou ir vão pôr põe fica ficam contém inclui passam esta_semana
        este_mês este_ano todo_dia todos_os_dias cada todo toda lá cedo vida""",
    "neg": "não nunca jamais nada ninguém nenhum nenhuma sem nem tampouco",
    "never": "nunca jamais",
    "noneg": "não_só não_apenas sem_dúvida sem_problema nada_mais",
    "end": """já_não deixei_de deixou_de deixamos_de parei_de parou_de paramos_de parei parou cancelei cancelou
        cancelado cancelada cancelamos desisti desistiu desistimos abandonei abandonou abandonamos trocamos troquei
        trocou trocado substituí substituiu substituído substituída substituímos larguei largou saí_da saí_do
        saiu_da saiu_do em_vez_de no_lugar_de suspenso suspensa aposentamos removemos removido encerrado encerrada
        encerrou mudei_de mudamos_de migramos_do migramos_da""",
    "endword": "mais",
    "move": """mudei mudou mudamos mudaram mudança mudado transferido transferida transferiu migramos migrou migrado
        passei trocou""",
    "resched": """adiado adiada adiou adiamos remarcado remarcada remarcou antecipado antecipada adiantado
        transferida_para""",
    "upd": "agora atualmente hoje_em_dia a_partir_de ultimamente subiu aumentou baixou daqui_em_diante no_momento",
    "past": """era foi fui foram tive teve fez fiz vi viu vendeu comprei comprou disse estive esteve havia morei morou
        trabalhei trabalhou morava comi comeu corrigi nasceu ganhei ganhou perdi perdeu voltei saí""",
    "pastb": """antigamente costumava costumávamos quando_era quando_criança em_criança no_passado antes_eu anos_atrás""",
    "if": "se",
    "hypo": "talvez tomara poderia poderíamos deveria deveríamos gostaria seria estaria teria moraria iria",
    "self": "eu me mim nós comigo usuário usuária gente",
    "first": """moro trabalho tenho sou estou prefiro uso falo bebo como tomo leio compro preciso quero vou faço guardo
        pago gosto estudo moramos trabalhamos temos somos estamos usamos pagamos""",
    "nom": "eu nós ele ela eles elas você vocês",
    "poss": "meu minha meus minhas nosso nossa nossos nossas seu sua seus suas",
    "mine": "meu minha meus minhas nosso nossa nossos nossas",
    "you": "você vocês",
    "third": "ele ela eles elas",
    "univ": "tudo todos todas único única somente apenas unicamente exclusivamente só",
    "pref": "prefiro prefere preferimos preferido preferida favorito favorita",
    "uniqadj": "principal favorito favorita preferido padrão único única",
    "uniq": """senha endereço chefe aniversário dentista sobrenome capital telefone sede tipo_sanguíneo apelido
        senhorio""",
    "kin": """irmão irmã pai mãe papai mamãe marido esposa esposo mulher filho filha primo prima vizinho vizinha amigo
        amiga tio tia avô avó namorada namorado pais filhos sogro sogra sobrinho sobrinha cunhado cunhada neto neta
        bebê genro nora colega""",
    "slot:reside": """moro mora moramos moram morar vivo vive apartamento casa aluguel mudei mudou mudamos mudança
        resido reside""",
    "slot:work": "trabalho trabalha trabalhamos trabalham emprego contratado contratada",
    "slot:study": "estudo estuda universidade faculdade colégio escola",
    "slot:place": "guardo guarda guardamos fica ficam hospedado hospedada pendurada",
    "slot:site": "escritório empresa sede loja",
    "slot:tool": "roda rodam escrito escrita implantado implantada",
    "scope:season": "verão inverno primavera outono",
    "scope:week": "fim_de_semana fins_de_semana feriados dias_úteis",
    "scope:rel": "antes depois dentro fora",
    "scope:if": "quando",
    "scope:term": "férias aulas",
    "scope:part": "manhã tarde noite almoço jantar",
    "syn:offic": "escritório empresa firma",
    "syn:love": "gosto gosta gostamos gostam adoro adora adoramos amo ama curto",
    "flip:love": "odeio odeia detesto detesta não_suporto não_aguento não_suporta não_aguenta",
    "flip:open": "fechado fechada fecha fecham",
    "syn:open": "abre abrem aberto aberta abrir",
    "syn:allow": "permitido permitida permite permitem",
    "flip:allow": "proibido proibida proíbe proíbem",
    "syn:costs": "custa custam preço pago paga pagamos mensalidade tarifa taxa cobra cobram valor",
    "syn:accept": "aceitei aceitou aceito aceita",
    "flip:accept": "recusei recusou recuso rejeitou",
    "syn:start": "começa começam sai inicia",
    "syn:reform": "reforma reformar reformamos",
    "weak": """moro mora trabalho trabalha como come bebo bebe falo fala quero quer preciso precisa tomo toma leio lê
        compro compra""",
    "opp:marital:1": "solteiro solteira",
    "opp:marital:3": "noivo noiva noivos",
    "opp:marital:4": "casado casada casados casou casamos casaram",
    "opp:marital:5": "divorciado divorciada separado separada",
    "opp:ticket:1": "pendente aberto em_análise pendentes em_andamento",
    "opp:ticket:2": "fechado resolvido resolvida aprovado aprovada concluído concluída aprovou",
    "opp:damage:1": "quebrado quebrada estragado estragada vazando pinga",
    "opp:damage:2": "consertado consertada conserto arrumado arrumada consertou",
    "opp:job:1": "desempregado desempregada procurando_emprego",
    "opp:job:2": "contratado contratada comecei_a_trabalhar",
    "opp:hospital:1": "internado internada",
    "opp:hospital:2": "teve_alta recebeu_alta alta",
    "opp:arrive:1": "a_caminho",
    "opp:arrive:2": "chegou entregue entregaram",
    "opp:sweet:1": "doce adoçado",
    "opp:sweet:2": "sem_açúcar amargo",
    "opp:firm:1": "macio macia mole",
    "opp:firm:2": "duro dura firme",
    "opp:len:1": "curto curta curtas curtos breve",
    "opp:len:2": "longo longa longas longos detalhada detalhadas",
    "opp:diet:1": "vegetariano vegetariana vegano vegana",
    "opp:diet:2": "carne churrasco picanha frango porco boi",
    "group:child": "filho filha filhos filhas",
    "group:sibling": "irmão irmã irmãos irmãs",
    "group:pet": "bicho cachorro cachorra gato gata pet",
    "hyper:child": "filhos",
    "hyper:sibling": "irmãos",
    "hyper:pet": "bicho bichos pet animais",
    "group:car": "carro carros",
    "group:partner": "namorada namorado marido esposa esposo mulher",
    "lacks:partner": "solteiro solteira",
    "lacks:mate": "moro_sozinho moro_sozinha mora_sozinho mora_sozinha",
}

NUMBERS_ES: dict[str, float] = {
    "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8, "nueve": 9, "diez": 10, "once": 11,
    "doce": 12, "trece": 13, "catorce": 14, "quince": 15, "dieciséis": 16, "veinte": 20, "treinta": 30, "cuarenta": 40,
    "cincuenta": 50, "sesenta": 60, "ochenta": 80, "cien": 100, "cientos": 100, "mil": 1000, "medio": 0.5, "media": 0.5,
    "docena": 12,
}  # fmt: skip
NUMBERS_PT: dict[str, float] = {
    "dois": 2, "duas": 2, "três": 3, "quatro": 4, "cinco": 5, "seis": 6, "sete": 7, "oito": 8, "nove": 9, "dez": 10,
    "onze": 11, "doze": 12, "treze": 13, "catorze": 14, "quinze": 15, "dezesseis": 16, "vinte": 20, "trinta": 30,
    "quarenta": 40, "cinquenta": 50, "sessenta": 60, "oitenta": 80, "cem": 100, "mil": 1000, "meio": 0.5, "meia": 0.5,
    "dúzia": 12,
}  # fmt: skip
WEEKDAYS_ES = "lunes|martes|miércoles|jueves|viernes|sábado sábados|domingo domingos"
WEEKDAYS_PT = (
    "segunda segunda-feira segundas|terça terça-feira terças|quarta quarta-feira quartas|quinta quinta-feira quintas|"
    "sexta sexta-feira sextas|sábado sábados|domingo domingos"
)
MONTHS_ES = "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
MONTHS_PT = "janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro"

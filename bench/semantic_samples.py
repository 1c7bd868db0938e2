"""Made-up databases of many trades and languages, each column with what it truly is.

A second set to judge semantic types on, beside the corpus: hospitals, schools, banks, shops, logs
and old systems with cryptic names, generated with a fixed seed. A table is a line with its name and
its rows, then a line a column: name, DuckDB type, label ("none" for everything that has no label
word) and generator.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fluid_build.profiling.semantic_types import ColumnFacts


@dataclass(frozen=True, slots=True)
class Sample:
    """A column of a made-up database and its label."""

    database: str
    label: str
    facts: ColumnFacts


GIVEN = {
    "en": """Emma Liam Harriet Desmond Tabatha Quentin Beverley Rosalind Clifton Jodie Ayesha
        Bartholomew Leanne Percival Maeve Tyrone Shanice Winston Gwendolyn Hugo Kirsty Lorcan
        Delilah Otis""",
    "de": """Jürgen Anneliese Kevin Björn Lieselotte Thorben Gesine Hartwig Svenja Ottokar Mechthild
        Jannes Heiner Katharina Wiebke Lennart Friederike Dörte Ulf Sieglinde Malte Swantje""",
    "fr": """Amélie Benoît Solène Thibault Océane Jean-Luc Maëlys Gaspard Ségolène Loïc Bérénice
        Aurélien Capucine Fabrice Ghislaine Yannick Clémentine Romuald Élodie Lucas""",
    "es": """José Guadalupe Íñigo Rocío Maximiliano Itzel Lupita Nicanor Araceli Wilson Yolanda
        Gonzalo Xiomara Eusebio Marisol Leandro Begoña Santiago Noemí Ulises""",
    "it": """Giulia Matteo Ludovica Tommaso Fiorella Gianmarco Ornella Calogero Rosaria Alessio
        Beatrice Ruggero Domitilla Federico Assunta Nicolò Chiara Salvatore""",
    "pt": """João Conceição Thiago Jussara Raimundo Luciene Gonçalo Edilson Marlene Inês Wanderley
        Fátima Caio Bruna Adalberto Sueli Matheus Leonor""",
    "nl": """Sanne Gijs Fenna Teun Marloes Bram Liesbeth Wouter Anouk Joris Femke Siebe Greetje
        Maarten""",
    "xx": """Priya Kwabena Yuki Mehmet Olga Ngozi Ahmed Wei Siobhán Bogdan Ananya Khadija Tomasz
        Zsófia""",
}
LAST = {
    "en": """Smith Okafor Pemberton Hughes O'Brien Lockwood Singh Castellano Whitaker Nguyen
        Fairbanks Mercer Abernathy Dunlop Ramsey Thorne MacLeod Bickerstaff Jones Patel""",
    "de": """Müller Schmidtbauer Özdemir Krause Zimmermann Vogelsang Hartmann Reichelt Kowalski Böhm
        Eickhoff Lindemann Stöcker Weiß von-Bülow Petersen Nowak""",
    "fr": """Martin Lefebvre Dubois-Renard Chevallier Moreau Benali D'Alembert Guérin Lacroix
        Poulain
        Marchand Traoré Vasseur Charpentier Le-Goff""",
    "es": """García López Hernández Quispe Zapatero Iturbe Montoya Villaseñor Ruiz Cárdenas Bermúdez
        Peñalver Soto Echeverría Fuentes""",
    "it": """Rossi Esposito Bianchi Colombo D'Angelo Lo-Presti Mancuso Ferrari Sorrentino Galli
        Bonfiglio Marchetti Zanetti Conti""",
    "pt": """Silva Oliveira Albuquerque Nogueira Vasconcelos Sampaio Couto Ferreira Teixeira Barreto
        Pires""",
    "nl": "Jansen Visser Hoekstra Dijkstra Bakker Meijer Postma Brouwer Vermeulen Kuiper",
    "xx": """Sharma Mensah Tanaka Yildiz Ivanova Adeyemi Hassan Chen Kelly Popescu Iyer Rahman
        Wójcik
        Kovács""",
}
STREETS = {
    "en": [
        "{n} {w} Street",
        "{n} {w} Ave",
        "{n} {w} Road, Apt {m}",
        "Flat {m}, {n} {w} Lane",
        "PO Box {n}",
        "{n} N {w} Blvd",
    ],
    "de": [
        "{w}straße {m}",
        "Am {w}berg {m}a",
        "{w}weg {m}",
        "{w}allee {m}-{n}",
    ],
    "fr": [
        "{m} rue de {w}",
        "{m} bis, avenue {w}",
        "{m}, place du {w}",
        "Résidence {w}, Bât. {m}",
    ],
    "es": [
        "Calle {w} {m}",
        "Av. {w} {n}, Piso {m}",
        "C/ {w} nº {m}",
        "Carrera {m} # {m}-{m}",
    ],
    "it": [
        "Via {w} {m}",
        "Corso {w}, {m}",
        "Piazza {w} {m}",
        "Viale {w} {m}/B",
    ],
    "pt": [
        "Rua {w}, {n}",
        "Avenida {w} {n}, Apto {m}",
        "Travessa {w} {m}",
        "Alameda {w}, {n}",
    ],
    "nl": [
        "{w}straat {m}",
        "{w}laan {m}",
        "{w}gracht {n}",
        "{w}weg {m}b",
    ],
}
WORDS = [
    "Oak",
    "Linden",
    "Victoria",
    "Garibaldi",
    "Goethe",
    "Wilson",
    "Cedar",
    "Mozart",
    "Liberty",
    "Station",
    "Mill",
    "Church",
    "Verdi",
    "Rose",
    "Park",
    "Colombo",
    "Reforma",
    "Independencia",
    "Schiller",
    "Beethoven",
    "Chestnut",
    "Harbour",
    "Kings",
    "Bahnhof",
    "Roma",
    "Juarez",
]
CITIES = [
    "Berlin",
    "Lyon",
    "Sevilla",
    "Bologna",
    "Porto",
    "Utrecht",
    "Leeds",
    "Austin",
    "Madison",
    "Florence",
    "Charlotte",
    "Victoria",
]
COMPANIES = [
    "Northgate Logistics Ltd",
    "Bäckerei Hoffmann GmbH",
    "Martin & Fils SARL",
    "Acme Corp",
    "Wilson Electronics Inc.",
    "Green Valley Foods",
    "Grupo Hernández S.A.",
    "Rossi Trasporti S.p.A.",
    "Delta Systems",
    "BlueSky Airlines",
    "Johnson Controls",
    "Marks and Spencer",
    "Deutsche Bank AG",
    "Farmacia San José",
    "Charles Schwab Corporation",
]
PRODUCTS = [
    "Oak Dining Table",
    "USB-C Cable 2m",
    "Organic Green Tea",
    "Wireless Mouse",
    "Trail Running Shoe",
    "Espresso Machine",
    "Cotton T-Shirt XL",
    "Noise Cancelling Headphones",
    "Garden Hose 15m",
    "LED Bulb E27",
    "Notebook A5",
    "Yoga Mat",
    "Madison Lamp",
    "Florence Armchair",
    "Diego Sofa",
]
SENTENCES = [
    "Customer called about a late delivery and wants a refund.",
    "Please leave the parcel with the neighbour.",
    "The patient reports mild headache since yesterday evening.",
    "Order was cancelled because of stock issues.",
    "Meeting moved to next week, see notes from Maria.",
    "Replaced the broken part and tested it twice.",
]

Rng = random.Random
Maker = Callable[[Rng, int], object]


def _pick(pool: str) -> Maker:
    choices = pool.split("|") if "|" in pool else pool.split()
    return lambda rng, _: rng.choice(choices)


def _digits(rng: Rng, count: int) -> str:
    return str(rng.randint(1, 9)) + "".join(str(rng.randint(0, 9)) for _ in range(count - 1))


def _person(language: str, form: str) -> Maker:
    given, last = GIVEN[language].split(), LAST[language].split()

    def make(rng: Rng, _: int) -> str:
        g, f = rng.choice(given), rng.choice(last)
        return form.format(g=g, f=f, G=g.upper(), F=f.upper(), i=g[0], u=f"{g[0]}{f}".lower())

    return make


def _street(language: str) -> Maker:
    forms = STREETS[language]
    return lambda rng, _: rng.choice(forms).format(
        n=rng.randint(100, 4999), m=rng.randint(1, 98), w=rng.choice(WORDS)
    )


def _pattern(pattern: str) -> Maker:
    """``9`` a digit, ``8`` one that is not 0, ``A`` a capital, ``h`` a hexadecimal digit."""

    def make(rng: Rng, _: int) -> str:
        draw = {
            "9": lambda: rng.choice("0123456789"),
            "8": lambda: rng.choice("123456789"),
            "A": lambda: rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ"),
            "h": lambda: rng.choice("0123456789abcdef"),
            "z": lambda: rng.choice("ABCDEFGHabcdefghijkmnopqrst0123456789+/"),
        }
        return "".join(draw[char]() if char in draw else char for char in pattern.replace("~", " "))

    return make


def _luhn(prefix: str, length: int) -> Maker:
    def make(rng: Rng, _: int) -> str:
        body = prefix + "".join(str(rng.randint(0, 9)) for _ in range(length - len(prefix) - 1))
        total = sum(
            (d := int(char) * (2 - position % 2)) - 9 * (d > 9)
            for position, char in enumerate(reversed(body))
        )
        return body + str(-total % 10)

    return make


def _in_fours(digits: str) -> str:
    return " ".join(digits[at : at + 4] for at in range(0, len(digits), 4))


def _cpf(rng: Rng, _: int) -> str:
    digits = [rng.randint(0, 9) for _ in range(9)]
    for _ in range(2):
        weights = range(len(digits) + 1, 1, -1)
        check = sum(d * w for d, w in zip(digits, weights, strict=True)) * 10 % 11 % 10
        digits.append(check)
    text = "".join(map(str, digits))
    return f"{text[:3]}.{text[3:6]}.{text[6:9]}-{text[9:]}"


def _dni(rng: Rng, _: int) -> str:
    value = rng.randint(10_000_000, 79_999_999)
    return f"{value}{'TRWAGMYFPDXBNJZSQVHLCKE'[value % 23]}"


def _date(first: int, last: int, form: str = "{y}-{m:02}-{d:02}") -> Maker:
    return lambda rng, _: form.format(
        y=rng.randint(first, last), m=rng.randint(1, 12), d=rng.randint(1, 28)
    )


def _ip(rng: Rng, _: int) -> str:
    return ".".join(str(rng.randint(1, 254)) for _ in range(4))


def _float(low: float, high: float, places: int) -> Maker:
    return lambda rng, _: f"{rng.uniform(low, high):.{places}f}"


MAKERS: dict[str, Maker] = {
    "seq": lambda _, row: row + 1,
    "ref": lambda rng, _: rng.randint(1, 500),
    "flag": _pick("0 1"),
    "yn": _pick("Y N"),
    "count": lambda rng, _: rng.randint(0, 40),
    "year": lambda rng, _: rng.randint(1950, 2005),
    "amount": _float(-90, 90, 2),
    "price": _float(1, 900, 2),
    "ms": _float(1, 85, 1),
    "lat": _float(36, 60, 6),
    "lon": _float(-9, 24, 6),
    "lat_e6": lambda rng, _: rng.randint(36_000_000, 60_000_000),
    "dob": _date(1935, 2006),
    "dob_de": _date(1935, 2006, "{d:02}.{m:02}.{y}"),
    "dob_int": _date(1935, 2006, "{y}{m:02}{d:02}"),
    "date": _date(2019, 2024),
    "stamp": _date(2019, 2024, "{y}-{m:02}-{d:02} 10:15:00"),
    "city": _pick("|".join(CITIES)),
    "company": _pick("|".join(COMPANIES)),
    "product": _pick("|".join(PRODUCTS)),
    "text": _pick("|".join(SENTENCES)),
    "state": _pick("CA TX NY WA OR FL"),
    "country": _pick("Germany|France|Spain|United States|Italy|Brazil"),
    "iso": _pick("DE FR ES US IT BR"),
    "status": _pick("open closed pending shipped"),
    "gender": _pick("M F"),
    "phonetype": _pick("home work mobile"),
    "ip": _ip,
    "ips": lambda rng, row: ", ".join(_ip(rng, row) for _ in range(rng.randint(1, 3))),
    "ipv6": _pattern("2001:db8:hhhh::hhhh"),
    "version": _pattern("8.9.1.9"),
    "mac": _pattern("hh:hh:hh:hh:hh:hh"),
    "memory": _pattern("0xhhhhhhhhhhhh"),
    "uuid": _pattern("hhhhhhhh-hhhh-4hhh-ahhh-hhhhhhhhhhhh"),
    "md5": _pattern("h" * 32),
    "bcrypt": _pattern("$2b$12$" + "h" * 53),
    "salt": _pattern("zzzzzzzz="),
    "token": _pattern("z" * 40),
    "plainpw": _pick("hunter2! S3cret_pw letmein99 Passw0rd qwerty123 dragonfly7"),
    "pin": _pattern("9999"),
    "domain_user": _person("en", "CORP\\{u}"),
    "login": _person("en", "{u}7"),
    "email": _person("en", "{u}@example.com"),
    "email_de": _person("en", "{g}.{i}@firma-beispiel.de"),
    "us_phone": _pattern("(899) 555-9999"),
    "us_phone_x": _pattern("899-555-9999x999"),
    "intl_phone": _pattern("+49 8999 8999999"),
    "de_phone": _pattern("0899/899999"),
    "fr_phone": _pattern("06 89 99 99 99"),
    "br_phone": _pattern("(89) 99999-9999"),
    "int_phone": _pattern("8995559999"),
    "zip": _pattern("89999"),
    "zip4": _pattern("89999-9999"),
    "plz": _pattern("89999"),
    "cep": _pattern("89999-999"),
    "uk_post": _pattern("AA8 9AA"),
    "ca_post": _pattern("A9A 9A9"),
    "nl_post": _pattern("8999 AA"),
    "ssn": _pattern("489-89-8999"),
    "ssn9": _pattern("489898999"),
    "cpf": _cpf,
    "dni": _dni,
    "visa": _luhn("4", 16),
    "visa_spaced": lambda rng, row: _in_fours(str(_luhn("4", 16)(rng, row))),
    "bad_card": _pattern("4999999999999991"),
    "masked": _pattern("****-****-****-9999"),
    "loyalty": _pattern("6000899999999999"),
    "order_no": _pattern("SO-8999999"),
    "phone_like_order": _pattern("8999-899-9999"),
    "ean": _pattern("4899999999999"),
    "isbn": _pattern("978-8-999-99999-9"),
    "policy": _pattern("POL899999"),
    "iban": lambda rng, _: "DE" + _digits(rng, 20),
    "vin": _pattern("WVWZZZ8KZAW999999"),
    "url": _pattern("https://shop.example.com/p/8999"),
    "path": _pattern("/var/data/in/file_8999.csv"),
    "ua": _pick("Mozilla/5.0 (X11; Linux x86_64)|curl/8.4.0|Mozilla/5.0 (Windows NT 10.0)"),
    "json": _pattern('{"a": 9, "b": 99}'),
    "title": _pick("Senior Engineer|Account Manager|Clerk|Head Nurse|Data Analyst"),
    "dept": _pick("Finance|Human Resources|Cardiology|Radiology|Sales"),
    "initials": _pick("AB JM KS TR"),
    "initial": _pick("A B C J M"),
    "salutation": _pick("Mr. Ms. Dr."),
    "house": lambda rng, _: rng.randint(1, 220),
    "unit": _pick("Apt 3|Unit 5|Suite 200|# 12||"),
    "blank": _pick("||"),
    "pet": _pick("Bella Max Charlie Luna Rocky Molly Daisy Oscar Buddy Lucy"),
    "song": _pick(
        "Angie|Roxanne|Billie Jean|Layla|Hey Jude|Eleanor Rigby|Peggy Sue|Come Together|Money"
    ),
    "team": _pick("Chelsea|Real Madrid|Ajax|Juventus|Bayern München|Porto"),
    "station": _pick("Victoria Station|Charlotte St|86 St|Gare de Lyon|Hauptbahnhof|Jackson Ave"),
    "hurricane": _pick("Katrina Andrew Ivan Maria Sandy Irma"),
    "code": _pattern("AA-899"),
    "hex": _pattern("hhhhhhhh"),
    "duration": lambda rng, _: rng.randint(1000, 90000),
    "blood": _pick("A+ B+ O- AB+"),
    "coords": lambda rng, _: f"({rng.uniform(36, 60):.5f}, {rng.uniform(-9, 24):.5f})",
    "cn_name": _pick("王伟 李娜 张敏 刘洋 陈静 杨帆 赵磊 黄丽 周强 吴婷"),
    "ru_last": _pick("Иванов Петрова Смирнов Кузнецова Соколов Попова Лебедев Новикова"),
    "ru_first": _pick("Иван Ольга Сергей Татьяна Дмитрий Наталья Алексей Елена"),
    "ru_phone": _pattern("+7 899 999-99-99"),
    "cn_phone": _pattern("13899999999"),
}
for _language in GIVEN:
    MAKERS[f"given_{_language}"] = _person(_language, "{g}")
    MAKERS[f"last_{_language}"] = _person(_language, "{f}")
    MAKERS[f"full_{_language}"] = _person(_language, "{g} {f}")
    MAKERS[f"turned_{_language}"] = _person(_language, "{f}, {g}")
    MAKERS[f"upper_{_language}"] = _person(_language, "{G} {F}")
    MAKERS[f"short_{_language}"] = _person(_language, "{i}. {f}")
for _language in STREETS:
    MAKERS[f"street_{_language}"] = _street(_language)

DATABASES = {
    "hospital": """
    # Patients 80
    PatientID INTEGER none seq
    MRN VARCHAR none hex
    FirstName VARCHAR person_name given_en
    MiddleInitial VARCHAR none initial
    LastName VARCHAR person_name last_en
    DOB DATE date_of_birth dob
    Sex VARCHAR none gender
    SSN VARCHAR national_id ssn
    StreetAddress VARCHAR address street_en
    AptUnit VARCHAR none unit
    City VARCHAR none city
    State VARCHAR none state
    ZipCode VARCHAR postal_code zip4
    HomePhone VARCHAR phone us_phone
    CellPhone VARCHAR phone us_phone_x
    EmailAddress VARCHAR email email
    EmergencyContactName VARCHAR person_name full_en
    EmergencyContactPhone VARCHAR phone us_phone
    PrimaryCarePhysician VARCHAR person_name full_en
    InsurancePolicyNo VARCHAR none policy
    BloodType VARCHAR none blood
    AdmissionNotes VARCHAR none text
    LastVisit TIMESTAMP none stamp
    # Providers 40
    npi BIGINT none int_phone
    provider_name VARCHAR person_name turned_en
    specialty VARCHAR none dept
    fax VARCHAR phone us_phone
    office_address VARCHAR address street_en
    license_state VARCHAR none state
    # Wards 12
    ward_name VARCHAR none dept
    head_nurse VARCHAR person_name full_en
    phone_extension INTEGER none count
    """,
    "hr_de": """
    # Mitarbeiter 70
    PersNr INTEGER none seq
    Anrede VARCHAR none salutation
    Vorname VARCHAR person_name given_de
    Name VARCHAR person_name last_de
    Geburtsdatum VARCHAR date_of_birth dob_de
    Strasse VARCHAR address street_de
    PLZ VARCHAR postal_code plz
    Ort VARCHAR none city
    Land VARCHAR none country
    Telefon VARCHAR phone de_phone
    Mobiltelefon VARCHAR phone intl_phone
    EMail VARCHAR email email_de
    Abteilung VARCHAR none dept
    Eintrittsdatum DATE none date
    Gehalt DECIMAL(10,2) none price
    IBAN VARCHAR none iban
    Benutzername VARCHAR username login
    Kennwort VARCHAR credential md5
    # Kunden 60
    KdNr INTEGER none seq
    Firma VARCHAR none company
    Ansprechpartner VARCHAR person_name full_de
    Strasse_Hausnr VARCHAR address street_de
    PLZ INTEGER postal_code plz
    Ort VARCHAR none city
    Tel VARCHAR phone de_phone
    Fax VARCHAR phone de_phone
    Umsatz DECIMAL(12,2) none price
    # Artikel 50
    ArtNr VARCHAR none code
    Bezeichnung VARCHAR none product
    EAN VARCHAR none ean
    Preis DECIMAL(8,2) none price
    # Bestellung 60
    BestellNr VARCHAR none order_no
    Lieferadresse VARCHAR address street_de
    LieferPLZ VARCHAR postal_code plz
    Bearbeiter VARCHAR person_name full_de
    Bestelldatum DATE none date
    Status VARCHAR none status
    """,
    "crm_fr": """
    # clients 60
    id_client INTEGER none seq
    civilite VARCHAR none salutation
    nom VARCHAR person_name last_fr
    prenom VARCHAR person_name given_fr
    date_naissance DATE date_of_birth dob
    adresse VARCHAR address street_fr
    complement_adresse VARCHAR address street_fr
    code_postal VARCHAR postal_code plz
    ville VARCHAR none city
    pays VARCHAR none country
    telephone VARCHAR phone fr_phone
    portable VARCHAR phone fr_phone
    courriel VARCHAR email email
    mot_de_passe VARCHAR credential bcrypt
    date_inscription DATE none date
    # fournisseurs 30
    raison_sociale VARCHAR none company
    nom_contact VARCHAR person_name full_fr
    numero_telephone VARCHAR phone fr_phone
    adresse_siege VARCHAR address street_fr
    cp VARCHAR postal_code plz
    ville VARCHAR none city
    # produits 40
    nom VARCHAR none product
    prix DECIMAL(8,2) none price
    # villes 12
    nom VARCHAR none city
    code_insee VARCHAR none zip
    """,
    "banco_es": """
    # clientes 70
    id_cliente INTEGER none seq
    nombre VARCHAR person_name given_es
    apellidos VARCHAR person_name last_es
    dni VARCHAR national_id dni
    fecha_nacimiento DATE date_of_birth dob
    direccion VARCHAR address street_es
    codigo_postal VARCHAR postal_code plz
    ciudad VARCHAR none city
    provincia VARCHAR none city
    telefono VARCHAR phone int_phone
    correo_electronico VARCHAR email email
    sexo VARCHAR none gender
    # tarjetas 60
    id_tarjeta INTEGER none seq
    numero_tarjeta VARCHAR card_number visa
    titular VARCHAR person_name upper_es
    tipo_tarjeta VARCHAR none phonetype
    fecha_caducidad DATE none date
    limite DECIMAL(10,2) none price
    # cuentas 60
    iban VARCHAR none iban
    saldo DECIMAL(12,2) none amount
    sucursal VARCHAR none city
    # empleados 40
    nombre_completo VARCHAR person_name full_es
    usuario VARCHAR username login
    contrasena VARCHAR credential bcrypt
    puesto VARCHAR none title
    """,
    "loja_pt": """
    # clientes 60
    codigo INTEGER none seq
    nome VARCHAR person_name full_pt
    cpf VARCHAR national_id cpf
    data_nascimento DATE date_of_birth dob
    endereco VARCHAR address street_pt
    bairro VARCHAR none city
    cep VARCHAR postal_code cep
    cidade VARCHAR none city
    estado VARCHAR none state
    celular VARCHAR phone br_phone
    email VARCHAR email email
    senha VARCHAR credential md5
    # produtos 40
    nome VARCHAR none product
    codigo_barras VARCHAR none ean
    preco DECIMAL(8,2) none price
    # vendedores 30
    vendedor VARCHAR person_name full_pt
    telefone VARCHAR phone br_phone
    comissao DECIMAL(5,2) none price
    """,
    "anagrafe_it": """
    # persone 50
    id INTEGER none seq
    cognome VARCHAR person_name last_it
    nome VARCHAR person_name given_it
    data_di_nascita DATE date_of_birth dob
    luogo_nascita VARCHAR none city
    indirizzo VARCHAR address street_it
    cap VARCHAR postal_code plz
    citta VARCHAR none city
    cellulare VARCHAR phone int_phone
    posta_elettronica VARCHAR email email
    # fornitori 30
    ragione_sociale VARCHAR none company
    referente VARCHAR person_name full_it
    indirizzo_sede VARCHAR address street_it
    telefono VARCHAR phone int_phone
    partita_iva VARCHAR none hex
    """,
    "winkel_nl": """
    # klanten 50
    klantnr INTEGER none seq
    voornaam VARCHAR person_name given_nl
    achternaam VARCHAR person_name last_nl
    geboortedatum DATE date_of_birth dob
    adres VARCHAR address street_nl
    postcode VARCHAR postal_code nl_post
    woonplaats VARCHAR none city
    telefoonnummer VARCHAR phone int_phone
    emailadres VARCHAR email email
    wachtwoord VARCHAR credential bcrypt
    """,
    "shop": """
    # users 90
    id BIGINT none seq
    uuid VARCHAR none uuid
    username VARCHAR username login
    email VARCHAR email email
    email_verified VARCHAR none yn
    email_verified_at TIMESTAMP none stamp
    password_hash VARCHAR credential bcrypt
    password_changed_at TIMESTAMP none stamp
    remember_token VARCHAR credential token
    display_name VARCHAR person_name full_xx
    phone_number VARCHAR phone intl_phone
    last_login_ip VARCHAR ip_address ip
    last_login TIMESTAMP none stamp
    login_count INTEGER none count
    avatar_url VARCHAR none url
    locale VARCHAR none iso
    birth_year INTEGER none year
    is_admin BOOLEAN none flag
    # addresses 80
    user_id BIGINT none ref
    recipient_name VARCHAR person_name full_en
    line1 VARCHAR address street_en
    address_line_2 VARCHAR address unit
    city VARCHAR none city
    state VARCHAR none state
    postal_code VARCHAR postal_code ca_post
    country_code VARCHAR none iso
    latitude DOUBLE latitude lat
    longitude DOUBLE longitude lon
    address_type VARCHAR none phonetype
    is_default BOOLEAN none flag
    # orders 90
    order_number VARCHAR none order_no
    tracking_no VARCHAR none phone_like_order
    state VARCHAR none status
    billing_name VARCHAR person_name full_en
    billing_zip VARCHAR postal_code zip
    ship_to_street VARCHAR address street_en
    total DECIMAL(10,2) none amount
    placed_from VARCHAR ip_address ip
    comment VARCHAR none text
    # payments 60
    card_number VARCHAR card_number visa_spaced
    card_type VARCHAR none phonetype
    card_holder VARCHAR person_name upper_en
    exp_month INTEGER none count
    amount DECIMAL(10,2) none amount
    transaction_ref VARCHAR none hex
    # products 50
    name VARCHAR none product
    slug VARCHAR none code
    ean VARCHAR none ean
    vendor_name VARCHAR none company
    # gift_cards 50
    gift_card_number VARCHAR none loyalty
    balance DECIMAL(8,2) none price
    # newsletter 50
    subscriber VARCHAR email email
    email_template_id INTEGER none ref
    email_count INTEGER none count
    opted_in_email VARCHAR none yn
    """,
    "weblog": """
    # requests 90
    ts TIMESTAMP none stamp
    remote_addr VARCHAR ip_address ip
    x_forwarded_for VARCHAR ip_address ips
    client_ip VARCHAR ip_address ipv6
    user_agent VARCHAR none ua
    url VARCHAR none url
    status INTEGER none count
    lat DOUBLE none ms
    latency DOUBLE none ms
    app_version VARCHAR none version
    release VARCHAR none version
    request_id VARCHAR none uuid
    session_id VARCHAR none md5
    # devices 60
    device_name VARCHAR none code
    mac_address VARCHAR none mac
    ip VARCHAR ip_address ip
    ip_version INTEGER none count
    firmware VARCHAR none version
    memory_address VARCHAR none memory
    host VARCHAR ip_address ip
    address VARCHAR ip_address ip
    # api_clients 40
    client_name VARCHAR none company
    api_key VARCHAR credential token
    client_secret VARCHAR credential token
    key_id INTEGER none seq
    contact_email VARCHAR email email
    # audit 60
    created_by VARCHAR username domain_user
    action VARCHAR none status
    object_path VARCHAR none path
    payload VARCHAR none json
    checksum VARCHAR none md5
    """,
    "school": """
    # tbl_student 60
    stu_id INTEGER none seq
    stu_fname VARCHAR person_name given_xx
    stu_lname VARCHAR person_name last_xx
    stu_bday DATE date_of_birth dob
    stu_addr VARCHAR address street_en
    stu_zip INTEGER postal_code zip
    stu_ph VARCHAR phone us_phone
    stu_eml VARCHAR email email
    guardian_name VARCHAR person_name full_en
    homeroom_teacher VARCHAR person_name full_en
    grade_level INTEGER none count
    # courses 30
    course_name VARCHAR none dept
    instructor VARCHAR person_name short_en
    room VARCHAR none code
    # teachers 30
    name VARCHAR person_name full_xx
    subject VARCHAR none dept
    hire_date DATE none date
    birthdate VARCHAR date_of_birth dob
    # books 40
    title VARCHAR none product
    author VARCHAR person_name full_en
    isbn VARCHAR none isbn
    publisher VARCHAR none company
    """,
    "legacy": """
    # CUSTMST 70
    CUSTNO INTEGER none seq
    CUSTNM VARCHAR person_name upper_en
    CUSTADDR1 VARCHAR address street_en
    CUSTADDR2 VARCHAR address unit
    CUSTCITY VARCHAR none city
    CUSTST VARCHAR none state
    CUSTZIP VARCHAR postal_code zip
    CUSTTELNO VARCHAR phone int_phone
    CUSTFAXNO VARCHAR phone int_phone
    CRLIMIT DECIMAL(9,2) none price
    LSTORDDT DATE none date
    # EMPMST 50
    EMPNO INTEGER none seq
    EMPFNAME VARCHAR person_name given_en
    EMPLNAME VARCHAR person_name last_en
    EMPSSN INTEGER national_id ssn9
    EMPDOB INTEGER date_of_birth dob_int
    HIREDT DATE none date
    DEPTNO INTEGER none count
    SALARY DECIMAL(9,2) none price
    # VENDMST 30
    VENDNAME VARCHAR none company
    VENDPHONE VARCHAR phone us_phone
    VENDCONTACT VARCHAR person_name full_en
    """,
    "telco": """
    # subscribers 70
    msisdn BIGINT phone int_phone
    imei BIGINT none ean
    first_name VARCHAR person_name given_xx
    last_name VARCHAR person_name last_xx
    id_card_number VARCHAR national_id ssn9
    passport_no VARCHAR national_id policy
    plan_name VARCHAR none code
    sim_card_number VARCHAR none loyalty
    # calls 80
    caller_number BIGINT phone int_phone
    duration_ms INTEGER none duration
    cell_id INTEGER none ref
    cell_lat DOUBLE latitude lat
    cell_lon DOUBLE longitude lon
    # towers 40
    name VARCHAR none code
    lat DECIMAL(9,6) latitude lat
    lng DECIMAL(9,6) longitude lon
    location VARCHAR none coords
    """,
    "government": """
    # citizens 70
    full_name VARCHAR person_name full_xx
    national_id VARCHAR national_id ssn9
    dateOfBirth DATE date_of_birth dob
    placeOfBirth VARCHAR none city
    residentialAddress VARCHAR address street_en
    postcode VARCHAR postal_code uk_post
    mobileNo VARCHAR phone intl_phone
    voterRegistrationDate DATE none date
    # vehicles 50
    vin VARCHAR none vin
    plate_number VARCHAR none code
    owner VARCHAR person_name full_en
    owner_address VARCHAR address street_en
    colour VARCHAR none gender
    # permits 40
    permit_no VARCHAR none policy
    applicant VARCHAR person_name turned_en
    approved_by VARCHAR person_name full_en
    contractor VARCHAR none company
    """,
    "misc": """
    # pets 40
    name VARCHAR none pet
    species VARCHAR none status
    owner_first VARCHAR person_name given_en
    # songs 40
    title VARCHAR none song
    # stations 30
    station_name VARCHAR none station
    # storms 20
    name VARCHAR none hurricane
    wind INTEGER none count
    # teams 20
    team_name VARCHAR none team
    coach VARCHAR person_name full_xx
    stadium VARCHAR none station
    # cities 12
    name VARCHAR none city
    country VARCHAR none country
    # warehouses 20
    name VARCHAR none city
    manager VARCHAR person_name full_en
    address VARCHAR address street_en
    # temperature 60
    reading DOUBLE none amount
    sensor_name VARCHAR none code
    recorded_at TIMESTAMP none stamp
    # loyalty 50
    member_name VARCHAR person_name full_en
    loyalty_card_no VARCHAR none loyalty
    # hotels 20
    hotel_name VARCHAR none company
    hotel_phone VARCHAR phone intl_phone
    hotel_address VARCHAR address street_en
    # reviews 40
    reviewer VARCHAR person_name given_en
    review_text VARCHAR none text
    email VARCHAR none count
    # empty_phone 40
    phone VARCHAR none blank
    # contacts_cn 40
    姓名 VARCHAR person_name cn_name
    电话 VARCHAR phone cn_phone
    # contacts_ru 40
    фамилия VARCHAR person_name ru_last
    имя VARCHAR person_name ru_first
    телефон VARCHAR phone ru_phone
    # purchase 40
    cc_number VARCHAR card_number masked
    pin_code VARCHAR credential pin
    purchaser_name VARCHAR person_name full_en
    """,
}


def samples(seed: int = 20240229) -> list[Sample]:
    """All columns of all made-up databases."""
    return [sample for name, text in DATABASES.items() for sample in _database(name, text, seed)]


def _database(name: str, text: str, seed: int) -> Iterator[Sample]:
    table, rows, columns = "", 0, list[list[str]]()
    for line in [*text.strip().splitlines(), "# end 0"]:
        words = line.split()
        if words[0] != "#":
            columns.append(words)
            continue
        for position, (column, type_name, label, maker) in enumerate(columns):
            rng = random.Random(f"{seed}/{name}/{table}/{position}")
            siblings = tuple(other[0] for other in columns if other[0] != column)
            made = [str(MAKERS[maker](rng, row)) for row in range(rows)]
            yield Sample(name, label, facts(table, column, type_name, made, siblings))
        table, rows, columns = words[1], int(words[2]), []


def facts(
    table: str, column: str, type_name: str, values: list[str], siblings: tuple[str, ...] = ()
) -> ColumnFacts:
    """What a profiler would know of a column that holds these values."""
    counted = sorted(Counter(values).items(), key=lambda item: (-item[1], item[0]))
    return ColumnFacts(
        table=table,
        column=column,
        type=type_name,
        rows=len(values),
        nulls=0,
        distinct=len(counted),
        values=tuple(value for value, _ in counted[:100]),
        min=min(values, default=None),
        max=max(values, default=None),
        siblings=siblings,
    )

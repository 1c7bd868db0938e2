"""Where the shop's people live and what they are called: common names, real cities.

No line describes a real person: names are common ones put together by chance, streets are those
that every town has, and mail goes to domains that are reserved for examples (RFC 2606).
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from fluid_build.demo.chance import Chance, Row, Weighted, by_rank, weighted


@dataclass(frozen=True)
class Country:
    """A country's conventions.

    ``cities`` are ``name:low:high`` (a range of postal codes) or ``name:prefix``; ``postcode``
    and ``phone`` are patterns in which # is any digit, A any letter and P the city's own part.
    ``street`` is a pattern over ``{name}`` and ``{number}``.
    """

    code: str
    name: str
    currency: str
    share: float
    first: tuple[str, ...]
    last: tuple[str, ...]
    cities: tuple[str, ...]
    postcode: str
    phone: str
    street: str
    streets: tuple[str, ...]


def _country(
    code: str,
    name: str,
    currency: str,
    share: float,
    *,
    first: str,
    last: str,
    cities: str,
    postcode: str,
    phone: str,
    street: str,
    streets: str,
) -> Country:
    return Country(
        code,
        name,
        currency,
        share,
        tuple(first.split()),
        tuple(part.strip() for part in last.split(",")),
        tuple(part.strip() for part in cities.split(",")),
        postcode,
        phone,
        street,
        tuple(part.strip() for part in streets.split(",")),
    )


COUNTRIES = (
    _country(
        "DE", "Germany", "EUR", 30,
        first="Anna Lukas Marie Jonas Sophie Leon Lea Finn Hannah Paul Jürgen Sabine Ulrike Günter "
        "Björn Käthe Emre Ayşe Katarzyna Dieter Petra Heike Stefan Monika Tobias Claudia",
        last="Müller, Schmidt, Schneider, Fischer, Weber, Meyer, Wagner, Becker, Schulz, Hoffmann, "
        "Schäfer, Koch, Bauer, Richter, Klein, Wolf, Schröder, Neumann, Schwarz, Zimmermann, "
        "Braun, Krüger, Hofmann, Hartmann, Lange, Öztürk, Groß, von Arnim, Köhler, Vogt",
        cities="Berlin:10115:14199, Hamburg:20095:22769, München:80331:81929, Köln:50667:51149, "
        "Frankfurt am Main:60306:60599, Stuttgart:70173:70629, Leipzig:4103:4357, "
        "Nürnberg:90402:90491, Münster:48143:48167, Weimar:99423:99428",
        postcode="PPPPP",
        phone="+49 ### #######",
        street="{name} {number}",
        streets="Hauptstraße, Bahnhofstraße, Gartenweg, Lindenallee, Schulstraße, Bergstraße, "
        "Am Markt, Goethestraße, Kirchgasse, Mühlenweg, Rosenstraße, Ringstraße",
    ),
    _country(
        "FR", "France", "EUR", 14,
        first="Camille Louis Chloé Hugo Léa Gabriel Manon Jules Inès Arthur Zoé François Hélène "
        "Benoît Amélie Jérôme Nathalie Mohamed Sylvie Étienne",
        last="Martin, Bernard, Dubois, Thomas, Robert, Richard, Petit, Durand, Leroy, Moreau, "
        "Simon, Laurent, Lefèvre, Michel, Garcia, Roux, Fournier, Girard, Lemaître, Béranger, "
        "d'Aubigné, Le Gall, Benali, Perrin",
        cities="Paris:75001:75020, Lyon:69001:69009, Marseille:13001:13016, Lille:59000:59800, "
        "Nantes:44000:44300, Strasbourg:67000:67200, Bordeaux:33000:33800, "
        "Saint-Étienne:42000:42100",
        postcode="PPPPP",
        phone="+33 # ## ## ## ##",
        street="{number} {name}",
        streets="rue Victor Hugo, rue de la République, avenue Jean Jaurès, place de l'Église, "
        "rue des Écoles, boulevard Gambetta, rue du Moulin, allée des Tilleuls",
    ),
    _country(
        "GB", "United Kingdom", "GBP", 12,
        first="Olivia George Amelia Harry Isla Jack Emily Charlie Grace Thomas Priya Mohammed "
        "Siân Callum Niamh Duncan Margaret Aisha",
        last="Smith, Jones, Taylor, Brown, Williams, Wilson, Johnson, Davies, Patel, Robinson, "
        "Wright, Thompson, Evans, Walker, White, Hughes, Green, O'Connor, MacDonald, Khan, "
        "Clarke-Hill, Ahmed",
        cities="London:SE, Manchester:M, Leeds:LS, Bristol:BS, Edinburgh:EH, Cardiff:CF, "
        "Liverpool:L, York:YO",
        postcode="P# #AA",
        phone="+44 7### ######",
        street="{number} {name}",
        streets="High Street, Station Road, Church Lane, Victoria Road, Mill Lane, Park Avenue, "
        "Queens Road, The Green",
    ),
    _country(
        "IT", "Italy", "EUR", 9,
        first="Giulia Francesco Sofia Alessandro Aurora Lorenzo Ginevra Matteo Niccolò Chiara "
        "Davide Federica Giosuè Elena",
        last="Rossi, Russo, Ferrari, Esposito, Bianchi, Romano, Colombo, Ricci, Marino, Greco, "
        "Bruno, Gallo, De Luca, Conti, D'Angelo, Forgiarini, Niccolò, Lo Presti",
        cities="Roma:118:199, Milano:20121:20162, Napoli:80121:80147, Torino:10121:10156, "
        "Bologna:40121:40141, Firenze:50121:50145, Forlì:47121:47122",
        postcode="PPPPP",
        phone="+39 3## #######",
        street="{name} {number}",
        streets="Via Roma, Via Garibaldi, Corso Italia, Via Dante, Piazza del Popolo, Via Mazzini, "
        "Viale dei Mille, Via XX Settembre",
    ),
    _country(
        "ES", "Spain", "EUR", 8,
        first="Lucía Hugo Martina Mateo Sofía José Begoña Iñaki Núria Álvaro Carmen Íñigo "
        "María Jordi",
        last="García, Fernández, González, Rodríguez, López, Martínez, Sánchez, Pérez, Gómez, "
        "Muñoz, Ibáñez, Núñez, Etxeberria, Puig, de la Fuente, Ortega y Vega",
        cities="Madrid:28001:28055, Barcelona:8001:8042, València:46001:46026, "
        "Sevilla:41001:41020, "
        "Málaga:29001:29018, A Coruña:15001:15011",
        postcode="PPPPP",
        phone="+34 6## ## ## ##",
        street="{name}, {number}",
        streets="Calle Mayor, Avenida de la Constitución, Calle Real, Plaza de España, "
        "Carrer de la Pau, Calle del Sol, Paseo Marítimo",
    ),
    _country(
        "NL", "Netherlands", "EUR", 7,
        first="Emma Daan Sem Julia Bram Fleur Sanne Maarten Femke Joost Noëlle Wouter",
        last="de Jong, Jansen, de Vries, van den Berg, Bakker, van Dijk, Visser, Smit, Meijer, "
        "'t Hart, Mulder, Brouwer, de Groot",
        cities="Amsterdam:1011:1109, Rotterdam:3011:3089, Utrecht:3511:3585, Den Haag:2491:2599, "
        "Groningen:9711:9747, 's-Hertogenbosch:5211:5247",
        postcode="PPPP AA",
        phone="+31 6 ########",
        street="{name} {number}",
        streets="Dorpsstraat, Kerkstraat, Molenweg, Stationsweg, Prinsengracht, Wilhelminalaan",
    ),
    _country(
        "AT", "Austria", "EUR", 6,
        first="Laura Maximilian Valentina Jakob Magdalena Sebastian Franziska Florian Jörg Christl",
        last="Gruber, Huber, Pichler, Steiner, Moser, Mayer, Hofer, Leitner, Berger, Fuchs, Eder, "
        "Schwaiger, Brünner",
        cities="Wien:1010:1230, Graz:8010:8055, Linz:4020:4040, Salzburg:5020:5026, "
        "Innsbruck:6020:6026, St. Pölten:3100:3109",
        postcode="PPPP",
        phone="+43 6## #######",
        street="{name} {number}",
        streets="Hauptplatz, Wiener Straße, Feldgasse, Mozartgasse, Bahnstraße, Dorfstraße",
    ),
    _country(
        "PL", "Poland", "PLN", 5,
        first="Zofia Jakub Julia Szymon Małgorzata Łukasz Agnieszka Paweł Grażyna Michał",
        last="Nowak, Kowalski, Wiśniewski, Wójcik, Kamiński, Lewandowski, Zieliński, Dąbrowski, "
        "Kozłowski, Jankowska, Mazur, Żak",
        cities="Warszawa:00, Kraków:30, Łódź:90, Wrocław:50, Poznań:60, Gdańsk:80",
        postcode="P-###",
        phone="+48 ### ### ###",
        street="ul. {name} {number}",
        streets="Polna, Leśna, Słoneczna, Krótka, Szkolna, Kościuszki, Długa",
    ),
    _country(
        "CH", "Switzerland", "CHF", 4,
        first="Mia Noah Elin Luca Urs Reto Beat Ursina Céline Gian",
        last="Meier, Keller, Brunner, Baumann, Frei, Zürcher, Favre, Bernasconi, Rüegg, Gerber",
        cities="Zürich:8001:8064, Genève:1201:1209, Basel:4051:4059, Bern:3004:3027, "
        "Lausanne:1003:1018, Lugano:6900:6906",
        postcode="PPPP",
        phone="+41 79 ### ## ##",
        street="{name} {number}",
        streets="Bahnhofstrasse, Dorfstrasse, Seestrasse, Rue du Lac, Oberdorf, Via Cantonale",
    ),
    _country(
        "SE", "Sweden", "SEK", 3,
        first="Alice William Maja Liam Åsa Göran Linnéa Håkan Örjan Ebba",
        last="Andersson, Johansson, Karlsson, Nilsson, Eriksson, Larsson, Öberg, Sjöström, Åkesson",
        cities="Stockholm:111, Göteborg:411, Malmö:211, Uppsala:753, Umeå:903",
        postcode="P ##",
        phone="+46 70 ### ## ##",
        street="{name} {number}",
        streets="Storgatan, Kungsgatan, Skolvägen, Björkvägen, Drottninggatan",
    ),
    _country(
        "CZ", "Czechia", "CZK", 2,
        first="Eliška Jan Tereza Jakub Kateřina Ondřej Jiří Božena",
        last="Novák, Svoboda, Dvořák, Černý, Procházka, Kučera, Veselý, Horák, Němcová",
        cities="Praha:110, Brno:602, Ostrava:702, Plzeň:301",
        postcode="P ##",
        phone="+420 ### ### ###",
        street="{name} {number}",
        streets="Nádražní, Husova, Komenského, Školní, Zahradní",
    ),
)  # fmt: skip

_SHIPS_TO = (
    ("BE", "Belgium", "EUR"), ("DK", "Denmark", "DKK"), ("FI", "Finland", "EUR"),
    ("GR", "Greece", "EUR"), ("HU", "Hungary", "HUF"), ("IE", "Ireland", "EUR"),
    ("LU", "Luxembourg", "EUR"), ("NO", "Norway", "NOK"), ("PT", "Portugal", "EUR"),
    ("RO", "Romania", "RON"), ("SI", "Slovenia", "EUR"), ("SK", "Slovakia", "EUR"),
    ("TR", "Türkiye", "TRY"),
)  # fmt: skip
"""Countries that the shop would ship to, and nobody has ordered from yet."""

_MAIL_DOMAINS = by_rank(("example.com", "example.org", "example.net", "mail.example.com"), 0.8)
_LETTERS = "ABCDEFGHJKLMNPRSTUVWXY"
_WITHOUT_MARKS = str.maketrans(
    {"ß": "ss", "ł": "l", "Ł": "L", "ø": "o", "æ": "ae", " ": "", "'": "", "ä": "ae",
     "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"}
)  # fmt: skip


def countries() -> Iterator[Row]:
    """The rows of the countries' table: code, name, currency."""
    for country in COUNTRIES:
        yield country.code, country.name, country.currency
    yield from _SHIPS_TO


def any_country() -> Weighted[Country]:
    """The countries, by how many customers live there."""
    return weighted(COUNTRIES, [country.share for country in COUNTRIES])


def ascii_letters(text: str) -> str:
    """A name as people write it in a mail address."""
    folded = unicodedata.normalize("NFKD", text.translate(_WITHOUT_MARKS))
    return folded.encode("ascii", "ignore").decode().lower()


def mail_address(chance: Chance, first: str, last: str) -> str:
    """An address made of the name, with a number where people are many."""
    left, right = ascii_letters(first), ascii_letters(last)
    local = chance.pick(
        (f"{left}.{right}", f"{left[:1]}{right}", f"{right}.{left}", f"{left}_{right}")
    )
    number = str(chance.between(1, 999)) if chance.happens(0.7) else ""
    return f"{local}{number}@{chance.pick_from(_MAIL_DOMAINS)}"


def phone_number(chance: Chance, country: Country) -> str:
    """A number in the country's pattern; one in six as people type it."""
    number = _filled(chance, country.phone)
    if chance.happens(0.16):
        return "00" + number[1:].replace(" ", chance.pick(("", "-", "/")), 1)
    return number


def street_address(chance: Chance, country: Country) -> str:
    """Street and house number, in the country's order."""
    letter = chance.pick("ab") if chance.happens(0.08) else ""
    number = f"{chance.between(1, 12) * chance.between(1, 12)}{letter}"
    return country.street.format(name=chance.pick(country.streets), number=number)


def city_and_postcode(chance: Chance, country: Country) -> tuple[str, str]:
    """A city, large ones more often, and one of its postal codes."""
    rank = int(len(country.cities) * chance.between(0, 99) * chance.between(0, 99) / 10_000)
    name, *codes = country.cities[rank].split(":")
    if len(codes) == 1:
        return name, _filled(chance, country.postcode).replace("P", codes[0], 1)
    width = country.postcode.count("P")
    own = f"{chance.between(int(codes[0]), int(codes[1])):0{width}d}"
    return name, _filled(chance, country.postcode).replace("P" * width, own, 1)


def _filled(chance: Chance, pattern: str) -> str:
    return "".join(_character(chance, char) for char in pattern)


def _character(chance: Chance, char: str) -> str:
    if char == "#":
        return str(chance.between(0, 9))
    return chance.pick(_LETTERS) if char == "A" else char

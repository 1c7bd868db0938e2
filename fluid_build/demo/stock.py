"""What is there before anybody buys: categories, suppliers, articles, stores, staff, vouchers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fluid_build.demo.calendar import DAYS, date
from fluid_build.demo.catalogue import SHELVES, Shelf, product_name
from fluid_build.demo.chance import Chance, Row, by_rank, iban, weighted, with_ean_digit
from fluid_build.demo.places import COUNTRIES, ascii_letters, mail_address, phone_number

STORES = (
    ("Berlin", "DE", 52.52, 13.405),
    ("Hamburg", "DE", 53.551, 9.993),
    ("München", "DE", 48.137, 11.575),
    ("Köln", "DE", 50.938, 6.96),
    ("Leipzig", "DE", 51.34, 12.375),
    ("Paris", "FR", 48.857, 2.352),
    ("Lyon", "FR", 45.764, 4.836),
    ("London", "GB", 51.507, -0.128),
    ("Manchester", "GB", 53.481, -2.242),
    ("Milano", "IT", 45.464, 9.19),
    ("Barcelona", "ES", 41.385, 2.173),
    ("Amsterdam", "NL", 52.368, 4.904),
    ("Wien", "AT", 48.208, 16.373),
    ("Zürich", "CH", 47.377, 8.542),
    ("Warszawa", "PL", 52.23, 21.012),
    ("Stockholm", "SE", 59.329, 18.069),
)
"""The stores: city, country, latitude, longitude. A store's number is its place in this list."""

_COMPANY_FORMS = {"DE": "GmbH", "IT": "S.r.l.", "FR": "SARL", "AT": "GmbH", "PL": "Sp. z o.o.",
                  "SE": "AB", "CZ": "s.r.o.", "CH": "AG"}  # fmt: skip
_ACCOUNTS = {"DE": 18, "IT": 22, "FR": 23, "AT": 16, "PL": 24, "SE": 20, "CZ": 20, "CH": 17}
"""How many digits an account number has, by country (ISO 13616); Italy's follow a letter."""
_TRADES = ("Keramik", "Textil", "Outdoor", "Papier", "Metall", "Holz", "Trading", "Design")
_JOBS = weighted(("Sales", "Warehouse", "Service", "Cashier", "Store Manager"), (34, 28, 18, 14, 6))
_OCCASIONS = ("SPRING", "SUMMER", "HELLO", "BACK", "XMAS", "VIP", "GARDEN", "TEA", "LUMEN", "MOVE")


@dataclass(frozen=True, slots=True)
class Product:
    """An article; ``deleted`` ones were taken out of the table though they had been sold."""

    id: int
    name: str
    shelf: Shelf
    cents: int
    deleted: bool


def euros(cents: int) -> float:
    """An amount of cents as euros."""
    return round(cents / 100, 2)


def categories() -> Iterator[Row]:
    """The departments, and under each its shelves."""
    departments = list(dict.fromkeys(shelf.department for shelf in SHELVES))
    for number, name in enumerate(departments, 1):
        yield number, None, name, ascii_letters(name)
    for shelf, number in _shelf_numbers().items():
        slug = f"{shelf.department}/{shelf.name.replace(' & ', '-')}"
        yield number, number // 100, shelf.name, ascii_letters(slug)


def _shelf_numbers() -> dict[Shelf, int]:
    departments = list(dict.fromkeys(shelf.department for shelf in SHELVES))
    numbers: dict[Shelf, int] = {}
    for department_number, department in enumerate(departments, 1):
        shelves = [shelf for shelf in SHELVES if shelf.department == department]
        numbers |= {shelf: department_number * 100 + n for n, shelf in enumerate(shelves, 1)}
    return numbers


def suppliers(chance: Chance) -> Iterator[Row]:
    """Who delivers the articles."""
    by_code = {country.code: country for country in COUNTRIES}
    codes = by_rank(tuple(_ACCOUNTS), 0.6)
    number = 2_000
    for _ in range(72):
        number += chance.between(1, 9)
        country = by_code[chance.pick_from(codes)]
        first, last = chance.pick(country.first), chance.pick(country.last)
        letter = "X" if country.code == "IT" else ""
        yield (
            f"V-{number}",
            f"{chance.pick(country.last)} {chance.pick(_TRADES)} {_COMPANY_FORMS[country.code]}",
            f"{first} {last}",
            mail_address(chance, first, last),
            country.code,
            iban(country.code, letter + chance.digits(_ACCOUNTS[country.code])),
            chance.pick((14, 30, 30, 30, 60)),
        )


def make_products(chance: Chance) -> list[Product]:
    """All articles that were ever sold, in the order of their numbers."""
    made = []
    number = 1_000
    for _ in range(1_500):
        number += 1 if chance.happens(0.8) else chance.between(2, 12)
        shelf = chance.pick(SHELVES)
        name, cents = product_name(chance, shelf), _price(chance, shelf)
        made.append(Product(number, name, shelf, cents, deleted=chance.happens(0.004)))
    return made


def _price(chance: Chance, shelf: Shelf) -> int:
    """A price in cents, as shops write them: many low, few high, ending in 99, 95, 50 or 00."""
    share = chance.between(0, 999) * chance.between(0, 999) / 1_000_000
    whole = int(shelf.low + (shelf.high - shelf.low) * share)
    return whole * 100 + chance.pick((99, 99, 95, 50, 0))


def product_rows(
    chance: Chance, products: Sequence[Product], supplier_numbers: Sequence[object]
) -> Iterator[Row]:
    """The articles that are still there."""
    shelf_numbers = _shelf_numbers()
    supplier = by_rank(supplier_numbers, 0.7)
    for product in products:
        if product.deleted:
            continue
        grams = chance.between(2, 90) * chance.between(5, 90)
        yield (
            product.id,
            with_ean_digit(f"40{chance.digits(10)}"),
            product.name,
            shelf_numbers[product.shelf],
            chance.pick_from(supplier),
            euros(product.cents),
            euros(product.cents * chance.between(38, 71) // 100),
            # Some were never put on the scales, and SQLite takes text in a column of numbers.
            "n/a" if chance.happens(0.006) else grams,
            date(chance.between(-1_500, 700)),
            chance.happens(0.87),
        )


def stores(chance: Chance) -> Iterator[Row]:
    """The stores, opened in the years before."""
    for number, (city, country, latitude, longitude) in enumerate(STORES, 1):
        opened = date(-chance.between(90, 6_000))
        yield number, f"{city} store", city, country, latitude, longitude, opened


def employees(chance: Chance) -> Iterator[Row]:
    """Who works in which store."""
    by_code = {country.code: country for country in COUNTRIES}
    some_store = by_rank(range(len(STORES)), 0.8)
    number = 5_000
    for _ in range(230):
        number += chance.between(1, 7)
        store = chance.pick_from(some_store)
        country = by_code[STORES[store][1]]
        first, last = chance.pick(country.first), chance.pick(country.last)
        job = chance.pick_from(_JOBS)
        pay = chance.around(58_000 if job == "Store Manager" else 35_500, 3_500)
        yield (
            number,
            first,
            last,
            f"{ascii_letters(first)}.{ascii_letters(last)}{number}@shop.example.com",
            phone_number(chance, country),
            store + 1,
            job,
            date(chance.between(-4_000, 1_000)),
            round(pay / 50) * 50,
        )


def vouchers(chance: Chance) -> Iterator[Row]:
    """Vouchers with the weeks in which they hold."""
    for number in range(90):
        series, occasion = divmod(number, len(_OCCASIONS))
        code = f"{_OCCASIONS[occasion]}{chance.digits(2)}{'ABCDEFGHI'[series]}"
        start = chance.between(0, DAYS - 60)
        end = start + chance.pick((7, 14, 30, 60))
        yield code, chance.pick((5, 10, 10, 15, 20, 25)), date(start), date(end)

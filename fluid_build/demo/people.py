"""Customers, suppliers and staff: what they are called, where they live, how to reach them.

Nobody is real: names are put together by chance, and mail goes to domains that are reserved for
examples (RFC 2606).
"""

import datetime as dt
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fluid_build.demo.chance import Chance, by_rank, iban, weighted
from fluid_build.demo.data import COUNTRIES, STORES, Country
from fluid_build.demo.days import DAYS, date

_MAIL_DOMAINS = by_rank(("example.com", "example.org", "example.net", "mail.example.com"), 0.8)
_ASCII = {"ß": "ss", "ł": "l", "Ł": "L", "ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe"}
_WITHOUT_MARKS = str.maketrans({**_ASCII, "Ü": "Ue", " ": "", "'": ""})
_COMPANY_FORMS = {"DE": "GmbH", "IT": "S.r.l.", "FR": "SARL", "AT": "GmbH", "PL": "Sp. z o.o.",
                  "SE": "AB", "CZ": "s.r.o.", "CH": "AG"}  # fmt: skip
_ACCOUNT_DIGITS = {"DE": 18, "IT": 22, "FR": 23, "AT": 16, "PL": 24, "SE": 20, "CZ": 20, "CH": 17}
"""How many digits an account number has (ISO 13616); an X precedes Italy's."""
_TRADES = ("Keramik", "Textil", "Outdoor", "Papier", "Metall", "Holz", "Trading", "Design")
_JOBS = weighted(("Sales", "Warehouse", "Service", "Cashier", "Store Manager"), (34, 28, 18, 14, 6))


@dataclass(slots=True)
class Customer:
    """A customer. Of ``erased`` ones, who asked to be forgotten, only the number is left.

    ``first_order`` is the day of the first order, or any day for those who never ordered.
    """

    id: int
    first_name: str
    last_name: str
    country: Country
    erased: bool
    first_order: int
    addresses: list[int] = field(default_factory=list)


def make_customers(chance: Chance) -> list[Customer]:
    """Return the customers in the order of their numbers, with gaps between some."""
    countries = weighted(list(COUNTRIES.values()), [each.share for each in COUNTRIES.values()])
    customers = []
    number = 0
    for _ in range(12_000):
        number += 1 if chance.happens(0.93) else chance.between(2, 5)
        country = chance.pick_weighted(countries)
        name = chance.pick(country.first_names), chance.pick(country.last_names)
        erased, first_order = chance.happens(0.0045), chance.between(0, DAYS)
        customers.append(Customer(number, *name, country, erased, first_order))
    return customers


def customer_rows(chance: Chance, customers: Sequence[Customer]) -> Iterator[Sequence[object]]:
    """Yield the customers who weren't erased, registered no later than their first order."""
    for customer in customers:
        if customer.erased:
            continue
        name = customer.first_name, customer.last_name
        has_phone = chance.happens(0.64)
        mail = _mail_address(chance, *name)
        phone = _phone_number(chance, customer.country) if has_phone else None
        born = _date_of_birth(chance) if chance.happens(0.58) else None
        newsletter = chance.happens(0.37)
        registered = date(customer.first_order - chance.pick((0, 0, 0, 1, 9, 40, 200)))
        yield customer.id, *name, mail, phone, born, newsletter, registered


def address_rows(chance: Chance, customers: Sequence[Customer]) -> Iterator[Sequence[object]]:
    """Yield everybody's addresses; one customer in five has more than one."""
    number = 70_000
    for customer in customers:
        for _ in range(1 if chance.happens(0.8) else chance.pick((2, 2, 3))):
            number += chance.between(1, 3)
            customer.addresses.append(number)
            city, postcode = _city_and_postcode(chance, customer.country)
            # An old order form spelled the United Kingdom's code differently.
            old_form = customer.country.code == "GB" and chance.happens(0.05)
            code = "UK" if old_form else customer.country.code
            street = _street_address(chance, customer.country)
            known = customer.id, f"{customer.first_name} {customer.last_name}"
            owner = (None, None) if customer.erased else known
            yield number, *owner, street, postcode, city, code


def supplier_rows(chance: Chance) -> Iterator[Sequence[object]]:
    """Yield the suppliers."""
    codes = by_rank(tuple(_ACCOUNT_DIGITS), 0.6)
    number = 2_000
    for _ in range(72):
        number += chance.between(1, 9)
        country = COUNTRIES[code := chance.pick_weighted(codes)]
        contact = chance.pick(country.first_names), chance.pick(country.last_names)
        trade = f"{chance.pick(country.last_names)} {chance.pick(_TRADES)}"
        mail = _mail_address(chance, *contact)
        account = ("X" if code == "IT" else "") + chance.digits(_ACCOUNT_DIGITS[code])
        company, payment_days = f"{trade} {_COMPANY_FORMS[code]}", chance.pick((14, 30, 30, 30, 60))
        name = " ".join(contact)
        yield f"V-{number}", company, name, mail, code, iban(code, account), payment_days


def employee_rows(chance: Chance) -> Iterator[Sequence[object]]:
    """Yield the staff of the stores."""
    store_indexes = by_rank(range(len(STORES)), 0.8)
    number = 5_000
    for _ in range(230):
        number += chance.between(1, 7)
        store = chance.pick_weighted(store_indexes)
        country = COUNTRIES[STORES[store][1]]
        name = chance.pick(country.first_names), chance.pick(country.last_names)
        job = chance.pick_weighted(_JOBS)
        pay = chance.around(58_000 if job == "Store Manager" else 35_500, 3_500)
        mail = f"{'.'.join(map(ascii_letters, name))}{number}@shop.example.com"
        phone, hired = _phone_number(chance, country), date(chance.between(-4_000, 1_000))
        yield number, *name, mail, phone, store + 1, job, hired, round(pay / 50) * 50


def ascii_letters(text: str) -> str:
    """Return a name as people write it in a mail address."""
    folded = unicodedata.normalize("NFKD", text.translate(_WITHOUT_MARKS))
    return folded.encode("ascii", "ignore").decode().lower()


def _mail_address(chance: Chance, first_name: str, last_name: str) -> str:
    first, last = ascii_letters(first_name), ascii_letters(last_name)
    local = chance.pick(
        (f"{first}.{last}", f"{first[:1]}{last}", f"{last}.{first}", f"{first}_{last}")
    )
    number = str(chance.between(1, 999)) if chance.happens(0.7) else ""
    return f"{local}{number}@{chance.pick_weighted(_MAIL_DOMAINS)}"


def _phone_number(chance: Chance, country: Country) -> str:
    """Return a number in the country's pattern; one in six is written as people type it."""
    number = chance.fill(country.phone)
    if chance.happens(0.16):
        return "00" + number[1:].replace(" ", chance.pick(("", "-", "/")), 1)
    return number


def _date_of_birth(chance: Chance) -> str:
    """Return a date of birth: most customers are between thirty and sixty, all are of age."""
    days = min(chance.around(0, 3_300), 9_000)
    return (dt.date(1979, 3, 12) + dt.timedelta(days=int(days))).isoformat()


def _street_address(chance: Chance, country: Country) -> str:
    letter = chance.pick("ab") if chance.happens(0.08) else ""
    number = f"{chance.between(1, 12) * chance.between(1, 12)}{letter}"
    return country.address.format(name=chance.pick(country.streets), number=number)


def _city_and_postcode(chance: Chance, country: Country) -> tuple[str, str]:
    """Return a city, the first ones more often, and one of its postal codes."""
    rank = int(len(country.cities) * chance.between(0, 99) * chance.between(0, 99) / 10_000)
    name, *codes = country.cities[rank].split(":")
    if len(codes) == 1:
        return name, chance.fill(country.postcode).replace("P", codes[0], 1)
    width = country.postcode.count("P")
    code = f"{chance.between(int(codes[0]), int(codes[1])):0{width}d}"
    return name, chance.fill(country.postcode).replace("P" * width, code, 1)

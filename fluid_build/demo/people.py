"""Who buys, and where they live."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fluid_build.demo.calendar import DAYS, date, date_of_birth
from fluid_build.demo.chance import Chance, Row
from fluid_build.demo.places import (
    Country,
    any_country,
    city_and_postcode,
    mail_address,
    phone_number,
    street_address,
)

_CUSTOMERS = 12_000


@dataclass(slots=True)
class Customer:
    """A customer; ``erased`` ones asked to be forgotten, and only their number is left.

    ``first_order`` is the day of their first order, or any day for those who only looked.
    """

    id: int
    first: str
    last: str
    country: Country
    erased: bool
    first_order: int
    addresses: list[int] = field(default_factory=list)


def make_customers(chance: Chance) -> list[Customer]:
    """The customers, in the order of their numbers; some numbers were never given out."""
    countries = any_country()
    made = []
    number = 0
    for _ in range(_CUSTOMERS):
        number += 1 if chance.happens(0.93) else chance.between(2, 5)
        country = chance.pick_from(countries)
        first, last = chance.pick(country.first), chance.pick(country.last)
        erased, came = chance.happens(0.0045), chance.between(0, DAYS)
        made.append(Customer(number, first, last, country, erased=erased, first_order=came))
    return made


def addresses(chance: Chance, customers: Sequence[Customer]) -> Iterator[Row]:
    """Everybody's addresses; one in five has more than one."""
    number = 70_000
    for customer in customers:
        for _ in range(1 if chance.happens(0.8) else chance.pick((2, 2, 3))):
            number += chance.between(1, 3)
            customer.addresses.append(number)
            yield (number, *_address(chance, customer))


def _address(chance: Chance, customer: Customer) -> Row:
    city, postcode = city_and_postcode(chance, customer.country)
    code = customer.country.code
    if code == "GB" and chance.happens(0.05):
        code = "UK"  # As an old order form spelt it.
    street = street_address(chance, customer.country)
    if customer.erased:
        return None, None, street, postcode, city, code
    return customer.id, f"{customer.first} {customer.last}", street, postcode, city, code


def customer_rows(chance: Chance, customers: Sequence[Customer]) -> Iterator[Row]:
    """The customers who are still there; nobody registered after their first order."""
    for customer in customers:
        if customer.erased:
            continue
        has_phone = chance.happens(0.64)
        yield (
            customer.id,
            customer.first,
            customer.last,
            mail_address(chance, customer.first, customer.last),
            phone_number(chance, customer.country) if has_phone else None,
            date_of_birth(chance) if chance.happens(0.58) else None,
            chance.happens(0.37),
            date(customer.first_order - chance.pick((0, 0, 0, 1, 9, 40, 200))),
        )

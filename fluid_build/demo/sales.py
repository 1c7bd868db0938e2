"""What was bought, paid for and sent, and what people said about it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fluid_build.demo.calendar import DAYS, date, moment, order_times
from fluid_build.demo.catalogue import RATINGS, review_text
from fluid_build.demo.chance import Chance, Row, Weighted, by_rank, weighted, with_luhn_digit
from fluid_build.demo.people import Customer
from fluid_build.demo.stock import STORES, Product, euros

T = TypeVar("T")

_ORDERS = 30_000
_LINES = weighted((1, 2, 3, 4, 5, 6, 8), (32, 27, 18, 11, 6, 4, 2))
_QUANTITIES = weighted((1, 2, 3, 4, 6, 10), (74, 14, 5, 4, 2, 1))
_CHANNELS = weighted(("web", "app", "phone", "store"), (58, 29, 6, 7))
_ONLINE = frozenset({"web", "app"})
_METHODS = weighted(("card", "paypal", "invoice", "sepa"), (46, 30, 15, 9))
_CARRIERS = weighted(("DHL", "GLS", "UPS", "Post", "Hermes"), (44, 20, 14, 13, 9))
_TEST_CARDS = ("411111", "424242", "400000", "555555", "510510", "222300", "378282")
"""The beginnings of numbers that card networks keep for tests."""
_TEST_NETWORKS = ("192.0.2", "198.51.100", "203.0.113")
"""Networks that are kept for documentation (RFC 5737)."""


@dataclass(frozen=True, slots=True)
class Order:
    """An order: its day, its customer, how far it got, and what it cost in cents."""

    id: int
    day: int
    customer: Customer
    status: str
    cents: int


@dataclass(frozen=True)
class Sold:
    """All orders, and the rows of the two tables they fill."""

    orders: Sequence[Order]
    order_rows: Sequence[Row]
    line_rows: Sequence[Row]


def sell(
    chance: Chance,
    customers: Sequence[Customer],
    products: Sequence[Product],
    sellers: Sequence[object],
    voucher_codes: Sequence[object],
) -> Sold:
    """Three years of orders: few customers order often, few products sell well."""
    regulars = by_rank(_spread(customers, 7_919), 0.45)
    popular = by_rank(_spread(products, 1_009), 0.72)
    vouchers = by_rank(voucher_codes, 0.8)
    orders: list[Order] = []
    order_rows: list[Row] = []
    line_rows: list[Row] = []
    number = 100_000
    for day, placed_at in order_times(chance, _ORDERS):
        number += 1 if chance.happens(0.88) else chance.between(2, 4)
        customer = chance.pick_from(regulars)
        customer.first_order = min(customer.first_order, day)
        status = _status(chance, day)
        lines = list(_lines(chance, popular))
        orders.append(Order(number, day, customer, status, sum(map(_line_cents, lines))))
        line_rows += [_line_row(number, pos, line) for pos, line in enumerate(lines, 1)]
        ship_to, bill_to = _addresses(chance, customer, customers)
        channel = chance.pick_from(_CHANNELS)
        order_rows.append(
            (
                number,
                placed_at,
                customer.id,
                ship_to,
                bill_to,
                channel,
                None if channel in _ONLINE else chance.pick(sellers),
                chance.pick_from(vouchers) if chance.happens(0.11) else None,
                status,
                _ip_address(chance) if channel in _ONLINE else None,
            )
        )
    return Sold(orders, order_rows, line_rows)


@dataclass(frozen=True, slots=True)
class _Line:
    product: Product
    quantity: int
    cents: int
    discount: int


def _spread(things: Sequence[T], step: int) -> list[T]:
    """The things in another order, in which neighbours are far apart."""
    return [things[place * step % len(things)] for place in range(len(things))]


def _lines(chance: Chance, popular: Weighted[Product]) -> Iterator[_Line]:
    for _ in range(chance.pick_from(_LINES)):
        product = chance.pick_from(popular)
        quantity = chance.pick_from(_QUANTITIES)
        cents = product.cents if chance.happens(0.85) else product.cents * 93 // 100
        discount = chance.pick((5, 10, 10, 20)) if chance.happens(0.09) else 0
        yield _Line(product, quantity, cents, discount)


def _line_cents(line: _Line) -> int:
    return line.quantity * line.cents * (100 - line.discount) // 100


def _line_row(order: int, pos: int, line: _Line) -> Row:
    return order, pos, line.product.id, line.quantity, euros(line.cents), line.discount


def _addresses(chance: Chance, customer: Customer, all_: Sequence[Customer]) -> tuple[int, int]:
    """Where to ship to and where to send the bill: mostly the same, now and then a gift."""
    bill_to = customer.addresses[0]
    if chance.happens(0.04):
        return chance.pick(chance.pick(all_).addresses), bill_to
    return (bill_to if chance.happens(0.55) else chance.pick(customer.addresses)), bill_to


def _status(chance: Chance, day: int) -> str:
    if chance.happens(0.035):
        return "cancelled"
    age = DAYS - day
    if age < 4:
        return chance.pick(("open", "open", "paid"))
    if age < 12:
        return chance.pick(("paid", "shipped", "shipped"))
    return "returned" if chance.happens(0.055) else "delivered"


def _ip_address(chance: Chance) -> str:
    if chance.happens(0.2):
        groups = ":".join(f"{chance.between(1, 65_535):x}" for _ in range(3))
        return f"2001:db8:{groups}::{chance.between(1, 255):x}"
    return f"{chance.pick(_TEST_NETWORKS)}.{chance.between(1, 254)}"


def payments(chance: Chance, orders: Sequence[Order]) -> Iterator[Row]:
    """What was paid: most orders at once, some in two parts, invoices weeks later."""
    for order in orders:
        if order.status in {"cancelled", "open"}:
            continue
        method = chance.pick_from(_METHODS)
        wait = chance.between(5, 28) if method == "invoice" else 0
        first = order.cents * 3 // 10 if chance.happens(0.03) else order.cents
        for cents in (first, order.cents - first):
            if cents:
                card = _card_number(chance) if method == "card" else None
                paid_at = moment(chance, order.day + wait)
                yield _uuid(chance), order.id, method, card, euros(cents), paid_at


def _card_number(chance: Chance) -> str:
    prefix = chance.pick(_TEST_CARDS)
    length = 15 if prefix.startswith("37") else 16
    return with_luhn_digit(prefix + chance.digits(length - len(prefix) - 1))


def _uuid(chance: Chance) -> str:
    """A random UUID, version 4 (RFC 9562)."""
    digits = "".join(f"{chance.between(0, 65_535):04x}" for _ in range(8))
    variant = chance.pick("89ab")
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def shipments(chance: Chance, orders: Sequence[Order]) -> Iterator[Row]:
    """What was sent, from which store; one order in twenty in two parcels."""
    store = by_rank(range(1, len(STORES) + 1), 0.9)
    number = 0
    for order in orders:
        if order.status not in {"shipped", "delivered", "returned"}:
            continue
        for _ in range(2 if chance.happens(0.05) else 1):
            number += 1
            sent = order.day + chance.pick((0, 1, 1, 1, 2, 3))
            arrived = sent + chance.pick((1, 1, 2, 2, 3, 5, 9))
            yield (
                number,
                order.id,
                chance.pick_from(store),
                chance.pick_from(_CARRIERS),
                f"{chance.pick('JRC')}{chance.digits(9)}{chance.digits(4)}",
                date(sent),
                None if order.status == "shipped" else date(arrived),
            )


def reviews(
    chance: Chance, orders: Sequence[Order], products: Sequence[Product], count: int
) -> Iterator[Row]:
    """That many reviews of articles and by customers that are still there, over all the years."""
    reviewed = by_rank([product for product in products if not product.deleted], 0.72)
    arrived = [o for o in orders if o.status == "delivered" and not o.customer.erased]
    number = 0
    for place in range(count):
        order = arrived[place * len(arrived) // count]
        number += chance.between(1, 2)
        product = chance.pick_from(reviewed)
        stars = chance.pick_from(RATINGS)
        title, body = review_text(chance, stars, product.name, product.shelf)
        written_at = moment(chance, order.day + chance.between(4, 50))
        yield number, product.id, order.customer.id, stars, title, body, written_at

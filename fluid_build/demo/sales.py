"""What was ordered, paid for and shipped, and what people said about it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fluid_build.demo.chance import Chance, Weighted, by_rank, weighted, with_luhn_digit
from fluid_build.demo.data import REVIEW_CLOSINGS, REVIEW_MIDDLES, REVIEW_OPENINGS, STORES
from fluid_build.demo.days import DAYS, date, moment, order_times
from fluid_build.demo.people import Customer
from fluid_build.demo.stock import Product

T = TypeVar("T")

_ORDERS = 30_000
_LINES = weighted((1, 2, 3, 4, 5, 6, 8), (32, 27, 18, 11, 6, 4, 2))
_QUANTITIES = weighted((1, 2, 3, 4, 6, 10), (74, 14, 5, 4, 2, 1))
_CHANNELS = weighted(("web", "app", "phone", "store"), (58, 29, 6, 7))
_ONLINE = frozenset({"web", "app"})
_METHODS = weighted(("card", "paypal", "invoice", "sepa"), (46, 30, 15, 9))
_CARRIERS = weighted(("DHL", "GLS", "UPS", "Post", "Hermes"), (44, 20, 14, 13, 9))
_RATINGS = weighted((5, 4, 3, 2, 1), (46, 27, 11, 6, 10))
_MIDDLES, _CLOSINGS = by_rank(REVIEW_MIDDLES, 0.6), by_rank(REVIEW_CLOSINGS, 0.7)
_TEST_CARDS = ("411111", "424242", "400000", "555555", "510510", "222300", "378282")
"""How the numbers that card networks reserve for tests begin."""
_TEST_NETWORKS = ("192.0.2", "198.51.100", "203.0.113")
"""Networks that are reserved for documentation (RFC 5737)."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an order; ``cents`` is the price of a single item."""

    product: Product
    quantity: int
    cents: int
    discount: int


@dataclass(frozen=True, slots=True)
class Order:
    """An order, with its row."""

    row: Sequence[object]
    id: int
    day: int
    customer: Customer
    status: str
    lines: Sequence[Line]


def make_orders(
    chance: Chance,
    customers: Sequence[Customer],
    products: Sequence[Product],
    sellers: Sequence[object],
    voucher_codes: Sequence[object],
) -> Iterator[Order]:
    """Yield three years of orders: few customers order often, and few products sell well."""
    regulars, popular = (
        by_rank(_spread(customers, 7_919), 0.45),
        by_rank(_spread(products, 1_009), 0.72),
    )
    vouchers = by_rank(voucher_codes, 0.8)
    number = 100_000
    for day, placed_at in order_times(chance, _ORDERS):
        number += 1 if chance.happens(0.88) else chance.between(2, 4)
        customer = chance.pick_weighted(regulars)
        customer.first_order = min(customer.first_order, day)
        status = _status(chance, day)
        lines = [_line(chance, popular) for _ in range(chance.pick_weighted(_LINES))]
        addresses = _addresses(chance, customer, customers)
        channel = chance.pick_weighted(_CHANNELS)
        seller = None if channel in _ONLINE else chance.pick(sellers)
        voucher = chance.pick_weighted(vouchers) if chance.happens(0.11) else None
        ip = _ip_address(chance) if channel in _ONLINE else None
        row = number, placed_at, customer.id, *addresses, channel, seller, voucher, status, ip
        yield Order(row, number, day, customer, status, lines)


def _spread(items: Sequence[T], step: int) -> list[T]:
    """Return the items in another order, in which neighbours are far apart."""
    return [items[place * step % len(items)] for place in range(len(items))]


def _status(chance: Chance, day: int) -> str:
    if chance.happens(0.035):
        return "cancelled"
    age = DAYS - day
    if age < 4:
        return chance.pick(("open", "open", "paid"))
    if age < 12:
        return chance.pick(("paid", "shipped", "shipped"))
    return "returned" if chance.happens(0.055) else "delivered"


def _line(chance: Chance, popular: Weighted[Product]) -> Line:
    product = chance.pick_weighted(popular)
    quantity = chance.pick_weighted(_QUANTITIES)
    cents = product.cents if chance.happens(0.85) else product.cents * 93 // 100
    discount = chance.pick((5, 10, 10, 20)) if chance.happens(0.09) else 0
    return Line(product, quantity, cents, discount)


def _addresses(chance: Chance, customer: Customer, all_: Sequence[Customer]) -> tuple[int, int]:
    """Return where to ship and where to bill: mostly the same, now and then a gift."""
    bill_to = customer.addresses[0]
    if chance.happens(0.04):
        return chance.pick(chance.pick(all_).addresses), bill_to
    return (bill_to if chance.happens(0.55) else chance.pick(customer.addresses)), bill_to


def _ip_address(chance: Chance) -> str:
    if chance.happens(0.2):
        groups = ":".join(f"{chance.between(1, 65_535):x}" for _ in range(3))
        return f"2001:db8:{groups}::{chance.between(1, 255):x}"
    return f"{chance.pick(_TEST_NETWORKS)}.{chance.between(1, 254)}"


def line_rows(orders: Sequence[Order]) -> Iterator[Sequence[object]]:
    """Yield the lines of all orders."""
    for order in orders:
        for position, line in enumerate(order.lines, 1):
            price = line.cents / 100
            yield order.id, position, line.product.id, line.quantity, price, line.discount


def payment_rows(chance: Chance, orders: Sequence[Order]) -> Iterator[Sequence[object]]:
    """Yield the payments: most orders at once, some in two parts, invoices weeks later."""
    for order in orders:
        if order.status in {"cancelled", "open"}:
            continue
        total = sum(
            line.quantity * line.cents * (100 - line.discount) // 100 for line in order.lines
        )
        method = chance.pick_weighted(_METHODS)
        wait = chance.between(5, 28) if method == "invoice" else 0
        deposit = total * 3 // 10 if chance.happens(0.03) else total
        for cents in filter(None, (deposit, total - deposit)):
            card = _card_number(chance) if method == "card" else None
            paid_at = moment(chance, order.day + wait)
            yield chance.uuid(), order.id, method, card, cents / 100, paid_at


def _card_number(chance: Chance) -> str:
    prefix = chance.pick(_TEST_CARDS)
    length = 15 if prefix.startswith("37") else 16
    return with_luhn_digit(prefix + chance.digits(length - len(prefix) - 1))


def shipment_rows(chance: Chance, orders: Sequence[Order]) -> Iterator[Sequence[object]]:
    """Yield what was sent from which store; one order in twenty goes in two parcels."""
    stores = by_rank(range(1, len(STORES) + 1), 0.9)
    number = 0
    for order in orders:
        if order.status not in {"shipped", "delivered", "returned"}:
            continue
        for _ in range(2 if chance.happens(0.05) else 1):
            number += 1
            sent = order.day + chance.pick((0, 1, 1, 1, 2, 3))
            arrived = sent + chance.pick((1, 1, 2, 2, 3, 5, 9))
            sender = chance.pick_weighted(stores), chance.pick_weighted(_CARRIERS)
            tracking = f"{chance.pick('JRC')}{chance.digits(9)}{chance.digits(4)}"
            delivered = None if order.status == "shipped" else date(arrived)
            yield number, order.id, *sender, tracking, date(sent), delivered


def review_rows(
    chance: Chance, orders: Sequence[Order], products: Sequence[Product], count: int
) -> Iterator[Sequence[object]]:
    """Yield that many reviews of existing products by existing customers, over all the years."""
    reviewed = by_rank([product for product in products if not product.deleted], 0.72)
    arrived = [
        order for order in orders if order.status == "delivered" and not order.customer.erased
    ]
    number = 0
    for place in range(count):
        order = arrived[place * len(arrived) // count]
        number += chance.between(1, 2)
        product, stars = chance.pick_weighted(reviewed), chance.pick_weighted(_RATINGS)
        opening = chance.pick(REVIEW_OPENINGS[stars])
        body = f"{opening} {chance.pick_weighted(_MIDDLES)} {chance.pick_weighted(_CLOSINGS)}"
        good = chance.pick(product.shelf.goods).lower()
        text = " ".join(body.format(good=good, line=product.name.split()[0]).split())
        written_at = moment(chance, order.day + chance.between(4, 50))
        # The title repeats the opening, as people do.
        title = opening.rstrip(".!")
        yield number, product.id, order.customer.id, stars, title, text, written_at

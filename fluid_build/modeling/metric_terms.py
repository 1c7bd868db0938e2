"""What a metric says of a measure besides how it's aggregated: a weight, and a currency.

The average of prices is weighted by the quantity that was sold at each: two pieces at 10 and one at
40 cost 20 on average. And amounts in several currencies add up within each of them alone.
"""

from collections.abc import Iterable, Mapping

from fluid_build.lexicon import terms
from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.measures import MeasureRole
from fluid_build.modeling.measures.number_names import currency_owner, read_number_name
from fluid_build.profiling.names.words import words

_MONEY = frozenset({"price", "sale_price", "pay", "share_of_money"})
"""Meanings of numbers that are money whatever their words."""
_NO_MONEY = frozenset({"code", "count", "ratio", "intensity"})
"""Those that aren't, though their name begins like that of a currency: ``credit_score``."""


def price_weights(entity: Entity, products: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """Return by price the quantity that its average is weighted by.

    That's the other factor of an amount, as ``products`` have it, or else the only quantity of the
    row. What isn't a price by its name or as a factor has no weight.
    """
    roles = {a.name: a.measure for a in entity.attributes if a.measure is not None}
    weights: dict[str, str] = {}
    for factors in products:
        for price, quantity in (factors, factors[::-1]):
            if _is(roles, price, "non-additive") and _is(roles, quantity, "additive"):
                weights.setdefault(price, quantity)
    quantities = [n for n in roles if _is(roles, n, "additive") and _is_quantity(n)]
    if len(quantities) == 1:
        for name in roles:
            if _is(roles, name, "non-additive") and _is_price(name):
                weights.setdefault(name, quantities[0])
    return weights


def currency_of(entity: Entity, measure: Attribute, headers: Iterable[Entity] = ()) -> str:
    """Return the column of the currency that an amount is in, "" where there aren't several.

    ``credit_ccy`` is that of ``credit_limit``, and ``ccy`` that of all amounts of the row. A line
    that says nothing of its own amounts is in the currency of its header, ``invoice.ccy``.
    """
    currencies = [a.name for a in entity.attributes if _is_currency(a)]
    own = [name for name in currencies if words(measure.name)[:-1] == currency_owner(name) != ()]
    if own and read_number_name(measure.name).meaning not in _NO_MONEY:
        return own[0]
    if not _is_money(measure):
        return ""
    of_row = [name for name in currencies if not currency_owner(name)]
    of_headers = [
        f"{header.name}.{attribute.name}"
        for header in headers
        for attribute in header.attributes
        if _is_currency(attribute) and not currency_owner(attribute.name)
    ]
    return next(iter([*of_row, *of_headers, *currencies]), "")


def stated_additivity(role: MeasureRole, within: str) -> str:
    """Return how far a measure adds up, and why, in a sentence."""
    limit = f" within one {within}" if within and role.additivity != "non-additive" else ""
    return f"{role.additivity.capitalize()}{limit}: {role.reason}."


def _is(roles: Mapping[str, MeasureRole], name: str, additivity: str) -> bool:
    return name in roles and roles[name].additivity == additivity


def _is_quantity(name: str) -> bool:
    reading = read_number_name(name)
    return reading.meaning in {"addable", "count"} and reading.word in terms("quantity")


def _is_price(name: str) -> bool:
    return read_number_name(name).meaning in {"price", "sale_price"}


def _is_money(measure: Attribute) -> bool:
    reading = read_number_name(measure.name)
    is_amount = reading.meaning == "addable" and reading.word in terms("amount")
    return measure.semantic_type == "money" or reading.meaning in _MONEY or is_amount


def _is_currency(attribute: Attribute) -> bool:
    """Return whether a column says in which of several currencies a row's amounts are."""
    is_named = attribute.semantic_type in {"currency", "currency_code"} or bool(
        terms("currency") & set(words(attribute.name))
    )
    return is_named and attribute.measure is None and (attribute.evidence.distinct or 2) > 1

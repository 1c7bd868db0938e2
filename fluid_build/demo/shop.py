"""The demo shop: fourteen tables of a mail-order company, made up with a fixed seed.

No key is declared, a few columns have unhelpful names, and years of use have left dirt: customers
who had themselves erased, products that were deleted after being sold, a country with two codes,
weights that nobody measured, dates stored as text.
"""

from collections.abc import Sequence

from fluid_build.demo import people, sales, stock
from fluid_build.demo.chance import Chance
from fluid_build.demo.data import TABLES

TOTAL_ROWS = 200_000
_SEED = 20_240_229


def make_rows() -> dict[str, list[Sequence[object]]]:
    """Return all rows by table, the same ones every time."""
    chance = Chance(_SEED)
    rows: dict[str, list[Sequence[object]]] = {table: [] for table in TABLES}
    # Each step takes its chance from one sequence, so another order makes other rows.
    rows["countries"] += stock.country_rows()
    rows["categories"] += stock.category_rows()
    rows["suppliers"] += people.supplier_rows(chance)
    rows["stores"] += stock.store_rows(chance)
    rows["employees"] += people.employee_rows(chance)
    rows["vouchers"] += stock.voucher_rows(chance)
    products = stock.make_products(chance)
    rows["products"] += stock.product_rows(chance, products, [row[0] for row in rows["suppliers"]])
    customers = people.make_customers(chance)
    rows["addresses"] += people.address_rows(chance, customers)
    sellers = [row[0] for row in rows["employees"] if row[6] != "Warehouse"]
    voucher_codes = [row[0] for row in rows["vouchers"]]
    orders = list(sales.make_orders(chance, customers, products, sellers, voucher_codes))
    rows["orders"] += (order.row for order in orders)
    rows["order_lines"] += sales.line_rows(orders)
    rows["payments"] += sales.payment_rows(chance, orders)
    rows["shipments"] += sales.shipment_rows(chance, orders)
    rows["customers"] += people.customer_rows(chance, customers)
    reviews = TOTAL_ROWS - sum(map(len, rows.values()))
    rows["reviews"] += sales.review_rows(chance, orders, products, reviews)
    return rows

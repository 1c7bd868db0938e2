"""The demo shop: fourteen tables of a mail-order house, made up with a fixed seed.

It is a database as one finds it. No key is declared, a few columns have unkind names, and years of
use have left their marks: customers who had themselves erased, articles that were deleted though
they had been sold, a country spelt in two ways, weights that nobody took, dates kept as text.
"""

from collections.abc import Mapping

from fluid_build.demo import people, sales, stock
from fluid_build.demo.chance import Chance, Row
from fluid_build.demo.places import countries

TOTAL_ROWS = 200_000

SCHEMA: Mapping[str, str] = {
    "countries": "country_code CHAR(2), name VARCHAR(60), currency CHAR(3)",
    "categories": "category_id INTEGER, parent_id INTEGER, name VARCHAR(60), slug VARCHAR(60)",
    "suppliers": "supplier_no VARCHAR(10), company VARCHAR(80), contact VARCHAR(80), "
    "email VARCHAR(120), country CHAR(2), iban VARCHAR(34), payment_days INTEGER",
    "products": "product_id INTEGER, ean VARCHAR(13), name VARCHAR(120), cat_id INTEGER, "
    "supplier_no VARCHAR(10), list_price DECIMAL(8,2), cost DECIMAL(8,2), weight_g INTEGER, "
    "launched DATE, active BOOLEAN",
    "customers": "customer_id INTEGER, first_name VARCHAR(60), last_name VARCHAR(60), "
    "email VARCHAR(120), phone VARCHAR(30), birth_date DATE, newsletter BOOLEAN, "
    "registered VARCHAR(20)",
    "addresses": "address_id INTEGER, customer_id INTEGER, recipient VARCHAR(120), "
    "street VARCHAR(120), postal_code VARCHAR(12), city VARCHAR(60), country CHAR(2)",
    "stores": "store_id INTEGER, name VARCHAR(60), city VARCHAR(60), country CHAR(2), "
    "latitude DOUBLE, longitude DOUBLE, opened DATE",
    "employees": "emp_id INTEGER, first_name VARCHAR(60), last_name VARCHAR(60), "
    "email VARCHAR(120), phone VARCHAR(30), store_id INTEGER, job VARCHAR(40), hired DATE, "
    "salary DECIMAL(9,2)",
    "vouchers": "voucher_code VARCHAR(12), percent_off INTEGER, valid_from DATE, valid_to DATE",
    "orders": "order_id INTEGER, placed_at TIMESTAMP, customer_id INTEGER, ship_to INTEGER, "
    "bill_to INTEGER, channel VARCHAR(10), sales_emp INTEGER, voucher_code VARCHAR(12), "
    "status VARCHAR(12), client_ip VARCHAR(45)",
    "order_lines": "order_id INTEGER, pos INTEGER, prod_id INTEGER, qty INTEGER, "
    "unit_price DECIMAL(8,2), discount_pct INTEGER",
    "payments": "payment_ref CHAR(36), order_id INTEGER, method VARCHAR(12), "
    "card_number VARCHAR(19), amount DECIMAL(10,2), paid_at TIMESTAMP",
    "shipments": "shipment_id INTEGER, order_id INTEGER, store_id INTEGER, carrier VARCHAR(20), "
    "tracking_no VARCHAR(24), shipped_on DATE, delivered_on VARCHAR(10)",
    "reviews": "review_id INTEGER, product_id INTEGER, customer_id INTEGER, rating INTEGER, "
    "title VARCHAR(80), body TEXT, written_at TIMESTAMP",
}
"""The tables as they would have been created, in the order in which they are filled."""

_SEED = 20_240_229


def made_up() -> dict[str, list[Row]]:
    """All rows of all tables, by table: the same ones every time."""
    chance = Chance(_SEED)
    rows: dict[str, list[Row]] = {table: [] for table in SCHEMA}
    rows["countries"] = list(countries())
    rows["categories"] = list(stock.categories())
    rows["suppliers"] = list(stock.suppliers(chance))
    rows["stores"] = list(stock.stores(chance))
    rows["employees"] = list(stock.employees(chance))
    rows["vouchers"] = list(stock.vouchers(chance))
    products = stock.make_products(chance)
    rows["products"] = list(
        stock.product_rows(chance, products, [row[0] for row in rows["suppliers"]])
    )
    customers = people.make_customers(chance)
    rows["addresses"] = list(people.addresses(chance, customers))
    sellers = [row[0] for row in rows["employees"] if row[6] != "Warehouse"]
    sold = sales.sell(chance, customers, products, sellers, [row[0] for row in rows["vouchers"]])
    rows["orders"] = list(sold.order_rows)
    rows["order_lines"] = list(sold.line_rows)
    rows["payments"] = list(sales.payments(chance, sold.orders))
    rows["shipments"] = list(sales.shipments(chance, sold.orders))
    rows["customers"] = list(people.customer_rows(chance, customers))
    rest = TOTAL_ROWS - sum(len(of_table) for of_table in rows.values())
    rows["reviews"] = list(sales.reviews(chance, sold.orders, products, rest))
    return rows

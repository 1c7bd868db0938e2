"""A small database with every shape that a table of a vault can have."""

from tests.modeling.profiles import reference

REFERENCES = (
    reference("customer", "country_code", "country", "code"),
    reference("customer_detail", "customer_id", "customer", "id"),
    reference("customer_phone", "customer_id", "customer", "id"),
    reference("employee", "manager_id", "employee", "id", role="manager"),
    reference("orders", "customer_id", "customer", "id"),
    reference("orders", "ship_customer_id", "customer", "id", role="ship"),
    reference("orders", "seller_id", "employee", "id", role="seller"),
    reference("order_line", "order_id", "orders", "id"),
    reference("order_line", "product_id", "product", "id"),
    reference("order_line", "packer_id", "employee", "id", role="packer"),
    reference("customer_product", "customer_id", "customer", "id"),
    reference("customer_product", "product_id", "product", "id"),
    reference("product", "family_code part_no", "part", "family_code part_no"),
    reference("visit", "customer_id", "customer", "id"),
)

SHOP = (
    "CREATE TABLE country (code VARCHAR PRIMARY KEY, name VARCHAR NOT NULL)",
    """CREATE TABLE customer (
        id INTEGER PRIMARY KEY, name VARCHAR, city VARCHAR, street VARCHAR, balance DECIMAL(10, 2),
        country_code VARCHAR)""",
    "CREATE TABLE customer_detail (customer_id INTEGER PRIMARY KEY, hobby VARCHAR)",
    """CREATE TABLE customer_phone (
        customer_id INTEGER, kind VARCHAR, digits VARCHAR,
        PRIMARY KEY (customer_id, kind))""",
    """CREATE TABLE employee (
        id INTEGER PRIMARY KEY, name VARCHAR, manager_id INTEGER)""",
    """CREATE TABLE product (
        id INTEGER PRIMARY KEY, sku VARCHAR NOT NULL UNIQUE, name VARCHAR,
        price DECIMAL(8, 2), family_code VARCHAR, part_no INTEGER)""",
    "CREATE TABLE part (family_code VARCHAR, part_no INTEGER, weight INTEGER, "
    "PRIMARY KEY (family_code, part_no))",
    """CREATE TABLE orders (
        id INTEGER PRIMARY KEY, customer_id INTEGER,
        ship_customer_id INTEGER,
        seller_id INTEGER, ordered DATE)""",
    """CREATE TABLE order_line (
        order_id INTEGER, line_no INTEGER,
        product_id INTEGER, packer_id INTEGER,
        quantity INTEGER, PRIMARY KEY (order_id, line_no))""",
    """CREATE TABLE customer_product (
        customer_id INTEGER, product_id INTEGER,
        PRIMARY KEY (customer_id, product_id))""",
    "CREATE TABLE visit (customer_id INTEGER, page VARCHAR)",
    "INSERT INTO country VALUES ('de', 'Germany'), ('fr', 'France'), ('ch', 'Switzerland')",
    "INSERT INTO customer SELECT i, 'n' || i, 'c' || i % 3, 's' || i, i * 1.5, "
    "['de', 'fr', NULL][1 + i % 3] FROM range(1, 13) r(i)",
    "INSERT INTO customer_detail SELECT i, 'h' || i FROM range(1, 9) r(i)",
    "INSERT INTO customer_phone SELECT i, k, k || i FROM range(1, 7) r(i), "
    "(VALUES ('home'), ('work')) v(k)",
    "INSERT INTO employee SELECT i, 'e' || i, CASE WHEN i > 1 THEN i // 2 END "
    "FROM range(1, 9) r(i)",
    "INSERT INTO part SELECT 'f' || f, p, f * p FROM range(3) f(f), range(4) p(p)",
    "INSERT INTO product SELECT i, 'SKU-' || i, 'p' || i % 7, i * 2.5, 'f' || i % 3, i % 4 "
    "FROM range(1, 21) r(i)",
    "INSERT INTO orders SELECT i, 1 + i % 12, CASE WHEN i % 4 > 0 THEN 1 + i % 5 END, 1 + i % 8, "
    "DATE '2024-01-01' + i::INTEGER FROM range(1, 41) r(i)",
    "INSERT INTO order_line SELECT 1 + i % 40, i // 40, 1 + i % 20, "
    "CASE WHEN i % 3 > 0 THEN 1 + i % 8 END, 1 + i % 4 FROM range(100) r(i)",
    "INSERT INTO customer_product SELECT c, p FROM range(1, 13) c(c), range(1, 21) p(p) "
    "WHERE (c + p) % 5 = 0",
    "INSERT INTO visit SELECT CASE WHEN i % 7 > 0 THEN 1 + i % 12 END, 'page' || i % 2 "
    "FROM range(60) r(i)",
)

"""A small database with every shape that a table of a star can come from."""

SHOP = (
    "CREATE TABLE department (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL)",
    """CREATE TABLE category (
        id INTEGER PRIMARY KEY, name VARCHAR NOT NULL,
        department_id INTEGER NOT NULL REFERENCES department (id))""",
    "CREATE TABLE region (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL)",
    """CREATE TABLE product (
        id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, colour VARCHAR, list_price DECIMAL(8, 2),
        category_id INTEGER REFERENCES category (id))""",
    "CREATE TABLE product_text (product_id INTEGER PRIMARY KEY, body VARCHAR)",
    """CREATE TABLE employee (
        id INTEGER PRIMARY KEY, first_name VARCHAR, last_name VARCHAR, hired DATE,
        manager_id INTEGER)""",
    """CREATE TABLE customer (
        id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, email VARCHAR, city VARCHAR,
        segment VARCHAR, region_id INTEGER)""",
    """CREATE TABLE orders (
        id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, ship_customer_id INTEGER,
        seller_id INTEGER NOT NULL, order_date TIMESTAMP NOT NULL, shipped_date DATE,
        channel_code VARCHAR, is_gift BOOLEAN, freight DECIMAL(10, 2) NOT NULL,
        comment VARCHAR)""",
    """CREATE TABLE order_line (
        order_id INTEGER, line_no INTEGER, product_id INTEGER NOT NULL, quantity INTEGER NOT NULL,
        unit_price DOUBLE NOT NULL, PRIMARY KEY (order_id, line_no))""",
    """CREATE TABLE payment (
        id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, paid_on DATE NOT NULL,
        amount DECIMAL(10, 2) NOT NULL)""",
    "CREATE TABLE reason (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL)",
    """CREATE TABLE order_reason (
        order_id INTEGER, reason_id INTEGER, PRIMARY KEY (order_id, reason_id))""",
    "CREATE TABLE tag (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL)",
    """CREATE TABLE product_tag (
        product_id INTEGER, tag_id INTEGER, PRIMARY KEY (product_id, tag_id))""",
    "CREATE TABLE visit (customer_id INTEGER, page VARCHAR)",
    "CREATE TABLE currency (code VARCHAR PRIMARY KEY, name VARCHAR NOT NULL)",
    "INSERT INTO department VALUES (1, 'Food'), (2, 'Tools')",
    "INSERT INTO category SELECT i, 'cat ' || i, 1 + i % 2 FROM range(1, 7) r(i)",
    "INSERT INTO region VALUES (1, 'North'), (2, 'South'), (3, 'Nobody')",
    "INSERT INTO product SELECT i, 'product ' || i, ['red', 'blue'][1 + i % 2], i * 1.25, "
    "CASE WHEN i % 10 > 0 THEN 1 + i % 5 END FROM range(1, 41) r(i)",
    "INSERT INTO product_text SELECT i, 'text ' || i FROM range(1, 31) r(i)",
    "INSERT INTO employee SELECT i, 'F' || i, 'L' || i, DATE '2010-01-01' + i::INTEGER * 40, "
    "CASE WHEN i > 1 THEN i // 2 END FROM range(1, 13) r(i)",
    "INSERT INTO customer SELECT i, 'customer ' || i, 'c' || i || '@x.example', "
    "['Rome', 'Oslo', 'Lyon'][1 + i % 3], ['private', 'firm'][1 + i % 2], 1 + i % 2 "
    "FROM range(1, 31) r(i)",
    "INSERT INTO orders SELECT i, 1 + i % 30, CASE WHEN i % 4 > 0 THEN 1 + i % 29 END, "
    "1 + i % 12, TIMESTAMP '2024-01-01 08:00:00' + i * INTERVAL 7 HOUR, "
    "CASE WHEN i % 5 > 0 THEN DATE '2024-01-03' + i::INTEGER // 3 END, "
    "['web', 'shop', 'phone'][1 + i % 3], i % 7 = 0, 2.5 + i % 4, 'remark ' || i % 9 "
    "FROM range(1, 121) r(i)",
    "INSERT INTO order_line SELECT 1 + i % 120, 1 + i // 120, 1 + i % 40, 1 + i * 7 % 9, "
    "0.1 + i % 13 FROM range(300) r(i)",
    "INSERT INTO payment SELECT i, 1 + i * 11 % 120, DATE '2024-02-01' + i::INTEGER // 4, "
    "10 + i * 0.3 FROM range(1, 141) r(i)",
    "INSERT INTO reason SELECT i, 'reason ' || i FROM range(1, 6) r(i)",
    "INSERT INTO order_reason SELECT 1 + i % 120, 1 + i % 5 FROM range(90) r(i)",
    "INSERT INTO tag SELECT i, 'tag ' || i FROM range(1, 6) r(i)",
    "INSERT INTO product_tag SELECT p, t FROM range(1, 41) p(p), range(1, 6) t(t) "
    "WHERE (p + t) % 3 = 0",
    "INSERT INTO visit SELECT CASE WHEN i % 7 > 0 THEN 1 + i % 30 END, 'page ' || i % 3 "
    "FROM range(90) r(i)",
    "INSERT INTO currency VALUES ('EUR', 'Euro'), ('NOK', 'Krone'), ('CHF', 'Franc')",
)

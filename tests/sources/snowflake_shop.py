"""A database of Snowflake with one customer."""

import pytest

from tests.snowflake import SnowflakeDatabase

CUSTOMERS = """
    CREATE TABLE customers (
        id NUMBER(38, 0) PRIMARY KEY, name VARCHAR(40), amount NUMBER(10, 2),
        seen TIMESTAMP_NTZ, data VARIANT
    ) COMMENT = 'Who buys'"""
FILL = """
    INSERT INTO customers SELECT column1, column2, column3, column4, parse_json(column5)
    FROM VALUES (1, 'Zoë', 1.20, '2024-01-01 10:00:00.123456', '{"a": 1}')"""


@pytest.fixture
def shop(snowflake: SnowflakeDatabase) -> SnowflakeDatabase:
    snowflake.run(CUSTOMERS, FILL)
    return snowflake

"""Orders as records of an Avro file."""

from tests.sources.avro_writer import decimal, number, text

MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}
ORDERS = {
    "type": "record",
    "name": "order",
    "doc": "Orders of the shop",
    "fields": [
        {"name": "id", "type": "long", "doc": "Its number"},
        {"name": "note", "type": ["null", "string"]},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "amount", "type": ["null", MONEY]},
        {"name": "state", "type": {"type": "enum", "name": "s", "symbols": ["open", "paid"]}},
    ],
}


def order(id_: int, amount: int | None) -> bytes:
    money = number(0) if amount is None else number(1) + decimal(amount)
    moment = number(1_700_000_000_000_000)
    return number(id_) + number(1) + text("ü") + number(19_000) + moment + money + number(1)

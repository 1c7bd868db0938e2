"""The concepts that judgements ask for, by the file in ``words/`` that has their words."""

from typing import Literal

Meaning = Literal[
    "email", "mail", "electronic", "phone", "mobile", "contact", "address", "street",
    "street_hint", "house_number", "postcode", "postal", "postcode_hint", "city", "region",
    "state", "country", "continent", "timezone", "latitude", "lat", "longitude", "lon",
    "coordinates", "given_name", "family_name", "full_name", "name", "first", "last", "middle",
    "full", "preferred", "maiden", "initial", "salutation", "person", "party", "by", "user",
    "parcel", "call", "username", "login", "handle", "nickname", "social_media", "password",
    "pass", "secret", "salt", "token", "access", "pin", "answer", "security", "national_id",
    "national_id_hint", "national", "social", "identity", "document", "tax", "licence",
    "driving", "personal", "insurance", "card", "credit_card", "card_number",
    "credit_card_number", "credit", "pan", "card_security", "club", "ip", "network", "mac",
    "otherplace", "dob", "birth", "date", "year", "month", "day", "gender", "marital", "job",
    "company", "url", "web", "uuid", "iban", "bic", "account", "currency", "language", "mime",
    "color", "vin", "plate", "isbn", "ean", "money", "percent", "age", "hash", "key", "id",
    "kind", "flag", "measure", "time", "text", "file", "maker", "prefix", "number", "code",
    "title", "version", "thing", "neutral",
]  # fmt: skip
KeyConcept = Literal[
    "key_word", "key_mark", "reference_mark", "surrogate_key", "alternate_key", "number_or_count",
    "serial",
    "worldwide_code", "abbreviation", "text_code", "authority", "numbered_otherwise", "line",
    "detail", "line_number", "sequence", "position", "index", "numbered_line", "step",
    "order_number", "layer", "layer_word", "table_mark", "label", "generic", "caption",
    "technical_value", "contact_value", "preposition", "article",
]  # fmt: skip
NameConcept = Literal[
    "naming", "naming_person", "title_word", "describing_label", "description", "remark",
    "file_name", "language_mark", "name_part", "same_as", "type_word", "category", "listed",
    "status", "state_of_place", "of_a_person", "category_name", "open_text", "no_flag", "truth",
    "bookkeeping", "data_word",
]  # fmt: skip
TimeConcept = Literal[
    "moment", "moment_mark", "hour", "clock_part", "clock_unit", "week", "quarter", "season",
    "round", "period", "fiscal", "calendar_part", "compact_date", "compact_month", "calendar",
    "numbered_period", "since", "from_word", "effective", "start", "until", "end", "validity",
    "history", "exception_day", "exception_kind", "created", "creation", "changed", "written",
    "writing", "author_mark", "life", "opening", "planned", "one_of_many", "period_word", "span",
    "begin_mark", "calendar_word",
]  # fmt: skip
ThingConcept = Literal[
    "common", "plain", "figure", "role", "structure", "hierarchy", "leader", "acting",
    "account_word", "member", "staff", "people", "relative", "core_thing", "case", "event", "log",
    "scoped_place", "time_word", "property", "stock", "size", "bound", "running", "media",
    "newest", "one_key_of_many", "greatest", "least", "body_size", "state_kind", "unit",
    "place_on_earth", "certain_code", "ranking", "points", "still_level", "counting", "share",
    "weighting", "key_quantity", "key_amount", "unlikely_in_key", "customer", "employee",
    "seller", "product", "supplier", "store", "order", "town", "doctor", "human", "firm",
    "author", "seat", "citizenship", "land", "side", "team",
]  # fmt: skip
NumberConcept = Literal[
    "count", "counted", "quantity", "amount", "duration", "extent", "body", "price", "one_unit",
    "all_units", "sold", "ratio", "intensity", "reading", "level", "pay_level", "cumulative",
    "extreme", "share_of_money", "coded", "identifying", "placing", "clock", "level_word",
    "flow", "movement", "state_table", "movement_table", "sale_table", "match_side",
    "match_score", "standing_table", "quantity_end", "short_quantity_end", "quantity_start",
    "behind_plural", "addable", "measured", "known_number",
    "used_up", "bill",
]  # fmt: skip
Weekday = Literal[
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
]  # fmt: skip
Concept = Meaning | KeyConcept | NameConcept | TimeConcept | ThingConcept | NumberConcept | Weekday

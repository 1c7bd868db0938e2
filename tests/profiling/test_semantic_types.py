"""The semantic types of columns: by name, by values, and by both together."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.profiling.semantic_types import ColumnFacts, SemanticType, classify
from fluid_build.sources.text_values.personal_text import mentions_personal

PERSONAL = {
    *("person_name", "address", "postal_code", "phone", "email", "date_of_birth", "credential"),
    *("national_id", "card_number", "ip_address", "username", "latitude", "longitude"),
}


def facts(
    column: str,
    values: list[str],
    *,
    table: str = "t",
    type_name: str = "VARCHAR",
    siblings: tuple[str, ...] = (),
    rows: int | None = None,
) -> ColumnFacts:
    counted = Counter(values)
    return ColumnFacts(
        table=table,
        column=column,
        type=type_name,
        rows=len(values) if rows is None else rows,
        nulls=0,
        distinct=len(counted),
        values=tuple(counted)[:100],
        min=min(values, default=None),
        max=max(values, default=None),
        siblings=siblings,
    )


def type_of(column: str, values: list[str], **context: object) -> str | None:
    """Return the semantic type of a column, or None."""
    meaning = classify(facts(column, values, **context))  # type: ignore[arg-type]
    return meaning.name if meaning else None


def personal(column: str, values: list[str], **context: object) -> str | None:
    """Return the personal type of a column, None for every other type."""
    name = type_of(column, values, **context)
    return name if name in PERSONAL else None


NAMES = ["Anna Schmidt", "José García", "Mary O'Neill", "Wei Chen", "Luca Rossi", "John Smith"]
LINES = ["12 Oak Street", "Hauptstraße 7", "14, rue de Lyon", "Calle Mayor 3", "Via Roma 12"]


@pytest.mark.parametrize(
    "column",
    [
        "email",
        "EMAIL_ADDR",
        "e_mail",
        "correo_electronico",
        "custEmail",
        "contactemail",
        "Courriel",
    ],
)
def test_email_is_found_by_name_and_values(column: str) -> None:
    """A column of addresses named after e-mail, in any spelling, is an e-mail column."""
    assert type_of(column, ["a.b@example.com", "c@d.org", "e+f@mail.example"]) == "email"


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("email", ["Y", "N"]),
        ("email", ["0", "3", "12"]),
        ("email_template_id", ["11", "12", "40"]),
        ("channel_email", ["yes", "no"]),
        ("email_subject", ["Your order", "Welcome back", "Invoice 12"]),
    ],
)
def test_email_column_without_addresses_is_none(column: str, values: list[str]) -> None:
    """A name that says e-mail isn't believed over other values."""
    assert personal(column, values) is None


def test_email_is_found_by_values_alone() -> None:
    """Addresses are found whatever their column is called."""
    assert type_of("f07", ["ann@example.com", "bob@example.org", "c.d@example.net"]) == "email"


def test_email_address_without_a_top_level_domain_needs_a_plain_name() -> None:
    """Addresses of an internal network count under a plain name."""
    assert type_of("email", ["ann@intranet", "bob@intranet", "eve@intranet"]) == "email"


@pytest.mark.parametrize("column", ["card_number", "ccNumber", "credit_card_no", "numero_tarjeta"])
def test_card_numbers_with_right_check_digits(column: str) -> None:
    """Numbers of known issuers with their check digit under a card's name are card numbers."""
    values = ["4111111111111111", "5500005555555559", "378282246310005", "4012888888881881"]
    assert type_of(column, values) == "card_number"


def test_unnamed_digits_that_fail_luhn_are_not_card_numbers() -> None:
    """Sixteen digits by themselves are a card number only if their check digits are right."""
    values = ["4111111111111112", "4111111111111113", "4111111111111114", "4111111111111115"]
    assert personal("reference", [*values, "4111111111111117"]) is None


def test_unnamed_digits_that_pass_luhn_are_card_numbers() -> None:
    """Numbers of card issuers with right check digits are found under any name."""
    values = ["4111111111111111", "4012888888881881", "5555555555554444", "5105105105105100"]
    assert type_of("reference", [*values, "378282246310005", "6011111111111117"]) == "card_number"


def test_five_unnamed_card_numbers_are_enough_and_four_may_be_chance() -> None:
    values = ["4111111111111111", "4012888888881881", "5555555555554444", "5105105105105100"]
    assert personal("reference", values) is None
    assert type_of("reference", [*values, "378282246310005"]) == "card_number"


def test_loyalty_cards_that_fail_luhn_are_not_card_numbers() -> None:
    """A card that isn't named as a credit card needs right check digits."""
    values = ["6000812345678901", "6000812345678902", "6000812345678904", "6000812345678905"]
    assert personal("loyalty_card_number", values) is None
    assert personal("card_number", values, table="members") is None


def test_made_up_card_numbers_next_to_a_card_type_are_card_numbers() -> None:
    """In a table of credit cards the name counts, though test data fails the check digit."""
    values = ["11111000471254", "11111002034157", "11111005230447"]
    context = {"table": "credit_card", "siblings": ("card_type", "exp_month")}
    assert type_of("card_number", values, **context) == "card_number"


def test_masked_card_numbers_are_card_numbers() -> None:
    """A number that shows only its end is still a card number."""
    assert type_of("cc_number", ["****-****-****-1234", "****-****-****-9876"]) == "card_number"


def test_serial_keys_are_not_national_numbers() -> None:
    """Whole numbers without gaps are keys, whatever they are called."""
    values = [str(number) for number in range(100_000, 100_090)]
    assert personal("id_number", values, table="citizens", type_name="BIGINT") is None
    assert personal("national_id", values, table="citizens", type_name="BIGINT") is None


SSN = ["172-32-1176", "213-46-8915", "238-95-7766", "267-41-2394", "341-22-1782"]


def test_key_shaped_like_a_national_number_counts_in_a_table_of_people() -> None:
    """An unnamed number in the format of a US social security number needs a person in each row."""
    people = {"table": "members", "siblings": ("first_name", "last_name", "phone")}
    assert type_of("mem_id", SSN, **people) == "national_id"
    assert personal("part_key", SSN, table="parts", siblings=("weight", "color")) is None


def test_key_shaped_like_a_national_number_that_repeats_is_a_reference() -> None:
    """The same numbers in a table that refers to people are keys of another table."""
    values = [*SSN, *SSN, *SSN]
    assert personal("mem_id", values, table="member_loans", siblings=("book_id",)) is None


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("cpf", ["529.982.247-25", "111.444.777-35", "123.456.789-09"]),
        ("dni", ["12345678Z", "87654321X", "11111111H"]),
        ("codice_fiscale", ["RSSMRA85T10A562S", "RSSMRA85T10A562S"]),
        ("ssn", ["172321176", "213468915", "238957766"]),
        ("nationalIdNumber", ["10708100", "109272464", "112432117"]),
    ],
)
def test_national_numbers_by_name_and_shape(column: str, values: list[str]) -> None:
    """A column with the name of a country's number and values of its shape is one."""
    assert type_of(column, values) == "national_id"


def test_national_numbers_by_check_digit_alone() -> None:
    """Numbers with a country's format and check digits are found under any name."""
    values = ["529.982.247-25", "111.444.777-35", "123.456.789-09"]
    assert type_of("documento", values) == "national_id"
    assert type_of("f3", values) == "national_id"


def test_article_and_book_numbers_are_not_national_numbers() -> None:
    """Bar codes and ISBNs have check digits too and belong to nobody."""
    assert personal("ean", ["4006381333931", "5901234123457", "4012345678901"]) is None
    assert personal("isbn", ["978-3-16-148410-0", "978-0-306-40615-7"]) is None


def test_lists_of_ip_addresses_are_ip_addresses() -> None:
    """Values with several IP addresses each are IP addresses."""
    values = ["10.0.0.1, 192.168.7.200", "203.0.113.9", "[198.51.100.7, 203.0.113.77]"]
    assert type_of("forwarded_for", values) == "ip_address"
    assert type_of("ips", values) == "ip_address"


@pytest.mark.parametrize("column", ["version", "firmware_version", "build", "release"])
def test_versions_are_not_ip_addresses(column: str) -> None:
    """Versions of four parts look like IPv4 addresses."""
    assert personal(column, ["1.2.0.4", "1.3.1.0", "10.0.22.1", "2.0.0.17"]) is None


def test_times_are_not_ip_addresses() -> None:
    """A time has two colons and isn't an IPv6 address."""
    assert personal("arrival", ["16:59:00", "07:38:10", "23:00:59"]) is None


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("address", ["10.1.2.3", "192.168.1.77", "203.0.113.200"], "ip_address"),
        ("mac_address", ["00:1a:2b:3c:4d:5e", "a0:b1:c2:d3:e4:f5"], "mac_address"),
        ("memory_address", ["0x7ffd42a1", "0x55d0c0de"], None),
        ("address", ["ann@example.com", "bob@example.org"], "email"),
        ("web_address", ["https://example.com/a", "https://example.org"], "url"),
        ("address_id", ["1004", "1005", "1009"], None),
        ("address_type", ["Billing", "Shipping", "Home"], None),
    ],
)
def test_addresses_of_other_kinds(column: str, values: list[str], expected: str | None) -> None:
    """Not every address is a place: values and neighbouring words decide."""
    assert type_of(column, values) == expected


@pytest.mark.parametrize(
    "column", ["address", "StreetAddress", "strasse", "custaddr1", "direccion", "adresse_siege"]
)
def test_address_by_name(column: str) -> None:
    """A column named after an address, with worded values, is one."""
    assert type_of(column, LINES) == "address"


def test_address_by_values_alone() -> None:
    """House numbers with street words, in several languages, show an address."""
    assert type_of("f4", LINES) == "address"


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("street_number", ["121", "306", "730"]),
        ("street_type", ["Court", "Boulevard", "Lane"]),
        ("suite_number", ["Suite 150", "Suite 60", "Suite 0"]),
        ("stop_name", ["86 St", "Canal St", "Fulton St"]),
        ("city", ["Charlotte", "Florence", "Madison"]),
    ],
)
def test_parts_of_addresses_are_not_address_lines(column: str, values: list[str]) -> None:
    """House numbers, street types, stops and cities aren't address lines."""
    assert personal(column, values) is None


def test_latitude_needs_degrees() -> None:
    """A full name with values within the degrees is believed."""
    values = ["52.520008", "48.856613", "-33.868820"]
    assert type_of("latitude", values, type_name="DOUBLE") == "latitude"
    assert personal("latitude", ["520.1", "488.5", "977.2"], type_name="DOUBLE") is None


def test_lat_without_a_longitude_is_none() -> None:
    """The abbreviation counts only next to a longitude."""
    values = ["12.5", "40.25", "33.1"]
    assert personal("lat", values, type_name="DOUBLE", siblings=("host", "status")) is None
    assert type_of("lat", values, type_name="DOUBLE", siblings=("lng",)) == "latitude"


def test_amounts_between_minus_90_and_90_are_not_a_latitude() -> None:
    """Numbers alone never make a latitude."""
    values = ["-45.20", "12.99", "89.10"]
    assert personal("amount", values, type_name="DECIMAL(10,2)") is None


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("phone", ["+49 30 1234567", "(206) 555-1189", "555.123.4567 x12"]),
        ("Telefax", ["030/123456", "089/987654", "0221 445566"]),
        ("mobileNo", ["01512345678", "01609876543", "01701112223"]),
        ("numero_telephone", ["01 44 55 66 77", "06 12 34 56 78"]),
        ("custtelno", ["2065551189", "2065553412"]),
    ],
)
def test_phone_by_name(column: str, values: list[str]) -> None:
    """Numbers as people dial them, in a column named after a phone, are phone numbers."""
    assert type_of(column, values) == "phone"


def test_phone_of_digits_alone_in_a_number_column() -> None:
    """A phone number may be stored as a whole number."""
    assert type_of("phone", ["2065551189", "4155550134"], type_name="BIGINT") == "phone"
    assert personal("phone", ["1", "2", "3"], type_name="INTEGER") is None


@pytest.mark.parametrize("column", ["order_no", "tracking", "account_number"])
def test_order_numbers_in_groups_are_not_phone_numbers(column: str) -> None:
    """Digits in groups are a phone number only in the usual formats."""
    assert personal(column, ["10-4020-000006", "10-4020-000016", "10-4030-000024"]) is None


@pytest.mark.parametrize("column", ["phone_type", "phone_verified", "phone_model", "phone_id"])
def test_properties_of_phones_are_none(column: str) -> None:
    """The type or the count of a phone isn't its number."""
    assert personal(column, ["home", "work", "cell"]) is None


@pytest.mark.parametrize(
    ("column", "values", "type_name"),
    [
        ("zip", ["98101", "02134", "10001-1234"], "VARCHAR"),
        ("zip_code", ["98101", "2134", "10001"], "INTEGER"),
        ("PLZ", ["10115", "80331"], "VARCHAR"),
        ("codigo_postal", ["28013", "08001"], "VARCHAR"),
        ("postcode", ["EC1A 1BB", "SW1A 2AA"], "VARCHAR"),
        ("cep", ["01310-200", "22041-001"], "VARCHAR"),
    ],
)
def test_postal_code_by_name(column: str, values: list[str], type_name: str) -> None:
    """Short codes under the name of a postal code, whatever their type, are postal codes."""
    assert type_of(column, values, type_name=type_name) == "postal_code"


def test_a_vague_postal_code_needs_a_place_next_to_it() -> None:
    """Two letters such as "cp" are believed next to a city and nowhere else."""
    values = ["75001", "69002", "13003"]
    assert type_of("cp", values, siblings=("ville", "rue")) == "postal_code"
    assert personal("cp", values, siblings=("cpu", "ram")) is None


def test_state_of_an_order_is_none() -> None:
    """A state that is a status isn't personal data."""
    assert personal("state", ["open", "shipped", "closed"], table="orders") is None


@pytest.mark.parametrize(
    ("column", "values", "type_name"),
    [
        ("date_of_birth", ["1980-01-31", "1975-12-25"], "DATE"),
        ("BirthDate", ["1980-01-31 00:00:00"], "TIMESTAMP"),
        ("geburtsdatum", ["31.01.1980", "25.12.1975"], "VARCHAR"),
        ("dob", ["19800131", "19751225"], "INTEGER"),
        ("fecha_nacimiento", ["31/01/1980"], "VARCHAR"),
        ("data_di_nascita", ["1980-01-31"], "DATE"),
    ],
)
def test_date_of_birth_by_name(column: str, values: list[str], type_name: str) -> None:
    """Dates in a column named after a birth are dates of birth."""
    assert type_of(column, values, type_name=type_name) == "date_of_birth"


@pytest.mark.parametrize(
    ("column", "values", "type_name"),
    [
        ("hire_date", ["2001-01-31"], "DATE"),
        ("pubdate", ["1991-06-12"], "DATE"),
        ("birth_year", ["1980", "1975"], "INTEGER"),
        ("birth_month", ["1", "12"], "INTEGER"),
        ("birth_country", ["France", "Peru"], "VARCHAR"),
    ],
)
def test_other_dates_are_not_dates_of_birth(column: str, values: list[str], type_name: str) -> None:
    """Other dates, and parts of a birth date, aren't."""
    assert personal(column, values, type_name=type_name) is None


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("password", ["8cb2237d0679ca88db6464eac60da96345513964"]),
        (
            "passwordHash",
            ["ElzTpSNbUW1Ut+L5cWlfR7MF6nBZia8WpmGaQPjLOJA=", "++UC72Q8sa7xccXZ0JJ1JHw="],
        ),
        ("PasswordSalt", ["bE3XiWw=", "EjJaC3U="]),
        ("mot_de_passe", ["hunter2", "s3cret!"]),
        ("api_key", ["sk-aa81b2c3d4e5f6a7b8c9", "sk-bb91b2c3d4e5f6a7b8c9"]),
        ("field_9", ["$2b$12$" + "a" * 53, "$2b$12$" + "b" * 53]),
    ],
)
def test_credentials(column: str, values: list[str]) -> None:
    """Passwords, their hashes and salts, and keys are credentials."""
    assert type_of(column, values) == "credential"


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("password_expired", ["true", "false"]),
        ("password_changed_at", ["2024-01-01", "2024-02-02"]),
        ("salt", ["0.4", "1.2"]),
        ("token_count", ["14", "5000"]),
        ("key", ["A", "Bb", "C#m"]),
    ],
)
def test_properties_of_passwords_are_not_credentials(column: str, values: list[str]) -> None:
    """Flags, dates and counts about passwords aren't."""
    assert personal(column, values) is None


@pytest.mark.parametrize("column", ["username", "user_name", "LoginID", "benutzername", "user"])
def test_username_by_name(column: str) -> None:
    """Single words in a column named after a login are user names."""
    assert type_of(column, ["jsmith", "anna.b", "kuro77", "m_rossi"]) == "username"


def test_domain_logins_are_usernames_under_any_name() -> None:
    """A login written after its domain needs no name."""
    assert type_of("sales_person", ["corp\\anna0", "corp\\jose1", "corp\\li2"]) == "username"


def test_user_name_with_full_names_is_a_person_name() -> None:
    """Some call the name of a user a user name."""
    assert type_of("user_name", NAMES) == "person_name"


def test_login_counts_are_not_usernames() -> None:
    """Counts, addresses and dates of logins aren't the login."""
    assert personal("login_count", ["4", "7"], type_name="INTEGER") is None
    assert personal("login_url", ["https://example.com/in"]) is None


@pytest.mark.parametrize(
    "column",
    ["first_name", "LNAME", "Vorname", "apellidos", "cognome", "prenom", "achternaam", "empfname"],
)
def test_parts_of_names_by_name(column: str) -> None:
    """A column named like part of a name, in many languages, holds people's names."""
    assert type_of(column, ["Zbyněk", "Okonjo", "Ødegård", "d'Arc"]) == "person_name"


@pytest.mark.parametrize("table", ["customers", "employee", "authors", "tbl_student", "Kunden"])
def test_name_in_a_table_about_people(table: str) -> None:
    """A bare name is a person's if the table lists people and the values look like it."""
    assert type_of("name", NAMES, table=table) == "person_name"


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ("product", ["Oak Table", "Green Tea", "Madison Lamp", "Yoga Mat"]),
        ("country", ["Afghanistan", "Georgia", "Jordan", "Chad"]),
        ("city", ["Charlotte", "Florence", "Victoria", "Madison", "Austin"]),
        ("pets", ["Bella", "Max", "Charlie", "Luna", "Rocky"]),
        ("customers", ["Acme Corp", "Hoffmann GmbH", "Delta Systems", "Rossi S.p.A."]),
        ("customer", ["Customer#000000001", "Customer#000000002"]),
    ],
)
def test_name_of_other_things_is_none(table: str, values: list[str]) -> None:
    """The name of a product, country, city, pet or company isn't a person's."""
    assert personal("name", values, table=table) is None


def test_reversed_names_and_initials() -> None:
    """Names as "Last, First" and names with initials are names as well."""
    turned = ["Schmidt, Anna", "García, José", "Smith, John", "Rossi, Luca"]
    assert type_of("provider_name", turned) == "person_name"
    assert type_of("instructor", ["B. Harris", "D. Fairbanks", "H. Thorne"]) == "person_name"


def test_full_names_under_a_meaningless_name() -> None:
    """Full names with common given names are found under any column name."""
    assert type_of("f01", NAMES) == "person_name"


def test_role_with_codes_is_not_a_person_name() -> None:
    """Codes in a column named after a role are references."""
    assert personal("clerk", ["Clerk#00001", "Clerk#00002"]) is None
    assert personal("manager", ["12", "44"], type_name="INTEGER") is None


def test_name_next_to_a_given_name_is_the_family_name() -> None:
    """German and French tables call the surname just "name" next to the given name."""
    context = {"table": "personen", "siblings": ("Vorname", "Ort")}
    assert type_of("Name", ["Eickhoff", "Stöcker", "Vogelsang"], **context) == "person_name"


@pytest.mark.parametrize("value", ["", " ", "N/A", "null"])
def test_column_without_content_is_none(value: str) -> None:
    """A column without values in a table with rows has no type, whatever its name."""
    assert type_of("phone", [value], rows=40) is None
    assert type_of("phone", [], rows=40) is None


def test_table_without_rows_is_judged_by_plain_names() -> None:
    """Without rows, as in DDL, only a plain name counts, with less confidence."""
    meaning = classify(facts("email", [], rows=0))
    assert meaning is not None
    assert (meaning.name, meaning.pii) == ("email", True)
    assert meaning.confidence < 0.7
    assert type_of("name", [], rows=0) is None


@pytest.mark.parametrize("column", ["termination_code", "destination_code", "terminazione"])
def test_a_code_is_no_countrys_because_its_name_ends_like_nation(column: str) -> None:
    assert type_of(column, ["DIS", "RES", "EOC", "RET"]) is None
    assert type_of("nation_code", ["DEU", "FRA", "PER"]) == "country_code"


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("rowguid", ["24cb3088-4345-47c4-86c5-17b535133d1e"], "uuid"),
        ("iban", ["DE89370400440532013000", "FR1420041010050500013M02606"], "iban"),
        ("homepage", ["https://example.com", "www.example.org/a"], "url"),
        ("currency", ["EUR", "USD", "CHF"], "currency_code"),
        ("country", ["France", "Peru", "Japan"], "country"),
        ("countryCode", ["FR", "PE", "JP"], "country_code"),
        ("lang", ["en", "de", "fr"], "language_code"),
        ("city", ["Berlin", "Lyon"], "city"),
        ("gender", ["M", "F"], "gender"),
        ("colour", ["red", "navy"], "color"),
        ("company_name", ["Acme Corp", "Delta"], "company_name"),
        ("payload", ['{"a": 1}', '{"a": 2}'], "json"),
        (
            "note",
            ["Please call back before noon or leave word."] * 2
            + ["One two three four five six.", "The parcel was left with a friendly neighbour."],
            "free_text",
        ),
    ],
)
def test_types_that_are_not_personal(column: str, values: list[str], expected: str) -> None:
    """Other types are found too, and none of them is marked as personal."""
    meaning = classify(facts(column, values))
    assert meaning is not None
    assert meaning.name == expected


def test_every_personal_type_is_marked_pii() -> None:
    """Personal types are always marked, whoever's place or code it is."""
    latitude = classify(facts("latitude", ["52.5", "48.8"], type_name="DOUBLE"))
    postal = classify(facts("zip", ["98101", "02134"]))
    assert latitude is not None
    assert postal is not None
    assert latitude.pii
    assert postal.pii


TELLING = [
    *("email", "card_number", "ssn", "cpf", "password", "dob", "lat", "latitude", "zip", "cp"),
    *("phone", "username", "address", "street_no", "name", "first_name", "iban", "ean", "price"),
]
ODD_NUMBERS = st.text(alphabet="0123456789²٣४Ⅻ .-/:+XK\u212a", min_size=6, max_size=24)


@given(
    column=st.text(max_size=40) | st.sampled_from(TELLING),
    table=st.text(max_size=20),
    type_name=st.sampled_from(
        ["VARCHAR", "INTEGER", "DOUBLE", "DATE", "BLOB", "VARCHAR[]", "UUID"]
    ),
    values=st.lists(st.text(max_size=60) | ODD_NUMBERS | st.floats().map(str), max_size=12),
    siblings=st.lists(st.text(max_size=20), max_size=4),
)
def test_any_column_is_classified_the_same_way_twice(
    column: str, table: str, type_name: str, values: list[str], siblings: list[str]
) -> None:
    """Whatever a column is called and holds, the answer is well formed and stable."""
    column_facts = facts(
        column, values, table=table, type_name=type_name, siblings=tuple(siblings), rows=20
    )
    meaning = classify(column_facts)
    assert meaning == classify(column_facts)
    assert meaning is None or _well_formed(meaning)


def _well_formed(meaning: SemanticType) -> bool:
    return 0 < meaning.confidence <= 1 and meaning.reason.endswith(".") and meaning.name.islower()


@given(st.lists(st.emails(), min_size=3, max_size=10, unique=True))
def test_reason_quotes_no_value(values: list[str]) -> None:
    """The reason gives figures and never a value."""
    meaning = classify(facts("email", values))
    assert meaning is not None
    assert not any(value in meaning.reason for value in values)


@pytest.mark.parametrize(
    "value",
    [
        "1" * 400,
        "a" * 400,
        "1-" * 200,
        "a." * 200,
        "1 a " * 100,
        "(" * 400,
        ":" * 400,
        "é " * 200,
        "a@" * 200,
        "aA1 " * 100,
        "- " * 200,
        "<a " * 133,
        "[1,",
        "x" * 5000 + "!",
    ],
)
@pytest.mark.parametrize("column", ["f", "email", "phone", "card_number", "ip", "address", "zip"])
@pytest.mark.timeout(30)
def test_hostile_values_take_no_time(value: str, column: str) -> None:
    """No value makes a pattern backtrack without end, so none of these is ended by the timeout."""
    meaning = classify(facts(column, [value + str(number) for number in range(60)]))
    assert meaning is None or meaning.name


@pytest.mark.parametrize("name", ["last_four", "last4", "first_seen_by_device", "lastfour"])
def test_an_ordinal_before_another_word_is_not_a_persons_name(name: str) -> None:
    """The last four digits and the first of a month count something."""
    assert personal(name, []) is None
    assert personal(name, ["4242", "1881", "0005", "9424", "4444"]) is None


@pytest.mark.parametrize("name", ["last", "c_last", "first", "p_first"])
def test_a_part_of_a_name_may_have_a_prefix(name: str) -> None:
    """``c_last`` is the last name of a customer."""
    assert personal(name, ["Schmidt", "Garcia", "Smith", "Rossi", "Chen"]) == "person_name"


def test_iban_by_name_needs_no_right_check_digits() -> None:
    """Made-up test data has the shape of an IBAN under its name, and nowhere else."""
    values = ["DE83692717230008929368", "CH85692717230008792978"]
    assert type_of("IBAN", values) == "iban"
    assert type_of("reference", values) != "iban"


def test_mailbox_names_are_email_in_a_table_of_people() -> None:
    """Where one domain goes without saying, each person still has a mailbox of their own."""
    context = {"table": "employees", "siblings": ("first_name",)}
    assert type_of("email", ["SKING", "NYANG", "LGARCIA"], **context) == "email"
    assert personal("email", ["weekly", "weekly", "never"], **context) is None


def test_extension_is_a_phone_number_of_a_person() -> None:
    """Four digits in the phone column of employees are a number in the office."""
    assert type_of("PHONENO", ["3978", "3476", "4738"], table="employee") == "phone"
    assert personal("phone", ["3978", "3476", "4738"], table="brands") is None


def test_contact_with_long_numbers_is_a_phone_number() -> None:
    """A contact may be a number to call; short ones are keys."""
    assert type_of("contact_agent", ["7959406264", "7249889554"]) == "phone"
    assert personal("contact", ["1000234", "1000235"]) is None


def test_a_credit_card_column_needs_no_right_check_digits() -> None:
    """Sixteen digits named as credit card are one, whether made up or not."""
    values = ["5314574774112590", "5410033003668250", "5152056017234780"]
    assert type_of("customer_creditcard", values, type_name="BIGINT") == "card_number"


def test_pass_next_to_a_login_is_a_password() -> None:
    """A pass is a password next to a login, and a season ticket elsewhere."""
    values = ["admin", "demo!", "adupont"]
    assert type_of("pass", values, siblings=("login", "email")) == "credential"
    assert personal("pass", values, siblings=("price", "season")) is None


@pytest.mark.parametrize(
    ("column", "table", "siblings"),
    [("alias", "variants", ("allele",)), ("handle", "columns", ()), ("alias", "fields", ("type",))],
)
def test_alias_of_a_thing_is_not_a_username(
    column: str, table: str, siblings: tuple[str, ...]
) -> None:
    """Only people have a handle to log in with."""
    values = ["price_ttc", "barcode1", "ref_ext", "label2"]
    assert personal(column, values, table=table, siblings=siblings) is None


def test_nickname_that_is_a_given_name_is_a_person_name() -> None:
    """What friends call somebody is a name, what a player calls themselves is a login."""
    context = {"table": "members", "siblings": ("first_name", "last_name")}
    assert type_of("nickname", ["Jim", "Mike", "Dan", "Joe"], **context) == "person_name"
    assert type_of("nickname", ["kuro77", "xX_ace", "m0nster"], **context) == "username"


def test_full_name_next_to_an_email_is_a_persons_name() -> None:
    """Whatever the table is called, a place has no e-mail address and no password."""
    values = ["Lakhdar bel Maria", "Zineb bel Omar", "Akram Saliha"]
    context = {"table": "autorites", "siblings": ("email", "password")}
    assert type_of("nom_complet", values, **context) == "person_name"


@pytest.mark.parametrize(
    ("column", "table", "values"),
    [
        ("nombre", "mascota", ["Luna", "Coco", "Bella", "Max"]),
        ("nom", "produits", ["Madeleine", "Charlotte aux fraises", "Opera"]),
        ("name", "tiere", ["Simba", "Bella", "Charlie", "Frank"]),
    ],
)
def test_name_of_an_animal_or_product_in_other_languages_is_none(
    column: str, table: str, values: list[str]
) -> None:
    """Pets have people's names, and some cakes do."""
    assert personal(column, values, table=table) is None
    assert personal("fecha_nacimiento", ["2022-01-03"], table="mascota", type_name="DATE") is None


@pytest.mark.parametrize("column", ["address_element_code", "address_block_element"])
def test_elements_of_an_address_form_are_not_addresses(column: str) -> None:
    """A code for the parts of an address holds no address."""
    assert personal(column, ["Street name", "City", "Post code", "Country"]) is None


@pytest.mark.parametrize("table", ["wards", "provinces", "units", "species"])
def test_full_name_of_a_place_is_not_a_persons_name(table: str) -> None:
    """Places and units have a full name, too."""
    values = ["Truc Bach Ward", "Ha Giang Province", "Ba Dinh District", "Provincial city"]
    assert personal("full_name", values, table=table, siblings=("code", "name")) is None


@pytest.mark.parametrize(
    ("column", "table", "values"),
    [
        ("producer", "films", ["Gary Kurtz, Rick McCallum", "Anna Smith, John Brown, Wei Chen"]),
        ("sponsor", "bills", ["Smith, Tina [Sen.-D]", "Lee, Mike [Sen.-R]", "Reed, Jack [Sen.]"]),
        ("recorded_by", "events", ["Anna Smith | John Brown | Wei Chen", "Mary Jones"]),
        ("name", "doctors", ["Frey_Carter", "Smith_John", "Schmidt_Anna", "Hood_Robert"]),
        ("first_name", "patients", ["Jaylon58", "Amina595", "Amara485"]),
        ("sales_person", "sales", ["LEE", "GOUNOT", "LUCCHESSI", "GARCIA"]),
        ("nume", "clienti", ["Ionescu Maria", "Popa Andrei", "Constantin Ana"]),
        ("FIRSTNME", "emp", ["CHRISTINE", "MICHAEL", "EILEEN"]),
        ("Rekordspieler", "liga", ["Karl-Heinz Becker", "Willi Schmidt", "Robert Klein"]),
    ],
)
def test_names_of_people_in_other_spellings(column: str, table: str, values: list[str]) -> None:
    """Several people in a value, underscores, numbers of test data, and surnames alone."""
    assert type_of(column, values, table=table) == "person_name"


def test_identifiers_with_an_initial_are_not_names() -> None:
    """``p.ref`` is a column of a table, not somebody called P. Ref."""
    assert personal("name", ["p.ref", "p.label", "p.stock", "s.status"]) is None


def test_a_street_without_its_number_is_an_address() -> None:
    """Italian tables keep the house number in a column of its own."""
    context = {"table": "utenti", "siblings": ("Nome", "NCivico", "Cap")}
    assert type_of("Via", ["Via Ghiara", "Via Saragat", "Corso Italia"], **context) == "address"
    assert personal("Via", ["SFO", "JFK", "LAX"], table="flights") is None


@pytest.mark.parametrize("name", ["host", "server", "node", "x"])
def test_host_names_are_not_file_names(name: str) -> None:
    """Both contain a point; the ending distinguishes them."""
    hosts = ["db01.example.com", "web.example.org", "mail.shop.de", "cache-2.internal.net"]
    assert type_of(name, hosts) != "file_name"
    assert type_of("x", ["report.pdf", "photo_1.jpeg", "data.csv", "notes.txt"]) == "file_name"
    assert type_of("file", ["setup.py", "readme.md", "install.sh", "a.out"]) == "file_name"


_MONTHLY = "aircraft balance contract delivery estimate forecast".split()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["DE", "FR", "US", "JP", "BR", "NL", "PL", "ZA"], "country_code"),
        (["DEU", "FRA", "USA", "JPN", "BRA", "NLD", "POL", "ZAF"], "country_code"),
        (["de", "fr", "en", "ja", "pt"], "language_code"),
        (["de-CH", "fr_CA", "en-US", "ja-JP", "pt-BR"], "language_code"),
        (["deu", "fra", "eng", "jpn", "por"], "language_code"),
        (["EUR", "USD", "ISK", "MNT"], "currency_code"),
        # Few of the states of America are countries as well, and half of all pairs of letters.
        (["AL", "AK", "AZ", "CA", "FL", "NY", "OH", "TX"], None),
        (["DE", "FR"], None),
        (["CAT", "DOG", "COW", "HEN", "PIG", "BEE", "EMU", "APE"], None),
        (["jan", "feb", "mar", "apr", "may", "jun", "jul"], None),
        (["mon", "tue", "wed", "thu", "fri", "sat", "sun"], None),
        (_MONTHLY, None),
    ],
)
def test_codes_of_iso_need_no_name(values: list[str], expected: str | None) -> None:
    """Countries, languages and currencies, where there are enough of them."""
    assert type_of("x", values) == expected


@pytest.mark.parametrize("column", ["LAND_ONLY", "nur_land", "country_only_flag"])
def test_a_flag_about_a_country_is_none(column: str) -> None:
    assert type_of(column, ["Y", "N"]) not in ("country", "country_code")


@pytest.mark.parametrize("column", ["LAND_USE", "land_cover"])
def test_what_grows_on_land_is_no_country(column: str) -> None:
    """A word that we don't know needs a value that we do."""
    assert type_of(column, ["FOREST", "MEADOW", "WATER"]) is None
    assert type_of(column, ["FOR", "MEA", "WAT"]) is None
    assert type_of("land_herkunft", ["Utopia", "Frankreich"]) == "country"


_GUIDS = [f"{n:012x}4{n % 4096:03x}a{n % 4096:03x}{n:012x}" for n in range(3**19, 3**19 + 40)]


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("x", _GUIDS, "uuid"),
        ("row_guid", [value.replace("4", "0").upper() for value in _GUIDS], "uuid"),
        ("obj_id", [value.replace("4", "0").upper() for value in _GUIDS], "uuid"),
        ("x", [value[::-1] for value in _GUIDS], "hash"),
        ("md5", _GUIDS, "hash"),
    ],
)
def test_uuids_may_lack_their_dashes(column: str, values: list[str], expected: str) -> None:
    """By the digits of their version, or by the name of an id."""
    assert type_of(column, values) == expected


@pytest.mark.parametrize(
    ("siblings", "expected"), [(("latitud",), "longitude"), (("peso", "matricula"), None)]
)
def test_a_longitude_stands_beside_a_latitude(
    siblings: tuple[str, ...], expected: str | None
) -> None:
    """A vehicle's length is called so in Spanish."""
    lengths = ["4.21", "3.98", "4.57", "5.02"]
    assert personal("longitud", lengths, type_name="DOUBLE", siblings=siblings) == expected


@pytest.mark.parametrize("column", ["full_product_name", "firstProductName", "last_order_name"])
def test_the_full_name_of_a_thing_is_no_persons(column: str) -> None:
    assert personal(column, ["Paracetamol", "Ibuprofen", "Aspirin", "Morphine"]) is None


def test_a_name_of_two_letters_is_no_name_by_itself() -> None:
    """Operators such as le and ge are surnames somewhere."""
    assert personal("operator", ["le", "ge"]) is None


@pytest.mark.parametrize(
    ("column", "values", "siblings"),
    [
        ("plan_nome", ["Basic", "Premium"], ("nome", "cognome")),
        ("usr_path", ["usr", "owner"], ()),
    ],
)
def test_a_name_beside_somebodys_is_not_always_somebodys(
    column: str, values: list[str], siblings: tuple[str, ...]
) -> None:
    assert personal(column, values, siblings=siblings) is None


@pytest.mark.parametrize(
    ("table", "column", "values", "siblings", "expected"),
    [
        ("kliendid", "taisnimi", NAMES, (), "person_name"),
        ("t", "perenimi", ["Talts", "Gusev", "Kurm"], (), "person_name"),
        ("pasien", "nama_belakang", ["Ledner", "Fisher", "Wolf"], (), "person_name"),
        ("lab", "nama_kepala", NAMES, (), "person_name"),
        ("t", "segundo_nombre", ["Patricia", "Gabriel", "Olga"], (), "person_name"),
        ("empleados", "paterno", ["Abba", "Trimnell", "Almon"], ("nombre",), "person_name"),
        ("kontak", "nomor_kontak", ["81915156", "81666233"], (), "phone"),
        ("aadressid", "tanav_maja", ["Rahu tänav 11", "Jaama tänav 112"], (), "address"),
        ("mozi", "irszam", ["1117", "1095"], (), "postal_code"),
        ("mozi", "cim", ["Ráday utca 31", "Béke tér 3"], ("irszam",), "address"),
        ("film", "filmcim", ["Szürkület", "Manderlay"], ("mufaj",), None),
        (
            "Cliente",
            "CI",
            ["17778899", "18776656", "4507696"],
            ("nombre", "apellido"),
            "national_id",
        ),
        ("t", "curp", ["CYZHXUTMLIUNNSDA", "TOUZJKSEHXCGPSSL"], (), "national_id"),
        ("paziente", "numTesseraSanitaria", ["TS0010000000", "TS0010000001"], (), "national_id"),
        ("CartaDiCredito", "Numero", ["7845514304965483", "0301383381125528"], (), "card_number"),
    ],
)
def test_names_in_further_languages_are_read(
    table: str, column: str, values: list[str], siblings: tuple[str, ...], expected: str | None
) -> None:
    assert personal(column, values, table=table, siblings=siblings) == expected


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("Call 253-678-1234 before noon", True),
        ("DFAR 252.227-7013, Rights in Technical Data", False),
        ("Pay to GB29 NWBK 6016 1331 9268 19 please", True),
        ("kim1RMkuZUY+GB29NWBK60161331926819/8NWBK", False),
    ],
)
def test_a_rule_and_encoded_bytes_mention_nobody(text: str, mentions: bool) -> None:
    """A phone number keeps to one mark between its parts, and an account's has words around it."""
    assert mentions_personal(text) is mentions


_VALUES = {
    "phone": ["+36 30 123 4567", "06 1 234 5678", "+36 20 765 4321"],
    "email": ["ann@example.com", "bob@example.org"],
    "date_of_birth": ["1970-01-31", "1988-12-01", "2001-07-15"],
    "address": ["Kossuth u. 12", "Brivibas 45-3", "Jl. Merdeka 10"],
    "postal_code": ["10115", "80331", "20095"],
    "national_id": ["38001085718", "49403136526", "36605070231"],
    "username": ["jsmith7", "annab", "kovacsj"],
    "person_name": ["Tiit Kask", "Liis Oja", "Rein Rebane", "Piret Kuusk"],
}


@pytest.mark.parametrize(
    ("meaning", "columns"),
    [
        (
            "phone",
            "mobitel broj_telefona telefonni_cislo telefoninumber talrunis denwabango 휴대폰",
        ),
        ("email", "surel epasts el_pastas netfang メールアドレス 이메일"),
        (
            "date_of_birth",
            "szul_datum datum_narodenia sunniaeg tgl_lahir dzimsanas_datums 생년월일",
        ),
        ("address", "adrese adresas dia_chi bydliste heimilisfang helbidea 住所"),
        ("postal_code", "postanski_broj pasto_kodas ma_buu_dien 郵便番号"),
        ("national_id", "szemelyi_szam asmens_kodas kennitala cislo_op no_identitas 주민등록번호"),
        ("username", "korisnicko_ime felhasznalonev kayttajatunnus nume_utilizator"),
        ("person_name", "priezvisko perenimi kliendi_nimi nama_pelanggan nome_da_mae ugyfel_nev"),
    ],
)
def test_names_are_read_in_languages_that_few_databases_have(meaning: str, columns: str) -> None:
    for column in columns.split():
        assert type_of(column, _VALUES[meaning]) == meaning, column


@pytest.mark.parametrize(
    "names",
    [
        ["Mart Tamm", "Kadri Saar", "Jaan Sepp", "Liis Mägi", "Tõnu Kask", "Piret Kukk"],
        ["Jānis Bērziņš", "Anna Kalniņa", "Pēteris Ozoliņš", "Ilze Liepiņa", "Andris Krūmiņš"],
        ["Jonas Kazlauskas", "Ona Petrauskienė", "Petras Jankauskas", "Mindaugas Butkus"],
        ["Giorgos Papadopoulos", "Nikos Dimitriou", "Eleni Papadaki", "Katerina Vlachou"],
        ["Somchai Jaidee", "Siriporn Suksai", "Nattapong Srisuk", "Kanya Rattanakorn"],
        ["Arben Hoxha", "Elira Shehu", "Dritan Gashi", "Besa Krasniqi"],
        ["Iker Etxeberria", "Ane Agirre", "Mikel Zubizarreta", "Nerea Urrutia"],
    ],
    ids=["et", "lv", "lt", "el", "th", "sq", "eu"],
)
def test_people_are_known_by_names_of_many_languages(names: list[str]) -> None:
    assert type_of("name", names, table="x") == "person_name"


@pytest.mark.parametrize("column", ["updt_user", "upd_usr", "usuario_modificacion"])
def test_who_changed_all_rows_is_no_persons_login(column: str) -> None:
    """One or two values are programs and administrators; beside a password they are accounts."""
    values = ["kradmin"] * 9 + ["system"]
    assert personal(column, values) is None
    assert personal(column, ["jsmith", "annab", "kovacsj"]) == "username"
    assert personal("user", ["kradmin"] * 3, siblings=("password",)) == "username"


def test_codes_of_states_are_no_address() -> None:
    assert personal("addr_stt", ["NY", "CA", "TX", "OR"]) is None
    assert personal("addr_2", ["Apt 3", "Suite 7", "B12"]) == "address"


def test_names_of_days_are_no_persons() -> None:
    """Though a column beside them is called like a person's name."""
    days = ["Monday", "Tuesday", "Wednesday", "Thursday"]
    assert personal("d_day_name", days, siblings=("d_fnm",)) is None


@pytest.mark.parametrize(
    ("column", "meaning"),
    [("labdate", None), ("custbdate", "date_of_birth"), ("salesreasonname", None)],
)
def test_words_inside_others_are_no_words(column: str, meaning: str | None) -> None:
    """``la`` and ``bdate`` are a date of laboratories, and there is no son in a reason."""
    values = ["2020-01-31", "2021-12-01", "2022-07-15"] if "date" in column else ["Price", "Review"]
    assert personal(column, values) == meaning


@pytest.mark.parametrize(
    ("column", "values", "meaning"),
    [
        ("cstm_pstl_cd", ["10115", "80331", "20095"], "postal_code"),
        ("au_lnm", ["White", "Green", "Carson", "Locksley"], "person_name"),
        ("strt_nm", ["Oak", "Hauptstr. 7", "Main"], "address"),
        ("usrn", ["jsmith", "annab", "kovacsj"], "username"),
        ("pssw_hash", ["x7Gh29kLm", "p0Qr81sTu"], "credential"),
    ],
)
def test_words_without_vowels_are_known(column: str, values: list[str], meaning: str) -> None:
    assert personal(column, values) == meaning

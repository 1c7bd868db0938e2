"""Names are parsed by habit: words, key suffixes, shared prefixes, singulars."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.profiling.names.habits import common_prefix_words, glued_prefix
from fluid_build.profiling.names.parsing import ParsedColumnName, ParsedNames, parse_names
from fluid_build.profiling.names.words import has_key_word, singular, stem, strip_key_words, words

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORD = st.text(LETTERS, min_size=2, max_size=9)


def named(table: str, *columns: str) -> ParsedNames:
    return parse_names([(table, columns)])[0]


def column(name: str, *others: str, table: str = "t") -> ParsedColumnName:
    return named(table, name, *others).columns[0]


@pytest.mark.parametrize(
    "name",
    [
        *("shipToAddressId", "ShipToAddressID", "ship_to_address_id", "SHIP_TO_ADDRESS_ID"),
        *("Ship To Address Id", "ship-to-address-id", "ship.to.address.id"),
    ],
)
def test_every_style_gives_the_same_words(name: str) -> None:
    """Camel, Pascal, snake and upper case, spaces, hyphens and dots all separate words."""
    assert words(name) == ("ship", "to", "address", "id")


def test_digits_separate_words() -> None:
    """A number inside a name is a word of its own."""
    assert words("address2Line") == ("address", "2", "line")


@pytest.mark.parametrize("name", ["col_7", "c1", "Column12", "f0", "t3", "12", "field_2", "x9"])
def test_mere_numbering_says_nothing(name: str) -> None:
    """Names like ``col_7`` have no words."""
    assert words(name) == ()


def test_letters_beyond_ascii_are_words() -> None:
    """A name in another script is a word."""
    assert words("顧客_id") == ("顧客", "id")


@given(st.lists(WORD, min_size=2, max_size=4))
def test_styles_agree_on_any_words(parts: list[str]) -> None:
    """Snake, upper, camel and Pascal spellings of the same words give the same words."""
    spelled = {
        words("_".join(parts)),
        words("_".join(parts).upper()),
        words("".join(part.title() for part in parts)),
        words(parts[0] + "".join(part.title() for part in parts[1:])),
    }
    assert spelled == {tuple(parts)}


@given(st.text(max_size=40))
def test_any_name_can_be_parsed(name: str) -> None:
    """No name, whatever its characters, breaks the parser."""
    assert all(word == word.lower() for word in words(name))
    assert len(named(name, name, "id").columns) == 2


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        *[("customers", "customer"), ("categories", "category"), ("boxes", "box")],
        *[("addresses", "address"), ("classes", "class"), ("branches", "branch")],
        *[("people", "person"), ("children", "child"), ("series", "series")],
        *[
            ("buses", "bus"),
            ("houses", "house"),
            ("journaux", "journal"),
            ("movies", "movie"),
            ("bureaux", "bureau"),
        ],
    ],
)
def test_plurals_become_singular(plural: str, one: str) -> None:
    """English plurals, regular or not, become singular."""
    assert singular(plural) == one


@pytest.mark.parametrize("word", ["status", "address", "analysis", "bus", "class", "gas"])
def test_words_that_end_like_plurals_have_one_stem(word: str) -> None:
    """A singular that ends in s has the same stem everywhere."""
    assert singular(singular(word)) == singular(word)


@pytest.mark.parametrize("word", ["status", "address", "analysis", "bus", "class"])
def test_singulars_in_s_are_kept(word: str) -> None:
    """A word that merely ends in s isn't a plural."""
    assert singular(word) == word


def test_a_phrase_is_stemmed_word_by_word() -> None:
    """Each word of a phrase becomes singular."""
    assert stem(("orders", "lines")) == ("order", "line")


@pytest.mark.parametrize(
    ("name", "rest"),
    [
        *[("customer_id", ("customer",)), ("CustomerKey", ("customer",))],
        *[("customerid", ("customer",)), ("custcode", ("cust",)), ("customer_sk", ("customer",))],
        *[
            ("order_no", ("order",)),
            ("account_uuid", ("account",)),
            ("fk_store_id", ("store",)),
        ],
        *[("id", ()), ("raw_key_id", ("raw",))],
    ],
)
def test_key_suffixes_are_removed(name: str, rest: tuple[str, ...]) -> None:
    """Words that only say "key" go, even if they are glued to the last word."""
    assert strip_key_words(words(name)) == rest
    assert has_key_word(words(name))


@pytest.mark.parametrize("name", ["amount_paid", "is_valid", "turkey", "video", "zipcode", "grid"])
def test_plain_words_that_end_like_keys_are_kept(name: str) -> None:
    """A word such as ``paid`` ends in id and isn't a key."""
    assert not has_key_word(words(name))


def test_a_prefix_of_all_columns_is_removed() -> None:
    """``c_`` in front of every column of a table says nothing about any of them."""
    parted = named("customer", "c_custkey", "c_name", "c_nationkey", "c_comment").columns
    assert [name.bare for name in parted][1:] == [("name",), ("nationkey",), ("comment",)]
    assert parted[2].entity == ("nation",)


def test_a_glued_prefix_of_all_columns_is_removed() -> None:
    """A prefix is recognised without a separator, too."""
    parted = named("visit", "vstid", "vstdate", "vstroom", "vstpatient").columns
    assert [name.bare for name in parted] == [("id",), ("date",), ("room",), ("patient",)]


def test_two_columns_share_no_prefix() -> None:
    """With fewer than three names nothing proves that a first word is a prefix."""
    assert common_prefix_words(["order_id", "order_date"]) == 0
    assert glued_prefix(["ordid", "orddate"]) == ""


def test_one_name_that_differs_ends_a_glued_prefix() -> None:
    """Letters are a prefix only if every name begins with them."""
    assert glued_prefix(["vstid", "vstdate", "room"]) == ""


@pytest.mark.parametrize("table", ["dim_customer", "stg_customers", "DimCustomer", "tblCustomers"])
def test_technical_words_of_tables_are_left_out(table: str) -> None:
    """Words for a layer aren't part of a table's entity."""
    assert named(table, "id").table.entity == ("customer",)


def test_a_prefix_of_all_tables_is_removed() -> None:
    """The application's prefix in front of every table says nothing about any of them."""
    parsed = parse_names([(f"crm_{name}", ["id"]) for name in ("customers", "orders", "notes")])
    assert [names.table.entity for names in parsed] == [("customer",), ("order",), ("note",)]


def test_a_schema_in_front_is_not_part_of_the_name() -> None:
    """``sales.orders`` is about orders."""
    assert named("sales.orders", "id").table.entity == ("order",)


def test_glued_words_are_split_into_the_schemas_words() -> None:
    """``invoiceline`` is an invoice's line in a schema that has lines and invoices."""
    parsed = parse_names([("invoice", ["invoice_id"]), ("invoiceline", ["line_no"])])
    assert parsed[1].table.entity == ("invoice", "line")


def test_the_entity_of_a_column_lacks_key_and_plural() -> None:
    """``CustomersID`` names a customer and has a key suffix."""
    parted = column("CustomersID")
    assert (parted.entity, parted.has_key_word) == (("customer",), True)


@given(st.lists(WORD, min_size=1, max_size=8, unique=True))
def test_every_column_gets_a_name(names: list[str]) -> None:
    """However names repeat or share their beginnings, each column has its own, in order."""
    parted = named("thing", *names).columns
    assert [name.full for name in parted] == [words(name) for name in names]


def test_a_one_letter_prefix_in_camel_case_is_a_word() -> None:
    """In ``OCId`` next to ``OId`` and ``ODate``, O belongs to the table, and c, id remain."""
    orders = ("orders", ["OId", "OCId", "OEntryDate", "OStatus"])
    column = parse_names([orders])[0].columns[1]
    assert (column.full, column.bare) == (("o", "c", "id"), ("c", "id"))


@pytest.mark.parametrize(
    ("name", "entity"),
    [
        ("id_client", ("client",)),
        ("code_commune", ("commune",)),
        ("num_facture", ("facture",)),
        ("idCliente", ("cliente",)),
        ("codigo_postal", ("postal",)),
    ],
)
def test_a_leading_key_word_is_removed(name: str, entity: tuple[str, ...]) -> None:
    """Romance names say first that a column is a key."""
    (parsed,) = parse_names([("t", [name])])
    assert (parsed.columns[0].entity, parsed.columns[0].has_key_word) == (entity, True)


@pytest.mark.parametrize("name", ["num_pages", "number_of_beds", "no_of_rooms", "ideal"])
def test_a_count_is_not_a_key(name: str) -> None:
    """What is counted is in the plural or follows a preposition."""
    (parsed,) = parse_names([("t", [name])])
    assert not parsed.columns[0].has_key_word


def test_a_key_word_glued_to_a_known_entity_is_removed() -> None:
    """``idcliente`` names the table ``cliente``."""
    parsed = parse_names([("cliente", ["idcliente", "nome"]), ("pedido", ["idcliente"])])
    assert parsed[1].columns[0].entity == ("cliente",)
    assert parsed[1].columns[0].has_key_word


def test_accents_do_not_split_a_word() -> None:
    """``numéro_éditeur`` has two words."""
    assert words("numéro_éditeur") == ("numero", "editeur")


def test_a_table_named_twice_for_its_module_is_named_once() -> None:
    """``menu_menu`` holds the menus of the module of that name."""
    parsed = parse_names([("menu_menu", ["id"]), ("menu_item", ["id"]), ("page_page", ["id"])])
    assert parsed[0].table.entity == ("menu",)


def test_an_id_in_capitals_is_a_word_of_its_own() -> None:
    """``IDgoalie`` is the id of a goalie."""
    assert words("IDgoalie") == ("id", "goalie")


def test_words_in_capitals_share_no_letter_as_a_prefix() -> None:
    """``ID_SHOP`` next to ``ITEM`` doesn't begin with a prefix I."""
    assert column("ID_SHOP", "ITEM", "INCOME", "INDEX").entity == ("shop",)


def test_a_glued_prefix_ends_where_a_word_does() -> None:
    """``Dep`` isn't a prefix of ``DepartmentID`` and ``DeptName``."""
    assert glued_prefix(["DepartmentID", "DeptName", "DeptChair"]) == ""


@pytest.mark.parametrize("name", ["study1_id", "study_id_2", "fk_study_1", "num_study_pk_fk1"])
def test_the_number_of_a_role_is_removed(name: str) -> None:
    """Of several references to one parent, each has a number."""
    parsed = column(name)
    assert (parsed.entity, parsed.has_key_word) == (("study",), True)


def test_a_key_word_that_ends_a_tables_name_is_kept() -> None:
    """``allele_code_id`` names the table ``allele_code``."""
    parsed = parse_names([("allele_code", ["allele_code_id"]), ("allele", ["allele_id"])])
    assert parsed[0].columns[0].entity == ("allele", "code")


def test_a_schema_has_its_own_word_for_a_key() -> None:
    """Where tables begin with ``cn`` and others end in ``_cn``, that is the key."""
    parsed = parse_names(
        [
            ("plot", ["cn", "name", "survey_cn"]),
            ("tree", ["cn", "plot_cn"]),
            ("survey", ["cn", "year"]),
            ("leaf", ["tree_cn", "size"]),
        ]
    )
    assert parsed[1].columns[0].is_generic
    assert (parsed[3].columns[0].entity, parsed[3].columns[0].has_key_word) == (("tree",), True)


def test_letters_around_all_names_are_removed() -> None:
    """Modules in front of names and types behind them say nothing about one of them."""
    columns = {
        "a_ledger": ["a_ledger_number_i", "a_name_c", "a_year_i"],
        "a_account": ["a_ledger_number_i", "a_account_code_c"],
        "p_partner": ["p_partner_key_n", "p_name_c", "a_ledger_number_i"],
        "p_bank": ["p_partner_key_n", "p_branch_c"],
        "s_user": ["s_user_id_c", "p_partner_key_n"],
    }
    modules = list(columns.items())
    modules += [(f"{table}_note", [f"{table[:2]}text_c"]) for table in columns]
    parsed = parse_names(modules)
    assert parsed[0].table.entity == ("ledger",)
    assert parsed[1].columns[0].entity == ("ledger",)
    assert parsed[1].columns[0] is parsed[2].columns[2]


def test_a_plural_can_have_a_word_glued_to_it() -> None:
    """``debtorsmaster`` is the table of debtors."""
    parsed = parse_names([("debtorsmaster", ["debtorno"]), ("debtortrans", ["debtorno"])])
    assert parsed[0].table.entity == ("debtor",)


def test_a_letter_glued_to_all_columns_is_removed() -> None:
    """``c`` in front of every column of a table says nothing, if a plain word is behind it."""
    parsed = named("customer", "ccustkey", "cname", "cnationkey").columns
    assert [name.entity for name in parsed] == [("cust",), ("name",), ("nation",)]


def test_words_that_begin_alike_share_no_letter_as_a_prefix() -> None:
    """``price``, ``plan`` and ``position`` are words."""
    assert column("price", "plan", "position").entity == ("price",)

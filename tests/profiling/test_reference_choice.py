"""References are chosen over the whole schema: a parent of one column depends on others."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fluid_build.profiling.names.similarity import word_similarity
from fluid_build.profiling.profile import Profile
from tests.profiling.databases import profiled, references

STAFF = """
    CREATE TABLE staff AS SELECT 500 + 3 * i AS staff_id, 's' || i AS name FROM range(400) t(i);
"""
FACULTY = """
    CREATE TABLE faculty AS SELECT staff_id, 'f' || staff_id AS title FROM staff
        WHERE staff_id < 900;
"""


def test_a_reference_leads_to_the_table_where_the_key_is_at_home() -> None:
    """A detail of a person refers to the person, not to another detail with the same key."""
    profile = profiled(
        """
        CREATE TABLE person AS SELECT 500 + 3 * i AS person_id, 'p' || i AS name
            FROM range(400) t(i);
        CREATE TABLE person_address AS SELECT person_id, 'street ' || person_id AS street
            FROM person;
        CREATE TABLE person_attribute AS SELECT 1 + i AS person_attribute_id,
            500 + 3 * pick(i, 1, 400) AS person_id, 'v' || pick(i, 2, 50) AS note
            FROM range(2000) t(i);
        """
    )
    assert "person_attribute(person_id) -> person(person_id)" in references(profile)


def test_a_table_that_extends_a_relay_refers_to_it() -> None:
    """``faculty_subject`` refers to ``faculty``, though that refers on to ``staff``."""
    profile = profiled(
        STAFF
        + FACULTY
        + """
        CREATE TABLE faculty_subject AS SELECT 1 + i AS faculty_subject_id,
            500 + 3 * pick(i, 1, 133) AS staff_id, 'x' || pick(i, 2, 9) AS subject
            FROM range(900) t(i);
        """
    )
    assert "faculty_subject(staff_id) -> faculty(staff_id)" in references(profile)


def test_of_two_keys_the_smaller_refers_to_the_larger() -> None:
    """A key that has all of another's values and more doesn't refer to it."""
    profile = profiled(STAFF + FACULTY)
    assert references(profile) == {"faculty(staff_id) -> staff(staff_id)"}


def test_columns_of_one_name_mean_the_same() -> None:
    """A column whose few values prove nothing refers to what its namesakes refer to."""
    tables = "".join(
        f"CREATE TABLE {table} AS SELECT 7000 + 11 * i AS {table}_id, 1 + pick(i, {salt}, {users})"
        f" AS changed_by FROM range({rows}) t(i);"
        for table, salt, users, rows in (
            ("visit", 1, 60, 900),
            ("drug", 2, 60, 700),
            ("ward", 3, 1, 4),
        )
    )
    profile = profiled(
        "CREATE TABLE users AS SELECT 1 + i AS user_id, 'u' || i AS name FROM range(60) t(i);"
        + tables
    )
    assert "ward(changed_by) -> users(user_id)" in references(profile)


def _with_namesakes(staff: int, clients: int) -> Profile:
    """Profile tables whose ``changed_by`` refers to staff or clients, and two that say nothing."""
    namesakes = "".join(
        f"CREATE TABLE {kind}_log_{n} AS SELECT 9000 + 7 * i AS {kind}_log_{n}_id,"
        f" {start} + pick(i, {start + n}, 60) AS changed_by FROM range(700) t(i);"
        for kind, start, count in (("staff", 1, staff), ("client", 5001, clients))
        for n in range(count)
    )
    return profiled(
        "CREATE TABLE staff AS SELECT 1 + i AS staff_id, 's' || i AS name FROM range(60) t(i);"
        "CREATE TABLE clients AS SELECT 5001 + i AS client_id, 'c' || i AS name"
        " FROM range(60) t(i);"
        "CREATE TABLE ward AS SELECT 70 + 9 * i AS ward_id, 1 + i AS changed_by FROM range(4) t(i);"
        "CREATE TABLE hall AS SELECT 30 + 8 * i AS hall_id, 5001 + i AS changed_by"
        " FROM range(4) t(i);" + namesakes
    )


def test_most_columns_of_a_name_decide_and_half_of_them_do_not() -> None:
    of_ward = "ward(changed_by) -> staff(staff_id)"
    of_hall = "hall(changed_by) -> clients(client_id)"
    assert references(_with_namesakes(3, 2)) & {of_ward, of_hall} == {of_ward}
    assert references(_with_namesakes(2, 3)) & {of_ward, of_hall} == {of_hall}
    assert not references(_with_namesakes(2, 2)) & {of_ward, of_hall}


def test_without_names_a_column_that_takes_all_values_of_a_key_refers_to_it() -> None:
    """That unrelated numbers end just where a key does hardly ever happens."""
    profile = profiled(
        """
        CREATE TABLE t0 AS SELECT 1 + i AS f0, 'a' || i AS f1 FROM range(700) t(i);
        CREATE TABLE t1 AS SELECT 9000 + 7 * i AS f0, 1 + i % 700 AS f1 FROM range(2900) t(i);
        """
    )
    assert references(profile) == {"t1(f1) -> t0(f0)"}


def test_without_names_two_equal_keys_leave_it_open() -> None:
    """If two keys take the same values, values can't say which is meant."""
    profile = profiled(
        """
        CREATE TABLE t0 AS SELECT 1 + i AS f0, 'a' || i AS f1 FROM range(700) t(i);
        CREATE TABLE t1 AS SELECT 9000 + 7 * i AS f0, 1 + i % 700 AS f1 FROM range(2900) t(i);
        CREATE TABLE t2 AS SELECT 1 + i AS f0, 'b' || i AS f1, i * 0.5 AS f2 FROM range(700) t(i);
        """
    )
    assert "t1" not in _children(profile)


def test_codes_are_compared_as_their_key_stores_them() -> None:
    """Codes of digits only are text if the key that their name means is text."""
    profile = profiled(
        """
        CREATE TABLE region AS SELECT printf('%02d', 1 + i) AS code, 'r' || i AS name
            FROM range(80) t(i) UNION ALL SELECT '2A', 'corse' UNION ALL SELECT '2B', 'corse 2';
        CREATE TABLE commune AS SELECT 'C' || (1000 + i) AS code,
            printf('%02d', 10 + pick(i, 1, 40)) AS region FROM range(900) t(i);
        """
    )
    assert references(profile) == {"commune(region) -> region(code)"}


def test_texts_refer_to_what_their_table_extends() -> None:
    """Any table may have a ``code``, but ``status_texts`` says whose it is."""
    profile = profiled(
        """
        CREATE TABLE status AS SELECT chr(CAST(65 + i AS INTEGER)) AS code, 10 + i AS rank
            FROM range(9) t(i);
        CREATE TABLE status_texts AS SELECT chr(CAST(65 + i // 3 AS INTEGER)) AS code,
            ['en', 'de', 'fr'][1 + i % 3] AS locale, 'text ' || i AS label FROM range(27) t(i);
        """
    )
    assert references(profile) == {"status_texts(code) -> status(code)"}


def _children(profile: Profile) -> set[str]:
    return {key.from_table for key in profile.foreign_keys}


def test_a_column_called_like_a_table_refers_to_its_key() -> None:
    """``physician`` means the table of that name, whatever its key is called."""
    profile = profiled(
        """
        CREATE TABLE physician AS SELECT 1 + i AS employee_id, 'p' || i AS name FROM range(9) t(i);
        CREATE TABLE visit AS SELECT 700 + 3 * i AS visit_id, 1 + pick(i, 1, 9) AS physician
            FROM range(60) t(i);
        """
    )
    assert references(profile) == {"visit(physician) -> physician(employee_id)"}


def test_nothing_refers_to_a_phone_number() -> None:
    """Two tables of people may share numbers without one meaning the other."""
    profile = profiled(
        """
        CREATE TABLE dairy AS SELECT 1 + i AS dairy_id, '0532-' || (1000 + i) AS phone
            FROM range(80) t(i);
        CREATE TABLE client AS SELECT 900 + 7 * i AS client_id, '0532-' || (1000 + pick(i, 1, 80))
            AS phone FROM range(60) t(i);
        """
    )
    assert references(profile) == set()


CLIENTS = """
    CREATE TABLE client AS SELECT 100 + 3 * i AS id, 'c' || i AS name FROM range(300) t(i);
    CREATE TABLE client_address AS SELECT 1 + i AS id, 100 + 3 * i AS client_id,
        'street ' || i AS street FROM range(290) t(i);
"""


@settings(max_examples=6, deadline=None)
@given(order=st.permutations(range(4)), details=st.integers(1, 3))
def test_a_table_that_only_has_the_same_column_is_never_the_home(
    order: list[int], details: int
) -> None:
    """``client_id`` is unique among the addresses while each client has one.

    Neither the order of the tables nor how many of them refer makes a difference.
    """
    tables = CLIENTS.strip().split(";")[:2] + [
        f"CREATE TABLE visit_{n} AS SELECT 9000 + 7 * i AS visit_id,"
        f" 100 + 3 * pick(i, {n}, 250) AS client_id FROM range(700) t(i)"
        for n in range(details)
    ]
    profile = profiled(";".join(sorted(tables, key=lambda t: order[tables.index(t) % 4])))
    assert {f"visit_{n}(client_id) -> client(id)" for n in range(details)} <= references(profile)


def test_a_copy_of_the_key_is_no_hierarchy() -> None:
    """Rows that have their own key in another column don't mean other rows by it."""
    profile = profiled(
        """
        CREATE TABLE part AS SELECT 1 + i AS part_id, 1 + i AS old_part_id,
            if(i = 0, NULL, 1 + pick(i, 1, 300)) AS parent_part_id FROM range(300) t(i);
        """
    )
    assert references(profile) == {"part(parent_part_id) -> part(part_id)"}


def test_who_acts_is_a_person_and_no_member_of_a_group() -> None:
    profile = profiled(
        """
        CREATE TABLE users AS SELECT 1 + i AS id, 'u' || i AS login FROM range(90) t(i);
        CREATE TABLE group_members AS SELECT 1 + i AS id, 1 + pick(i, 1, 9) AS group_id,
            1 + pick(i, 2, 90) AS user_id FROM range(90) t(i);
        CREATE TABLE page AS SELECT 5000 + 3 * i AS id, 1 + pick(i, 3, 90) AS author_id
            FROM range(800) t(i);
        """
    )
    assert "page(author_id) -> users(id)" in references(profile)


def test_who_acts_says_nothing_of_an_owner_that_is_no_person() -> None:
    """What libraries own isn't created by libraries."""
    profile = profiled(
        """
        CREATE TABLE library AS SELECT 1 + i AS id, 'l' || i AS name FROM range(40) t(i);
        """
        + "".join(
            f"CREATE TABLE {name} AS SELECT 800 + 3 * i AS id, 1 + i % 40 AS owner,"
            f" 1 + pick(i, {salt}, 3) AS creator FROM range(400) t(i);"
            for salt, name in enumerate(("book", "shelf", "map"))
        )
    )
    assert not any("creator" in reference for reference in references(profile))


def test_a_name_that_says_foreign_key_refers_by_its_values() -> None:
    """``fk_origin`` says that there is a reference, and the values say to what."""
    profile = profiled(
        """
        CREATE TABLE station AS SELECT 'st' || (1000 + 7 * i) AS obj_id, 's' || i AS label
            FROM range(60) t(i);
        CREATE TABLE pipe AS SELECT 'pi' || (1000 + 9 * i) AS obj_id,
            'st' || (1000 + 7 * i) AS fk_origin FROM range(50) t(i);
        """
    )
    assert references(profile) == {"pipe(fk_origin) -> station(obj_id)"}


def test_text_keys_of_a_subtype_refer_to_the_supertype() -> None:
    """No name says that a weir is an overflow, but all of its long codes are overflows'."""
    profile = profiled(
        """
        CREATE TABLE overflow AS SELECT 'ch13p7mz' || (100000 + 71 * i) AS obj_id, i * 0.5 AS flow
            FROM range(120) t(i);
        CREATE TABLE weir AS SELECT 'ch13p7mz' || (100000 + 142 * i) AS obj_id, i * 0.25 AS width
            FROM range(50) t(i);
        """
    )
    assert references(profile) == {"weir(obj_id) -> overflow(obj_id)"}


@pytest.mark.parametrize("column", ["ver_nbr", "updated_by", "sort_id", "sequence"])
def test_what_is_only_said_of_a_row_is_no_key_of_its_table(column: str) -> None:
    """Versions, places in a list and who wrote a row are in every table, and lead nowhere."""
    profile = profiled(
        f"""
        CREATE TABLE region AS SELECT 1 + i AS region_id, 1 + i AS {column} FROM range(9) t(i);
        CREATE TABLE colour AS SELECT 70 + 3 * i AS colour_id, 1 + pick(i, 1, 9) AS {column}
            FROM range(40) t(i);
        """
    )
    assert not any(f"({column})" in reference for reference in references(profile))


def test_the_parent_with_more_words_of_the_name_is_meant() -> None:
    """``id_magic_card_player`` means a magic card, not any card."""
    profile = profiled(
        """
        CREATE TABLE card AS SELECT 1 + i AS id_card, 'c' || i AS name FROM range(400) t(i);
        CREATE TABLE magic_card AS SELECT 1 + i AS id_magic_card, 1 + i AS power
            FROM range(400) t(i);
        CREATE TABLE turn AS SELECT 9000 + 7 * i AS id_turn,
            1 + pick(i, 1, 400) AS id_magic_card_player FROM range(900) t(i);
        """
    )
    assert "turn(id_magic_card_player) -> magic_card(id_magic_card)" in references(profile)


def test_of_namesakes_the_parent_whose_table_begins_alike_is_meant() -> None:
    """A member of an event group is in no location group."""
    profile = profiled(
        """
        CREATE TABLE event_group AS SELECT 1 + i AS id, 'e' || i AS name FROM range(30) t(i);
        CREATE TABLE location_group AS SELECT 1 + i AS id, 'l' || i AS name FROM range(30) t(i);
        CREATE TABLE event_group_member AS SELECT 9000 + 7 * i AS id, 1 + i % 30 AS grp
            FROM range(400) t(i);
        CREATE TABLE location_group_member AS SELECT 9000 + 7 * i AS id, 1 + i % 30 AS grp
            FROM range(400) t(i);
        """
    )
    assert references(profile) == {
        "event_group_member(grp) -> event_group(id)",
        "location_group_member(grp) -> location_group(id)",
    }


def test_the_very_name_of_a_key_means_that_key_and_not_its_root() -> None:
    """A selected summary field is a summary field, though each of those is a field."""
    profile = profiled(
        """
        CREATE TABLE field AS SELECT 1 + i AS field_id, 'f' || i AS name FROM range(90) t(i);
        CREATE TABLE summary_field AS SELECT 1 + i AS summary_field_id, 's' || i AS label
            FROM range(60) t(i);
        CREATE TABLE selected_field AS SELECT 9000 + 7 * i AS id,
            1 + pick(i, 1, 60) AS summary_field_id FROM range(900) t(i);
        """
    )
    expected = "selected_field(summary_field_id) -> summary_field(summary_field_id)"
    assert expected in references(profile)


@pytest.mark.parametrize("tables", [("owner", "owner_email"), ("guide", "guide_badge")])
def test_a_column_called_like_another_table_refers_to_it_even_as_the_key(
    tables: tuple[str, str],
) -> None:
    """While each owner has one e-mail address, ``owner`` is unique there, and yet an owner."""
    parent, child = tables
    profile = profiled(
        f"""
        CREATE TABLE {parent} AS SELECT 1 + i AS id, 'n' || i AS name FROM range(12) t(i);
        CREATE TABLE {child} AS SELECT 1 + i AS {parent}, 'x' || i AS note FROM range(12) t(i);
        """
    )
    assert f"{child}({parent}) -> {parent}(id)" in references(profile)


@pytest.mark.parametrize("table", ["call_number", "price_code", "track_no"])
def test_a_column_with_a_tables_whole_name_refers_to_it(table: str) -> None:
    """The last word is one for keys, and here a part of the name."""
    profile = profiled(
        f"""
        CREATE TABLE {table} AS SELECT 1 + i AS id, 'label ' || i AS label FROM range(300) t(i);
        CREATE TABLE volume AS SELECT 9000 + 7 * i AS id, 1 + pick(i, 1, 290) AS {table}
            FROM range(900) t(i);
        """
    )
    assert f"volume({table}) -> {table}(id)" in references(profile)


def test_the_plain_name_is_meant_although_a_relation_table_holds_the_same_numbers() -> None:
    """``test_id`` is a test, even where a table of 58 rows is numbered just as it is."""
    profile = profiled(
        """
        CREATE TABLE test AS SELECT 1 + i AS id, 't' || i AS name FROM range(98) t(i);
        CREATE TABLE sample_test AS SELECT 1 + i AS id, 1 + i AS test_id FROM range(58) t(i);
        CREATE TABLE test_code AS SELECT 9000 + 7 * i AS id, 1 + i % 58 AS test_id
            FROM range(116) t(i);
        """
    )
    assert "test_code(test_id) -> test(id)" in references(profile)


@given(rows=st.integers(3, 12), more=st.integers(0, 6))
@settings(max_examples=8, deadline=None)
def test_lists_that_count_from_one_are_not_subtypes_of_each_other(rows: int, more: int) -> None:
    """Kinds of places of two modules have keys of one name and small numbers, and nothing else."""
    profile = profiled(
        f"""
        CREATE TABLE place_type AS SELECT 1 + i AS place_type_code, 'a' || i AS label
            FROM range({rows + more}) t(i);
        CREATE TABLE lab_place_type AS SELECT 1 + i AS place_type_code, 'b' || i AS label
            FROM range({rows}) t(i);
        """
    )
    assert not references(profile)


@pytest.mark.parametrize(
    ("left", "right", "is_one"),
    [
        ("pilet", "piletid", True),
        ("kategooria", "kategooriad", True),
        ("place", "placed", False),
        ("order", "ordered", False),
    ],
)
def test_only_english_participles_are_other_words(left: str, right: str, is_one: bool) -> None:
    assert bool(word_similarity(left, right)) is is_one


@pytest.mark.parametrize("column", ["org_id", "parent_org", "org"])
def test_numbers_refer_to_a_key_that_is_text(column: str) -> None:
    """A reader of files takes digits for numbers, though a few of the keys have letters."""
    profile = profiled(
        f"""
        CREATE TABLE org AS SELECT 'Org ' || i AS name,
            CASE WHEN i < 60 THEN '' || (100 + i) ELSE 'A' || i END AS org_id FROM range(70) t(i);
        CREATE TABLE invoice AS SELECT 5000 + 3 * i AS invoice_id, 100 + pick(i, 1, 60) AS {column}
            FROM range(600) t(i);
        """
    )
    assert f"invoice({column}) -> org(org_id)" in references(profile)


def test_numbers_that_no_text_key_holds_stay_numbers() -> None:
    profile = profiled(
        """
        CREATE TABLE users AS SELECT 100 + i AS uid, 'user' || i AS user_name FROM range(70) t(i);
        CREATE TABLE session AS SELECT 5000 + 3 * i AS session_id, 100 + pick(i, 1, 70) AS user_id
            FROM range(600) t(i);
        """
    )
    assert "session(user_id) -> users(uid)" in references(profile)

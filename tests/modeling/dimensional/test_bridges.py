"""Bridges relate members many to many, and events to members."""

from tests.modeling.sources import bridge, source, star

FILMS = """
    film  *id, title text
    actor *id, actor_name text
    plays *film_id > film, *actor_id > actor, billing/9 1-9
"""


def test_a_bridge_has_two_dimensions_as_its_ends() -> None:
    result = bridge(star(source(FILMS)), "brg_plays")
    assert (result.left, result.right) == ("dim_film", "dim_actor")
    assert (result.left_columns, result.right_columns) == (("film_id",), ("actor_id",))
    assert [reference.key for reference in result.references] == ["film_key", "actor_key"]


def test_a_bridge_says_what_its_rows_are_and_why_it_is_one() -> None:
    result = bridge(star(source(FILMS)), "brg_plays")
    assert result.grain == "One row for each pair of film and actor."
    assert result.grain_columns == ("film_id", "actor_id")
    assert result.reason == "It only links rows of two entities, many to many."
    assert {attribute.name: attribute.reason for attribute in result.attributes} == {
        "film_id": "The original foreign key, kept so that orphaned values aren't lost.",
        "actor_id": "The original foreign key, kept so that orphaned values aren't lost.",
        "billing": "It describes the pair, such as a rank or a share.",
    }


def test_an_event_is_the_left_end_and_is_found_by_its_number() -> None:
    model = star(
        source("""
            customer *id, name text
            reason   *id, reason_name text
            sale     *id, sold date, amount decimal, customer_id > customer
            because  *reason_id > reason, *sale_id > sale
        """)
    )
    result = bridge(model, "brg_because")
    assert (result.left, result.right) == ("fct_sale", "dim_reason")
    assert [reference.dimension for reference in result.references] == ["dim_reason"]
    assert {attribute.name: attribute.reason for attribute in result.attributes}["sale_id"] == (
        "The key of the event."
    )


def test_a_bridge_refers_to_members_and_not_to_their_versions() -> None:
    """Who belongs to whom isn't dated, so it holds for all versions of a member."""
    model = star(
        source("""
            customer *id, city text/5, street text, segment text/4
            club     *id, club_name text
            member   *customer_id > customer, *club_id > club
            sale     *id, sold date, amount decimal, customer_id > customer
        """)
    )
    assert model.dimension("dim_customer").history
    result = bridge(model, "brg_member")
    assert [reference.key for reference in result.references] == [
        "customer_durable_key",
        "club_key",
    ]


def test_a_bridge_between_members_of_one_dimension_has_roles() -> None:
    result = bridge(
        star(source("person *id, name text\nknows *one_id > person, *other_id > person")),
        "brg_knows",
    )
    assert [reference.key for reference in result.references] == [
        "one_person_key",
        "other_person_key",
    ]


def test_a_share_for_each_pair_is_the_weighting_factor_of_a_bridge() -> None:
    countries = """
        continent  *id, name text
        country    *id, name text
        lies_on    *continent_id > continent, *country_id > country, percentage 1-100
        population *id, country_id > country, counted date, amount decimal
    """
    result = bridge(star(source(countries)), "brg_lies_on")
    (share,) = (a for a in result.attributes if a.attribute == "percentage")
    assert share.reason.startswith("The weighting factor")


def test_a_discount_for_each_pair_is_no_weighting_factor() -> None:
    agreed = """
        customer *id, name text
        product  *id, name text
        agreed   *customer_id > customer, *product_id > product, discount_percent decimal 1-40
        sale     *id, customer_id > customer, sold date, amount decimal
    """
    assert not star(source(agreed)).bridges


def test_rows_of_one_entity_are_related_in_kinds_and_for_a_time() -> None:
    """Each kind of relation is in the key; from when until when it's valid is no event."""
    model = star(
        source(
            """
            term     *id, term_name text
            relates  *from_id > term, *to_id > term, *kind text/9, valid_from date, valid_to date
            usage    *id, used date, hits decimal, term_id > term
        """
        )
    )
    result = bridge(model, "brg_relates")
    assert result.grain == "One row for each pair of term and term, and each kind."
    assert result.grain_columns == ("from_id", "to_id", "kind")
    assert not any(fact.entity_name == "relates" for fact in model.facts)


def test_what_happens_between_rows_of_one_entity_on_a_day_is_an_event() -> None:
    """A flight from one airport to another has a day, which is no validity."""
    model = star(
        source(
            """
            airport *id, airport_name text
            flight  *from_id > airport, *to_id > airport, *carrier text/9, *flown date
        """
        )
    )
    assert [fact.entity_name for fact in model.facts] == ["flight"]

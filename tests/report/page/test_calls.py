"""The judgement calls in the page: every question with its ways to answer, and few unfolded."""

import re
import shlex
from collections.abc import Collection
from dataclasses import replace
from html import unescape

from fluid_build.decisions.files import parse_decisions
from fluid_build.decisions.language import AnyDecision, DecisionEvidence, Ignore, Owner, SetKey
from fluid_build.profiling.profile import Profile
from fluid_build.report.judgements.judgement import Choice, Judgement
from fluid_build.report.page.calls import Calls, calls
from fluid_build.report.page.content import PageContent
from fluid_build.report.page.page import report_page
from fluid_build.report.page.run_facts import ProposalFacts, RunFacts
from fluid_build.report.view import source_view
from tests.modeling.profiles import candidate, column, profile, reference, table
from tests.report.page.questions import content_of, keyed_tables


def calls_of(source: Profile, decided: Collection[AnyDecision] = ()) -> Calls:
    return calls(content_of(source, decided))


def test_each_choice_has_the_command_and_the_entry_that_make_its_decision() -> None:
    question = calls_of(keyed_tables("orders")).questions[0]
    assert [answer.is_ours for answer in question.answers] == [True, False]
    for answer, columns in zip(question.answers, (("id",), ("code",)), strict=True):
        words = shlex.split(answer.command)
        assert words == ["fluid", "decide", "shop model", "set-key", "orders", *columns]
        assert parse_decisions(f"decisions:\n{answer.entry}\n") == (
            SetKey(table="orders", columns=columns),
        )


def test_questions_in_words_have_a_command_to_complete() -> None:
    domain, owner = calls_of(keyed_tables()).questions
    assert domain.answers[0].command == "fluid decide 'shop model' domain DOMAIN"
    assert owner.answers[0].command == "fluid decide 'shop model' owner TEAM"
    assert parse_decisions(f"decisions:\n{owner.answers[0].entry}\n") == (Owner(team="TEAM"),)


def test_topics_are_counted_and_few_questions_are_unfolded() -> None:
    """A source of hundreds of tables has a thousand questions: all are there, folded."""
    data = calls_of(keyed_tables(*(f"t{n}" for n in range(40))))
    assert dict(data.topics) == {"key": 40, "ownership": 2}
    assert sum(question.is_unfolded for question in data.questions) == 3


def test_a_profile_alone_asks_without_commands() -> None:
    source = profile(
        table("stores", column("no"), primary_key=("no",), candidate_keys=[("no",)]),
        table("orders", column("store")),
        candidates=[candidate("orders", "store", "stores", "no")],
    )
    page = PageContent(source_view(source))
    (question,) = calls(page).questions
    assert question.call.question == "Does orders.store refer to stores.no?"
    assert {answer.command for answer in question.answers} == {""}
    assert "fluid decide" not in report_page(page)


def test_an_option_is_shown_where_no_decision_says_it() -> None:
    call = Judgement(
        "c",
        "text",
        "How?",
        0.5,
        "",
        (Choice("as text"), Choice("dates", option="--date-order dmy")),
    )
    text = report_page(content_of(keyed_tables("orders"), judgements=(call,)))
    assert "<code>--date-order dmy</code>" in text
    assert "Copy option" in text


def test_decisions_that_are_recorded_are_listed_with_their_figures() -> None:
    evidence = DecisionEvidence(rows=100, violations=2, sql="SELECT 1")
    insisted = SetKey(
        table="orders",
        columns=("code",),
        reason="As the team says.",
        despite_violations=True,
        evidence=evidence,
    )
    (decided,) = calls_of(keyed_tables("orders"), [insisted]).decided
    assert (decided.line, decided.by, decided.reason) == (
        "set_key orders (code)",
        "person",
        "As the team says.",
    )
    assert decided.figures == (("rows", 100), ("violations", 2))


def test_many_decisions_are_counted_and_the_first_are_listed() -> None:
    data = calls_of(keyed_tables(), [Ignore(table=f"t{n}") for n in range(700)])
    assert (data.decided_count, len(data.decided)) == (700, 500)


def test_names_of_strangers_are_text_and_quoted_for_the_shell() -> None:
    hostile = "<script>$(id)</script>"
    page = report_page(content_of(keyed_tables(hostile)))
    assert hostile not in page
    commands = re.findall(r"<code>(fluid decide [^<]*)</code>", page)
    assert shlex.split(unescape(commands[0]))[4] == hostile


def test_every_question_of_a_real_model_can_be_linked_to() -> None:
    source = profile(
        table("customers", column("id"), primary_key=("id",), candidate_keys=[("id",)]),
        table("orders", column("customer_id"), primary_key=()),
        foreign_keys=[
            reference("orders", "customer_id", "customers", "id").model_copy(
                update={"confidence": 0.8}
            )
        ],
    )
    content = content_of(source)
    assert content.built is not None
    page = report_page(content)
    for judgement in content.built.judgements:
        assert page.count(f'id="call-{judgement.id}"') == 1


def test_answers_far_down_a_long_list_are_packed_until_they_are_asked_for() -> None:
    source = keyed_tables(*(f"t{n}" for n in range(80)))
    page = report_page(content_of(source))
    assert page.count('data-facet="key"') == 80
    assert page.count("Copy command") < 3 * 50 * 2
    assert page.count("<code>fluid decide") == 50 * 2
    assert page.count('data-pack="pack-calls-') == 80 + 2 - 50


def test_a_decision_says_what_became_of_it_or_that_it_was_made_since() -> None:
    decided = (Ignore(table="a"), Ignore(table="b"), Ignore(table="c", by="model"))
    verdict = ProposalFacts("ignore a", "person", "refused", "There's no such table.")
    content = replace(
        content_of(keyed_tables("orders"), decided), run=RunFacts("1", decisions=(verdict,))
    )
    assert [each.status for each in calls(content).decided] == ["refused", "not forged yet", ""]
    for run in (None, RunFacts("")):
        assert {each.status for each in calls(replace(content, run=run)).decided} == {""}

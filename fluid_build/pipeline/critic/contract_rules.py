"""Rules for a FLUID contract: what somebody must know before the product is published."""

from collections.abc import Iterator, Sequence

from fluid_build.contract.write.from_model import UNASSIGNED
from fluid_build.copilot.scratchpad import CriticFinding
from fluid_build.pipeline.critic.findings import ContractRule, examples, finding, share_of
from fluid_build.pipeline.critic.reading import flag, part, parts, text, texts
from fluid_build.text import counted

_PROTECTED = frozenset(
    """
    anonymized confidential encrypted phi pii pseudonymized restricted tokenized treated
    """.split()
)
"""Sensitivities that say how personal data has to be treated, or was."""


def check_exposes(contract: object) -> Iterator[CriticFinding]:
    """Find a contract that offers nothing."""
    if not parts(contract, "exposes"):
        yield finding(
            "contract", "error", "exposes is empty", "exposes", "expose at least one table"
        )


def check_domain(contract: object) -> Iterator[CriticFinding]:
    """Find a contract without a domain, or with one that nobody assigned.

    FLUID 0.7.2 has the domain at the top and in the business context, and forbids
    ``metadata.domain``; an agent may still write it there.
    """
    places = (("domain",), ("metadata", "businessContext", "domain"), ("metadata", "domain"))
    domains = [domain for path in places if (domain := text(contract, *path))]
    suggestion = "decide which business domain the product belongs to"
    if not domains:
        yield finding("contract", "error", "metadata.domain missing", "metadata.domain", suggestion)
    elif all(domain == UNASSIGNED for domain in domains):
        message = "metadata.domain is unassigned"
        yield finding("contract", "warning", message, "metadata.domain", suggestion)


def check_owner(contract: object) -> Iterator[CriticFinding]:
    """Find a contract that nobody answers for."""
    owner = part(contract, "metadata", "owner")
    names = [name for key in ("team", "email") if (name := text(owner, key))]
    suggestion = "decide which team answers for the product"
    if not names:
        message = "metadata.owner missing"
        yield finding("contract", "warning", message, "metadata.owner", suggestion)
    elif all(name == UNASSIGNED for name in names):
        message = "metadata.owner is unassigned"
        yield finding("contract", "warning", message, "metadata.owner.team", suggestion)


def check_unclassified_columns(contract: object) -> Iterator[CriticFinding]:
    """Find columns that are tagged as personal and have no sensitivity that says so."""
    names = [
        f"{expose_id}.{text(column, 'name')}"
        for expose_id, column in _columns(contract)
        if "pii" in texts(column, "tags") and text(column, "sensitivity") not in _PROTECTED
    ]
    if names:
        yield finding(
            "contract",
            "warning",
            f"{counted(len(names), 'column')} with personal data without a sensitivity:"
            f" {examples(names)}",
            f"exposes.{names[0]}.sensitivity",
            "set sensitivity to pii",
        )


def check_masking(contract: object) -> Iterator[CriticFinding]:
    """Find personal columns that the contract neither masks nor restricts."""
    names = [
        f"{text(expose, 'exposeId')}.{text(column, 'name')}"
        for expose in parts(contract, "exposes")
        for column in parts(expose, "contract", "schema")
        if text(column, "sensitivity") in ("pii", "phi")
        and text(column, "name") not in _covered_columns(expose)
    ]
    if names:
        yield finding(
            "contract",
            "info",
            f"{counted(len(names), 'column')} with personal data without a masking rule or an"
            f" access restriction: {examples(names)}",
            f"exposes.{names[0]}",
            "add policy.privacy.masking or policy.authz.columnRestrictions",
        )


def check_descriptions(contract: object) -> Iterator[CriticFinding]:
    """Find tables that nobody described."""
    exposes = parts(contract, "exposes")
    names = [text(item, "exposeId") for item in exposes if not text(item, "description")]
    if names:
        yield finding(
            "contract",
            "info",
            f"{share_of(names, len(exposes), 'table')} without a description: {examples(names)}",
            f"exposes.{names[0]}.description",
            "describe what a row is",
        )


def check_key_rules(contract: object) -> Iterator[CriticFinding]:
    """Find primary keys that no quality rule checks."""
    names = [
        text(expose, "exposeId")
        for expose in parts(contract, "exposes")
        if _key_columns(expose) and not _has_uniqueness_rule(expose)
    ]
    if names:
        yield finding(
            "contract",
            "warning",
            f"{counted(len(names), 'table')} with a primary key that no uniqueness rule checks:"
            f" {examples(names)}",
            f"exposes.{names[0]}.contract.dq.rules",
            "add a rule of type uniqueness on the key",
        )


CONTRACT_RULES: tuple[ContractRule, ...] = (
    check_exposes,
    check_domain,
    check_owner,
    check_unclassified_columns,
    check_masking,
    check_descriptions,
    check_key_rules,
)


def _columns(contract: object) -> Iterator[tuple[str, object]]:
    for expose in parts(contract, "exposes"):
        for column in parts(expose, "contract", "schema"):
            yield text(expose, "exposeId"), column


def _covered_columns(expose: object) -> set[str]:
    masked = {text(rule, "column") for rule in parts(expose, "policy", "privacy", "masking")}
    restrictions = parts(expose, "policy", "authz", "columnRestrictions")
    return masked | {name for rule in restrictions for name in texts(rule, "columns")}


def _key_columns(expose: object) -> Sequence[str]:
    return [
        text(column, "name")
        for column in parts(expose, "contract", "schema")
        if "primary-key" in texts(column, "tags") or flag(column, "primaryKey")
    ]


def _has_uniqueness_rule(expose: object) -> bool:
    rules = parts(expose, "contract", "dq", "rules")
    return any(text(rule, "type") == "uniqueness" for rule in rules)

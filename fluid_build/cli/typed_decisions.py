"""Decisions from what was typed on a command line or a terminal."""

from collections.abc import Mapping

from pydantic import ValidationError

from fluid_build.decisions.language import DECISION, AnyDecision
from fluid_build.errors import UsageError


def typed_decision(fields: Mapping[str, object], *, complaint: str, hint: str) -> AnyDecision:
    """Return a decision; raise UsageError with ``complaint`` and its first field that isn't valid.

    The decision's name is the field ``decision``.
    """
    try:
        return DECISION.validate_python(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = [str(part) for part in first["loc"][1:] if isinstance(part, str)]
        # The only field besides the decision's name is clear from the complaint.
        is_clear = not place or len(fields) == 2
        field = "" if is_clear else f"{place[0].replace('_', ' ')}: "
        reason = first["msg"].removeprefix("Value error, ")
        raise UsageError(
            f"{complaint}: {field}{reason[:1].lower()}{reason[1:]}.", hint=hint
        ) from None

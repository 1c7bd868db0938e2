"""What is wrong with a field that somebody wrote, in plain sentences."""

from collections.abc import Sequence

from pydantic_core import ErrorDetails

from fluid_build.text import did_you_mean, listed


def explain_fault(
    path: Sequence[int | str], detail: ErrorDetails, known: Sequence[str], label: str
) -> tuple[str, str]:
    """Return what is wrong with a field as a sentence, and what is allowed as a sentence or "".

    ``known`` are the fields that may be there, and ``label`` says what they are fields of.
    """
    field = ".".join(str(part) for part in path if isinstance(part, str))
    context = detail.get("ctx") or {}
    match detail["type"]:
        case "missing":
            return f"`{field}` is missing.", ""
        case "extra_forbidden":
            name = field.rpartition(".")[2]
            return (
                f"unknown field {name!r}.",
                f"{did_you_mean(name, known)}{label}: {listed(known)}.",
            )
        case "model_type" | "model_attributes_type" | "dict_type":
            subject = f"an entry of `{field}`" if isinstance(path[-1], int) else f"`{field}`"
            return f"{subject} isn't a mapping.", f"{label}: {listed(known)}."
        case "literal_error" | "enum":
            return f"`{field}` isn't valid.", f"Allowed: {context.get('expected', '')}."
        case "value_error":
            reason = str(context.get("error", detail["msg"]))
            return f"{f'`{field}`: ' if field else ''}{reason}.", ""
        case "string_pattern_mismatch":
            return f"`{field}` isn't a plain name.", (
                "Use letters, digits and underscores; the first can't be a digit."
            )
        case "string_type":
            return f"`{field}` must be text.", ""
        case "tuple_type":
            return f"`{field}` must be a list.", "Write it as `[first, second]`."
        case "bool_type" | "bool_parsing":
            return f"`{field}` must be true or false.", ""
        case "int_type":
            return f"`{field}` must be a whole number.", ""
        case "too_short" | "string_too_short":
            return f"`{field}` is empty.", ""
        case "too_long" | "string_too_long":
            return f"`{field}` is longer than {context.get('max_length', 0):,}.", ""
        case _:
            return f"`{field}`: {detail['msg'][:1].lower()}{detail['msg'][1:]}.", ""

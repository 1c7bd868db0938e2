"""What a user says of numbers and dates that fit two conventions."""

from typing import cast, get_args

from fluid_build.errors import UsageError
from fluid_build.sources.conventions import Conventions, DateOrder, DecimalMark


def conventions(decimal: str | None, date_order: str | None) -> Conventions:
    """The answers of --decimal and --date-order; UsageError for one that there isn't."""
    if decimal not in (None, *get_args(DecimalMark)):
        raise UsageError(
            f"{decimal!r} isn't a decimal mark.", hint='Use --decimal "." or --decimal ","'
        )
    if date_order not in (None, *get_args(DateOrder)):
        raise UsageError(
            f"{date_order!r} isn't an order of day and month.",
            hint="Use --date-order dmy or --date-order mdy.",
        )
    return Conventions(cast("DecimalMark | None", decimal), cast("DateOrder | None", date_order))

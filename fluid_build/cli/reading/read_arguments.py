"""The options of reading that commands offer."""

from typing import Annotated, TypeAlias

from fluid_build.cli.option_groups import Offered
from fluid_build.errors import UsageError
from fluid_build.sources.addresses.kinds import DDL
from fluid_build.sources.options import ReadOptions, options_taken
from fluid_build.stated_options import stated_options


def _check(read: ReadOptions) -> None:
    if read.sample is not None and read.full:
        raise UsageError("--sample and --full contradict each other.", hint="Keep one of them.")
    if read.sample is not None and read.sample < 1:
        raise UsageError("A sample has at least one row.", hint="Use --sample 100000.")


_OF_DATA = tuple(
    option.keyword for option in stated_options(ReadOptions) if option.keyword != "dialect"
)
_OF_DDL = tuple(option.keyword for option in options_taken(DDL))

DataReading: TypeAlias = Annotated[ReadOptions, Offered(_OF_DATA, _check)]
"""How data is read."""
DdlReading: TypeAlias = Annotated[ReadOptions, Offered(_OF_DDL)]
"""How DDL is read."""
Reading: TypeAlias = Annotated[ReadOptions, Offered((*_OF_DATA, "dialect"), _check)]
"""How a source is read that may be either."""

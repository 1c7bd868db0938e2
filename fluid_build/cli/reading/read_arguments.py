"""The options of every command that reads a source: what of it is read, and how."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast, get_args

from fluid_build.cli import options
from fluid_build.errors import UsageError
from fluid_build.sources.options import Nested, ReadOptions
from fluid_build.sources.text_values.conventions import Conventions, DateOrder, DecimalMark


@dataclass(frozen=True, slots=True)
class ReadArguments:
    """Options as they were typed, in the order of the help."""

    schema: options.Schemas = None
    include: options.Include = None
    exclude: options.Exclude = None
    views: options.Views = False
    sample: options.SampleRows = None
    full: options.FullScan = False
    nested: options.NestedColumns = None
    decimal: options.Decimal = None
    date_order: options.DateOrder = None
    encoding: options.Encoding = None

    @property
    def read(self) -> ReadOptions:
        """What they ask for; raises UsageError for a value that none of them takes."""
        if self.nested not in (None, *get_args(Nested)):
            raise UsageError(
                f"{self.nested!r} isn't a way to read nested columns.",
                hint="Use --nested split (child tables) or --nested keep.",
            )
        if self.sample is not None and self.full:
            raise UsageError("--sample and --full contradict each other.", hint="Keep one of them.")
        if self.sample is not None and self.sample < 1:
            raise UsageError("A sample has at least one row.", hint="Use --sample 100000.")
        return ReadOptions(
            schemas=tuple(self.schema or ()),
            include=tuple(self.include or ()),
            exclude=tuple(self.exclude or ()),
            views=self.views,
            sample=self.sample,
            full=self.full,
            nested=cast("Nested", self.nested or "split"),
            conventions=self._conventions,
            encoding=self.encoding,
        )

    @property
    def _conventions(self) -> Conventions:
        if self.decimal not in (None, *get_args(DecimalMark)):
            raise UsageError(
                f"{self.decimal!r} isn't a decimal mark.",
                hint='Use --decimal "." or --decimal ",".',
            )
        if self.date_order not in (None, *get_args(DateOrder)):
            raise UsageError(
                f"{self.date_order!r} isn't an order of day and month.",
                hint="Use --date-order dmy or --date-order mdy.",
            )
        return Conventions(
            cast("DecimalMark | None", self.decimal),
            cast("DateOrder | None", self.date_order),
        )


def read_arguments(read: ReadOptions) -> Iterator[str]:
    """Yield the options of a command line that reads a source in the same way again."""
    for option, values in (
        ("--schema", read.schemas),
        ("--include", read.include),
        ("--exclude", read.exclude),
    ):
        for value in values:
            yield from (option, value)
    if read.views:
        yield "--views"
    if read.full:
        yield "--full"
    if read.nested != "split":
        yield from ("--nested", read.nested)
    for option, answer in (
        ("--sample", None if read.sample is None else str(read.sample)),
        ("--dialect", read.dialect),
        ("--decimal", read.conventions.decimal),
        ("--date-order", read.conventions.date_order),
        ("--encoding", read.encoding),
    ):
        if answer is not None:
            yield from (option, answer)

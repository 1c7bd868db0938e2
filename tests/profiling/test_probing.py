"""Probes tell the share of a column's values that are keys of another."""

from fluid_build.profiling.measure.value_cache import ValueCache
from fluid_build.profiling.references.probing import Prober
from tests.profiling.databases import database, tables_of


def test_a_column_compared_in_another_form_is_probed_again() -> None:
    """Text of digits is looked up among text keys, though these were looked up before."""
    with database(
        """
        CREATE TABLE place AS SELECT CAST(i AS VARCHAR) AS code FROM range(40000) t(i);
        CREATE TABLE visit AS SELECT CAST(i % 90 AS VARCHAR) AS place FROM range(900) t(i);
        CREATE TABLE event AS SELECT 'e' || (i % 90) AS place FROM range(900) t(i);
        """
    ) as source:
        by_name = {table.name: table for table in tables_of(source)}
        (code,), (visit,), (event,) = (by_name[n].columns for n in ("place", "visit", "event"))
        code.key_kind = "text"
        prober = Prober(ValueCache(source.connection), [code, visit, event])
        assert prober.share(event, code) == 0.0
        visit.key_kind = "text"
        prober.probe_again(visit)
        assert prober.share(visit, code) == 1.0
        prober.close()

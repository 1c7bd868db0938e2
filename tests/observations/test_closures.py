"""Tables of all pairs in a hierarchy."""

from pathlib import Path

from tests.observations.sources import observed

_EMPLOYEES = """
    CREATE TABLE employee AS
    SELECT 101 + i AS employee_id, 'Employee ' || i AS full_name,
      CASE WHEN i > 0 THEN 101 + (i - 1) // 4 END AS manager_id
    FROM range(200) AS t(i)
    """
_CLOSURE = """
    CREATE TABLE employee_closure AS
    WITH RECURSIVE pairs AS (
      SELECT employee_id AS manager_id, employee_id, 0 AS distance FROM employee
      UNION ALL
      SELECT employee.manager_id, pairs.employee_id, pairs.distance + 1
      FROM pairs JOIN employee ON employee.employee_id = pairs.manager_id
      WHERE employee.manager_id IS NOT NULL
    )
    SELECT * FROM pairs
    """


def test_all_pairs_of_a_hierarchy_are_its_closure(tmp_path: Path) -> None:
    """With the members themselves at distance 0."""
    (closure,) = observed(tmp_path, _EMPLOYEES, _CLOSURE).closures
    assert (closure.ancestor, closure.descendant) == ("manager_id", "employee_id")
    assert (closure.members, closure.parent, closure.distance) == (
        "employee",
        "manager_id",
        "distance",
    )


def test_a_missing_pair_is_no_closure(tmp_path: Path) -> None:
    """One pair of a member and its manager's manager isn't there."""
    delete = "DELETE FROM employee_closure WHERE distance = 2 AND employee_id = 150"
    assert not observed(tmp_path, _EMPLOYEES, _CLOSURE, delete).closures


def test_pairs_of_parent_and_child_alone_are_no_closure(tmp_path: Path) -> None:
    """A list of steps says only what the hierarchy says."""
    delete = "DELETE FROM employee_closure WHERE distance <> 1"
    assert not observed(tmp_path, _EMPLOYEES, _CLOSURE, delete).closures

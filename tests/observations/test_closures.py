"""Tables of all pairs in a hierarchy."""

from pathlib import Path

import pytest

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


@pytest.mark.parametrize("nobody", [0, -1])
def test_a_root_below_nobody_is_a_root(tmp_path: Path, nobody: int) -> None:
    """Its parent is a number that no member has."""
    nobody_above = f"UPDATE employee SET manager_id = {nobody} WHERE manager_id IS NULL"
    (closure,) = observed(tmp_path, _EMPLOYEES, _CLOSURE, nobody_above).closures
    assert (closure.members, closure.parent) == ("employee", "manager_id")


def test_a_missing_pair_is_no_closure(tmp_path: Path) -> None:
    """One pair of a member and its manager's manager isn't there."""
    delete = "DELETE FROM employee_closure WHERE distance = 2 AND employee_id = 150"
    assert not observed(tmp_path, _EMPLOYEES, _CLOSURE, delete).closures


def test_pairs_of_parent_and_child_alone_are_no_closure(tmp_path: Path) -> None:
    """A list of steps says only what the hierarchy says."""
    delete = "DELETE FROM employee_closure WHERE distance <> 1"
    assert not observed(tmp_path, _EMPLOYEES, _CLOSURE, delete).closures


def test_matches_of_a_league_are_no_closure_and_take_no_time(tmp_path: Path) -> None:
    """Teams that meet in circles have more paths than could ever be computed."""
    teams = """
        CREATE TABLE team AS
        SELECT i AS team_id, 'Team ' || i AS team_name
        FROM range(1, 301) AS t(i)
        """
    matches = """
        CREATE TABLE match AS
        SELECT md5(home.team_id || '-' || away.team_id) AS match_code,
          home.team_id AS home_team_id, away.team_id AS away_team_id,
          (home.team_id * 7 + away.team_id * 3) % 5 AS home_goals
        FROM team AS home JOIN team AS away ON home.team_id <> away.team_id
        """
    assert not observed(tmp_path, teams, matches).closures


def test_a_surrogate_key_ahead_of_the_distance_is_no_distance(tmp_path: Path) -> None:
    """Both are whole numbers that begin at 0 or 1."""
    numbered = """
        CREATE TABLE employee_path AS
        SELECT row_number() OVER (ORDER BY employee_id, distance) AS path_id,
          manager_id, employee_id, distance
        FROM employee_closure
        """
    drop = "DROP TABLE employee_closure"
    (closure,) = observed(tmp_path, _EMPLOYEES, _CLOSURE, numbered, drop).closures
    assert closure.distance == "distance"


def test_a_surplus_pair_is_no_closure(tmp_path: Path) -> None:
    """An employee is paired with another manager's manager."""
    insert = "INSERT INTO employee_closure VALUES (150, 120, 2)"
    assert not observed(tmp_path, _EMPLOYEES, _CLOSURE, insert).closures


def test_a_wrong_distance_is_no_closure(tmp_path: Path) -> None:
    """The pair is right, but it's three steps and not two."""
    update = "UPDATE employee_closure SET distance = 3 WHERE distance = 2 AND employee_id = 150"
    assert not observed(tmp_path, _EMPLOYEES, _CLOSURE, update).closures


def test_a_hierarchy_of_one_step_is_a_list_of_parents_and_children(tmp_path: Path) -> None:
    """All its pairs are there, and say no more than the parents do; one more level does."""
    flat = _EMPLOYEES.replace("101 + (i - 1) // 4", "101")
    delete = "DELETE FROM employee_closure WHERE distance = 0"
    assert not observed(tmp_path / "flat", flat, _CLOSURE, delete).closures
    deeper = flat.replace("THEN 101 END", "THEN CASE WHEN i < 100 THEN 101 ELSE 102 END END")
    assert observed(tmp_path / "deep", deeper, _CLOSURE, delete).closures

"""A worker of DBOS with a composite, which dies once at each boundary of its work."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fluid_build.copilot import (
    Agent,
    Composite,
    CompositeAgent,
    LlmConfig,
    completion,
    delegate,
    forge_tool,
)
from fluid_build.copilot.store.backends.postgres import PostgresBackend
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.copilot.store.base import Store

WORKFLOW, RUN = "workflow-1", "run-1"
FOLDER = Path()
BASE_URL = ""


class Ledger:
    """Lines of a file, which survive the process."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path.exists() else []

    def add(self, line: str) -> None:
        with self.path.open("a") as file:
            file.write(f"{line}\n")

    def die_once(self, boundary: str) -> None:
        """Kill this process, unless one has died here before."""
        if boundary not in self.lines():
            self.add(boundary)
            os.kill(os.getpid(), signal.SIGKILL)


def mortal(store: Store) -> Store:
    """Let this process die after each state that the store saves for the first time."""
    put_many = store.put_many

    def put_many_and_die(namespace: str, values: Mapping[str, Any], **options: Any) -> None:
        put_many(namespace, values, **options)
        for key, head in values.items():
            if key.endswith("/head"):
                left = head["queue"]["left"] + len(head["queue"]["front"])
                run = key.partition("/")[0]
                Ledger(FOLDER / "deaths").die_once(f"saved {run} {head['item']} {left}")

    store.put_many = put_many_and_die  # type: ignore[method-assign]
    return store


def model_of(life: int) -> LlmConfig:
    return LlmConfig("anthropic", f"model-{life}", base_url=BASE_URL)


@forge_tool(register=False)
def count(table: str) -> int:
    """Count a table's rows."""
    Ledger(FOLDER / "counts").add(table)
    return 6


class Coder(CompositeAgent):
    """Research with tools and a sub-agent, two reviewers side by side, and a summary."""

    def __init__(self, life: int, is_mortal: bool = False) -> None:
        model = model_of(life)
        helper = Agent(model, name="helper", instructions="You help.")
        tools = [count, helper.as_tool(description="Helps.")]
        self.coder = Agent(model, name="coder", instructions="You code.", tools=tools)
        self.reviewer = Agent(model, name="reviewer", instructions="You review.")
        self.is_mortal = is_mortal

    def init(self, args: Mapping[str, Any]) -> Composite:
        if self.is_mortal:
            from dbos import DBOS

            Ledger(FOLDER / "deaths").die_once(f"step {DBOS.step_id}")
        reviews = [
            delegate(name, self.reviewer, lambda state, name=name: {"prompt": f"Review {name}."})
            for name in ("tests", "style")
        ]
        return Composite(
            agent=self.coder,
            request=args["request"],
            steps=[
                completion("research", args["request"]),
                reviews,
                completion("sum_up", "Sum up."),
            ],
        )


def prepare(folder: Path, base_url: str) -> None:
    """Say where this process works; before anything else here."""
    global FOLDER, BASE_URL
    FOLDER, BASE_URL = folder, base_url


def work(folder: Path, base_url: str, life: int, server: str) -> None:
    """Start the workflow in the first life; wait for its result, and write it.

    Everything is in the PostgreSQL database of ``server``, or in SQLite files where it's empty.
    """
    from dbos import DBOS, SetWorkflowID

    from fluid_build.copilot.agents.dbos_workflows import composite_workflow

    prepare(folder, base_url)
    database = server or f"sqlite:///{folder / 'dbos.db'}"
    store = PostgresBackend(server) if server else SqliteBackend(folder / "runs.db")
    DBOS(config={"name": "coder", "system_database_url": database, "log_level": "ERROR"})
    workflow = composite_workflow("coder", Coder(life, is_mortal=True), mortal(store), width=1)
    DBOS.launch()
    if life == 0:
        with SetWorkflowID(WORKFLOW):
            DBOS.start_workflow(workflow, RUN, {"request": "Count the orders."})
    result = DBOS.retrieve_workflow(WORKFLOW).get_result()
    steps = [step["function_name"] for step in DBOS.list_workflow_steps(WORKFLOW)]
    (folder / "result.json").write_text(json.dumps({"response": result, "steps": steps}))
    DBOS.destroy()


if __name__ == "__main__":
    work(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4])

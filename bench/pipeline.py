"""Measures the staged pipeline with a provider on this machine: faults, kills, speed, ceilings.

Run: ``python bench/pipeline.py [faults|kills|speed|ceiling|modeller ...] [--runs N]``. ``speed``
and ``modeller`` need the corpus (``--corpus``). The provider is the project's own test server; all
requests go over sockets. Exit code 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.synthetic import write_duckdb  # noqa: E402
from fluid_build.copilot.context.token_estimate import estimate_tokens  # noqa: E402
from fluid_build.copilot.errors import CostLimitExceeded  # noqa: E402
from fluid_build.copilot.llm.answers import Usage  # noqa: E402
from fluid_build.copilot.store.backends.sqlite import SqliteBackend  # noqa: E402
from fluid_build.copilot.store.configured import STORE_NAME  # noqa: E402
from fluid_build.errors import FluidError  # noqa: E402
from fluid_build.forging import ForgeOptions  # noqa: E402
from fluid_build.forging.documents import REPORT_FILE  # noqa: E402
from fluid_build.pipeline.requests import ForgeRequest, ModelUse, SourcePlace  # noqa: E402
from fluid_build.pipeline.running import RunResult, begin_run, start_run  # noqa: E402
from fluid_build.pipeline.runs import RunLog  # noqa: E402
from fluid_build.sources import open_source  # noqa: E402
from fluid_build.sources.combined import SourceRequest  # noqa: E402
from fluid_build.sources.uri import locate  # noqa: E402
from tests.fault_server import (  # noqa: E402
    LoopbackServer,
    ReceivedRequest,
    Reply,
    cut_body,
    rate_limit,
    server_error,
    slow,
)
from tests.fault_server.faults import Fault  # noqa: E402

MODEL = "gpt-4.1"
SHARE_OF_FAULTS = 0.3
SECONDS_OF_TIMEOUT = 2.0
_MOST_TRIES = 6
_PROPOSALS = {
    "decisions": [
        {
            "decision": "describe",
            "table": "orders",
            "value": "An order that a customer placed.",
            "reason": "Each row has a customer and a total.",
        }
    ]
}
MODELLERS = Path(__file__).parent / "modellers"


@dataclass
class Outcome:
    """The figures of a part, and the goals that were missed."""

    figures: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def figure(self, text: str, *, is_met: bool = True) -> None:
        """Print a figure, and note it where its goal is missed."""
        sys.stdout.write(f"  {text}{'' if is_met else '   MISSED'}\n")
        sys.stdout.flush()
        self.figures.append(text)
        if not is_met:
            self.missed.append(text)


class Payments:
    """What a server was paid for: how often each request got a whole answer, and for how much."""

    def __init__(self, script: Callable[[ReceivedRequest], Reply | Fault]) -> None:
        self._script = script
        self._lock = threading.Lock()
        self.answered: Counter[str] = Counter()
        self.tokens: dict[str, list[Usage]] = {}
        self.faults = 0

    def __call__(self, request: ReceivedRequest) -> Reply | Fault:
        """Answer a request and note whether that costs something."""
        step = self._script(request)
        with self._lock:
            if isinstance(step, Reply):
                self.answered[hashlib.sha256(request.raw).hexdigest()] += 1
                model = str(request.body.get("model"))
                self.tokens.setdefault(model, []).append(step.usage or Usage(0, 0))
            else:
                self.faults += 1
        return step

    @property
    def duplicates(self) -> int:
        """Return how many whole answers were paid for once more."""
        return sum(count - 1 for count in self.answered.values())


def small_shop(path: Path) -> Path:
    """Write three related tables to an SQLite file."""
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE customer (id INTEGER, name TEXT, city TEXT)")
        database.execute("CREATE TABLE product (sku TEXT, title TEXT, price REAL)")
        database.execute(
            "CREATE TABLE orders (order_no INTEGER, customer_id INTEGER, sku TEXT, total REAL)"
        )
        database.executemany(
            "INSERT INTO customer VALUES (?, ?, ?)",
            [(n + 100, f"Name {n}", f"Town {n % 7}") for n in range(60)],
        )
        database.executemany(
            "INSERT INTO product VALUES (?, ?, ?)",
            [(f"P{n:03}", f"Thing {n}", n * 1.25) for n in range(40)],
        )
        database.executemany(
            "INSERT INTO orders VALUES (?, ?, ?, ?)",
            [(n + 9000, n * 7 % 60 + 100, f"P{n * 3 % 40:03}", n * 0.75) for n in range(300)],
        )
    return path


def forge_once(
    source: Path, out: Path, store: Path, use: ModelUse, *, max_cost: Decimal | None = None
) -> RunResult:
    """Forge a source as the command does."""
    request = ForgeRequest(
        command="from-source",
        folder=out.parent,
        sources=(SourcePlace.of(SourceRequest(locate(str(source)))),),
        options=ForgeOptions(),
        out=out,
        model_use=use,
        max_cost=max_cost,
    )
    with contextlib.closing(SqliteBackend(store)) as backend:
        used, record, notes = begin_run(backend, request)
        with open_source(request.sources[0].request().address) as opened:
            return start_run(opened, used, record, notes=notes)


def model_use(server: LoopbackServer, model: str = MODEL) -> ModelUse:
    """Return the flags that lead to a server of this machine."""
    return ModelUse(provider="openai", model=model, endpoint=server.base_url("openai"))


def reply(request: ReceivedRequest, proposals: object = None) -> Reply:
    """Return an answer, with a usage that fits the sizes."""
    text = json.dumps(_PROPOSALS if proposals is None else proposals)
    return Reply(text, usage=Usage(len(request.raw) // 4 + 1, len(text) // 4 + 1))


# 200 runs under transient faults.


def faults(folder: Path, runs: int, outcome: Outcome) -> None:
    """Run forges while three requests in ten fail in a way that passes."""
    kinds: list[Callable[[], Fault]] = [
        lambda: rate_limit(retry_after=0),
        lambda: server_error(500),
        lambda: server_error(503),
        lambda: slow(SECONDS_OF_TIMEOUT + 1),
        cut_body,
    ]
    chance, lock = random.Random(13), threading.Lock()

    def answer(request: ReceivedRequest) -> Reply | Fault:
        with lock:
            is_fault, kind = chance.random() < SHARE_OF_FAULTS, chance.choice(kinds)
        return kind() if is_fault else reply(request)

    payments = Payments(answer)
    shop = small_shop(folder / "shop.db")
    os.environ["FLUID_LLM_TIMEOUT_SECONDS"] = str(SECONDS_OF_TIMEOUT)
    done: Counter[str] = Counter()
    with LoopbackServer(payments) as server:
        os.environ["OPENAI_API_KEY"] = server.key

        def run(number: int) -> str:
            place = folder / f"run{number}"
            place.mkdir()
            try:
                result = forge_once(shop, place / "out", place / "store.db", model_use(server))
            except FluidError as error:
                return type(error).__name__
            whole = result.forged.proof.verdict == "proven"
            return "fallback" if result.receipt.fallback_used else "model" if whole else "lost"

        with ThreadPoolExecutor(8) as pool:
            done.update(pool.map(run, range(runs)))
    del os.environ["FLUID_LLM_TIMEOUT_SECONDS"]
    complete, fallback = done["model"] + done["fallback"], done["fallback"]
    per_run = max(Counter(payments.answered).values(), default=0)
    requests = sum(payments.answered.values()) + payments.faults
    outcome.figure(
        f"{runs} runs, {payments.faults} of {requests} requests failed"
        f" ({payments.faults / requests:.0%})"
    )
    outcome.figure(f"complete: {complete / runs:.1%} (goal 99 %)", is_met=complete >= 0.99 * runs)
    outcome.figure(
        f"by fallback: {fallback / runs:.1%} (goal below 5 %)", is_met=fallback < 0.05 * runs
    )
    duplicates = sum(payments.answered.values()) - done["model"]
    outcome.figure(
        f"whole answers beyond one a run: {duplicates} (goal 0)",
        is_met=duplicates == 0 and per_run <= runs,
    )


# Random SIGKILLs.


def kills(folder: Path, runs: int, outcome: Outcome) -> None:
    """Kill commands at random moments, resume them, and compare the folders."""
    payments = Payments(lambda request: _after(0.1, reply(request)))
    with LoopbackServer(payments) as server:
        environment = {
            **os.environ,
            "OPENAI_API_KEY": server.key,
            "FLUID_LLM_PROVIDER": "openai",
            "FLUID_LLM_MODEL": MODEL,
            "FLUID_LLM_BASE_URL": server.base_url("openai"),
        }
        undisturbed = folder / "undisturbed"
        seconds = _forge_command(undisturbed, environment)
        expected = _tree(undisturbed / "out")
        chance = random.Random(29)
        moments = [chance.uniform(0.05, seconds) for _ in range(runs)]

        def run(number: int) -> tuple[int, int]:
            """Return how many folders were the same, of how many processes that were killed."""
            place, is_killed, tries, equal = folder / f"kill{number}", False, 0, 0
            while not is_killed and tries < _MOST_TRIES:
                # A command that had ended before the moment is tried again, and killed earlier.
                is_killed = _kill_and_resume(place, environment, moments[number] / 2**tries)
                equal += _tree(place / "out") == expected
                tries += 1
                shutil.rmtree(place)
            return equal == tries, is_killed

        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(run, range(runs)))
    same, killed = sum(same for same, _ in results), sum(killed for _, killed in results)
    outcome.figure(f"processes killed while they ran: {killed} of {runs}")
    outcome.figure(f"identical folders after resume: {same} (goal {runs})", is_met=same == runs)


def _after(seconds: float, answer: Reply) -> Reply:
    time.sleep(seconds)
    return answer


def _forge_command(place: Path, environment: dict[str, str]) -> float:
    """Forge in a place of its own, and return the seconds that it took."""
    place.mkdir()
    small_shop(place / "shop.db")
    started = time.perf_counter()
    subprocess.run(
        _command("forge", "data-model", "from-source", "--uri", "shop.db", "-o", "out"),
        cwd=place,
        env={**environment, "FLUID_HOME": str(place / "home")},
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - started


def _kill_and_resume(place: Path, environment: dict[str, str], moment: float) -> bool:
    """Kill a forge at a moment, go on until it has ended; return whether it was killed."""
    place.mkdir()
    small_shop(place / "shop.db")
    home = {**environment, "FLUID_HOME": str(place / "home")}
    forge = _command("forge", "data-model", "from-source", "--uri", "shop.db", "-o", "out")
    process = subprocess.Popen(
        forge, cwd=place, env=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
    with contextlib.closing(SqliteBackend(place / "home" / STORE_NAME)) as store:
        records = RunLog(store).records()
    if not records:  # killed before it was recorded: it has done nothing yet
        subprocess.run(forge, cwd=place, env=home, capture_output=True, check=True)
    elif records[0].state != "finished":
        resume = _command("runs", "resume", records[0].id)
        subprocess.run(resume, cwd=place, env=home, capture_output=True, check=True)
    return process.returncode == -signal.SIGKILL


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "fluid_build.cli.main", *arguments]


def _tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != REPORT_FILE
    }


# Speed and tokens.


def speed(folder: Path, corpus: Path, outcome: Outcome, rounds: int = 7) -> None:
    """Compare forges of Chinook with and without a model, and count the tokens."""
    with LoopbackServer(lambda request: reply(request, {"decisions": []})) as server:
        os.environ["OPENAI_API_KEY"] = server.key
        chinook = corpus / "chinook" / "data"
        extra, totals = [], []
        for number in range(rounds):
            place = folder / f"speed{number}"
            place.mkdir()
            plain = _seconds(chinook, place / "a", place / "a.db", ModelUse(deterministic=True))
            asked = _seconds(chinook, place / "b", place / "b.db", model_use(server))
            extra.append(asked - plain)
            totals.append(plain)
        seconds = statistics.median(extra)
        outcome.figure(
            f"Chinook: {seconds:.2f} s over {statistics.median(totals):.2f} s without a model"
            " (goal 0.5 s)",
            is_met=seconds <= 0.5,
        )
        extra = [_process_seconds(chinook, folder, server, number) for number in range(rounds)]
        seconds = statistics.median(extra)
        outcome.figure(
            f"Chinook, by the command: {seconds:.2f} s over it without a model (goal 0.5 s)",
            is_met=seconds <= 0.5,
        )
        tokens = _tokens(chinook, folder / "tokens", server)
        outcome.figure(f"Chinook: {tokens:,} tokens (goal 6,000)", is_met=tokens <= 6_000)
        wide = folder / "wide.duckdb"
        write_duckdb(wide, 500)
        per_table = _tokens(wide, folder / "wide", server) / 500
        outcome.figure(
            f"500 tables: {per_table:.0f} tokens a table (goal 150)", is_met=per_table <= 150
        )


def _seconds(source: Path, out: Path, store: Path, use: ModelUse) -> float:
    started = time.perf_counter()
    forge_once(source, out, store, use)
    return time.perf_counter() - started


def _process_seconds(source: Path, folder: Path, server: LoopbackServer, number: int) -> float:
    """Return the seconds that a model adds to a command in a process of its own."""
    model = ["--llm-provider", "openai", "--llm-model", MODEL]
    address = ["--llm-endpoint", server.base_url("openai")]
    forge = _command("forge", "data-model", "from-source", "--uri", str(source.resolve()))
    seconds = []
    for options in (["--deterministic"], [*model, *address, "--no-cache"]):
        place = folder / f"process{number}{len(options)}"
        started = time.perf_counter()
        command = [*forge, *options, "-o", str(place / "out")]
        environment = {**os.environ, "FLUID_HOME": str(place / "home")}
        subprocess.run(command, env=environment, cwd=ROOT, check=True, capture_output=True)
        seconds.append(time.perf_counter() - started)
    return seconds[1] - seconds[0]


def _tokens(source: Path, place: Path, server: LoopbackServer) -> int:
    """Return the tokens of a forge: its requests as our estimate counts them, and its answers."""
    place.mkdir()
    before = len(server.requests)
    receipt = forge_once(source, place / "out", place / "store.db", model_use(server)).receipt
    assert len(server.requests) > before
    prompts = (request.raw.decode() for request in server.requests[before:])
    return sum(map(estimate_tokens, prompts)) + receipt.cost.output_tokens


# Ceilings.


def ceiling(folder: Path, runs: int, outcome: Outcome) -> None:
    """Run forges in parallel, each with prices and a ceiling of its own, drawn at random."""
    chance = random.Random(7)
    prices = {
        f"priced-{n}": [round(chance.uniform(0.1, 90), 2), round(chance.uniform(0.1, 200), 2)]
        for n in range(runs)
    }
    limits = {name: Decimal(str(round(chance.uniform(0.0001, 0.6), 4))) for name in prices}
    home = folder / "home"
    home.mkdir()
    (home / "config.yaml").write_text(yaml.safe_dump({"prices": {"prices": prices}}))
    os.environ["FLUID_HOME"] = str(home)
    payments = Payments(reply)
    shop = small_shop(folder / "shop.db")
    with LoopbackServer(payments) as server:
        os.environ["OPENAI_API_KEY"] = server.key

        def run(name: str) -> str:
            place = folder / name
            place.mkdir()
            use = model_use(server, name)
            try:
                forge_once(shop, place / "out", place / "s.db", use, max_cost=limits[name])
            except CostLimitExceeded:
                return "stopped"
            finally:
                shutil.rmtree(place, ignore_errors=True)
            return "finished"

        with ThreadPoolExecutor(50) as pool:
            ends = Counter(pool.map(run, prices))
    over = [
        name
        for name, usages in payments.tokens.items()
        if _cost(prices, name, usages) > limits[name]
    ]
    outcome.figure(
        f"{runs} runs, 50 at once: {ends['finished']} finished, {ends['stopped']} stopped"
    )
    outcome.figure(f"over their ceiling: {len(over)} (goal 0)", is_met=not over)
    outcome.figure("some stopped and some didn't", is_met=len(ends) == 2)


def _cost(prices: dict[str, list[float]], name: str, usages: Sequence[Usage]) -> Decimal:
    price_in, price_out = (Decimal(str(price)) for price in prices[name])
    return sum(
        (u.input_tokens * price_in + u.output_tokens * price_out for u in usages), Decimal(0)
    ) / Decimal(1_000_000)


# The good modeller.


def modeller(folder: Path, corpus: Path, outcome: Outcome) -> None:
    """Let answers written from the documentation of databases improve their models."""
    for path in sorted(MODELLERS.glob("*.json")):
        proposals = json.loads(path.read_text())
        place = folder / path.stem
        place.mkdir()
        with LoopbackServer(_answering_once(proposals)) as server:
            os.environ["OPENAI_API_KEY"] = server.key
            source = corpus / path.stem / "data"
            plain = forge_once(source, place / "a", place / "a.db", ModelUse(deterministic=True))
            result = forge_once(source, place / "b", place / "b.db", model_use(server))
        receipt = result.receipt
        accepted = receipt.count_proposed("accepted")
        outcome.figure(
            f"{path.stem}: {len(proposals['decisions'])} proposals, {accepted} accepted,"
            f" {receipt.count_proposed('refused')} refused,"
            f" {receipt.count_proposed('unused')} unused;"
            f" described {_described(plain)} to {_described(result)};"
            f" renamed {_renamed(result)};"
            f" proof {result.forged.proof.verdict}",
            is_met=accepted > 0 and result.forged.proof.verdict == plain.forged.proof.verdict,
        )


def _answering_once(proposals: object) -> Callable[[ReceivedRequest], Reply]:
    """Return a script that proposes in its first answer, and replaces nothing of it."""
    answers: Iterator[object] = iter([proposals])
    return lambda request: reply(request, next(answers, {"decisions": []}))


def _renamed(result: RunResult) -> int:
    proposed = result.receipt.proposed
    return sum(p.status == "accepted" and p.decision["decision"] == "rename" for p in proposed)


def _described(result: RunResult) -> str:
    """Return how many exposes and columns of a contract have a description."""
    exposes = result.forged.contract.exposes
    tables = sum(bool(expose.description) for expose in exposes)
    columns: list[Any] = [c for expose in exposes for c in expose.contract.columns or ()]
    described = sum(bool(column.description) for column in columns)
    return f"{tables}/{len(exposes)} tables, {described}/{len(columns)} columns"


def main() -> int:
    """Run the parts that are asked for; return 1 where a goal is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--corpus", type=Path, default=Path("../shared/corpus"))
    arguments = parser.parse_args()
    outcome = Outcome()
    parts: dict[str, Callable[[Path], None]] = {
        "speed": lambda folder: speed(folder, arguments.corpus, outcome),
        "modeller": lambda folder: modeller(folder, arguments.corpus, outcome),
        "faults": lambda folder: faults(folder, arguments.runs or 200, outcome),
        "ceiling": lambda folder: ceiling(folder, arguments.runs or 500, outcome),
        "kills": lambda folder: kills(folder, arguments.runs or 200, outcome),
    }
    for name in arguments.parts or parts:
        sys.stdout.write(f"{name}\n")
        with tempfile.TemporaryDirectory() as folder:
            os.environ["FLUID_HOME"] = str(Path(folder) / "unused-home")
            parts[name](Path(folder))
    return 1 if outcome.missed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The API in several threads at the same time, and in the running loop of a notebook."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fluid_build as fluid
from tests.api.conftest import Frames
from tests.folders import artifacts_of


def process_state() -> tuple[object, ...]:
    return (
        tempfile.tempdir, Path.cwd(), dict(os.environ), gc.get_threshold(),
        signal.getsignal(signal.SIGINT),
    )  # fmt: skip


def test_two_forges_and_a_profile_run_at_the_same_time(
    database: Path, frames: Frames, tmp_path: Path
) -> None:
    before = process_state()
    with ThreadPoolExecutor(3) as pool:
        vault = pool.submit(fluid.forge, database, technique="dv2", out=tmp_path / "vault")
        star = pool.submit(fluid.forge, frames, technique="dimensional", out=tmp_path / "star")
        profiles = [pool.submit(fluid.profile, frames) for _ in range(3)]
        assert vault.result().proof.holds
        assert star.result().proof.holds
        assert len({profile.result().to_json() for profile in profiles}) == 1
    assert process_state() == before
    fluid.forge(database, technique="dv2", out=tmp_path / "alone")
    assert artifacts_of(tmp_path / "vault") == artifacts_of(tmp_path / "alone")


def test_an_error_in_one_thread_leaves_the_others_alone(database: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        failing = [pool.submit(fluid.profile, tmp_path / f"no{i}.db") for i in range(4)]
        working = [pool.submit(fluid.profile, database) for _ in range(2)]
        assert all(isinstance(each.exception(), fluid.SourceNotFoundError) for each in failing)
        assert all(each.result().rows == 1100 for each in working)


def test_a_running_event_loop_is_no_obstacle(frames: Frames, tmp_path: Path) -> None:
    async def cell() -> bool:
        forged = fluid.forge(frames, out=tmp_path / "shop")
        return forged.proof.holds and bool(fluid.verify(tmp_path / "shop", source=frames))

    assert asyncio.run(cell())


def test_ctrl_c_ends_a_call_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    code = """
import os, signal, sys
import pandas as pd
import fluid_build as fluid
frame = pd.DataFrame({f"c{i}": range(i, 200_000 + i) for i in range(8)})
def interrupt(report):
    if report.stage == "keys":
        os.kill(os.getpid(), signal.SIGINT)
try:
    fluid.profile(frame, on_progress=interrupt)
except KeyboardInterrupt:
    sys.exit(7)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        # A test run in the background ignores the signal, and its children would as well.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.wait(60) == 7
    assert list(tmp_path.iterdir()) == []

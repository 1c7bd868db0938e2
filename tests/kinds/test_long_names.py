"""Names as long as a question, through every document."""

import json
from pathlib import Path

from fluid_build.forging import forge
from fluid_build.sources import open_source


def test_a_question_of_a_survey_is_forged(tmp_path: Path) -> None:
    """A name of 700 letters goes through every document."""
    name = "How satisfied are you with the answers to your questions? " * 12
    rows = "".join(f"{number},{number % 5}\n" for number in range(50))
    path = tmp_path / "survey.csv"
    path.write_text(f"id,{name.strip()}\n{rows}")
    with open_source(path) as source:
        forge(source, out=tmp_path / "out", technique="dimensional")
    proof = json.loads((tmp_path / "out" / "proof.json").read_text())
    assert proof["verdict"] == "proven"
    assert name.strip() in (tmp_path / "out" / "contract.fluid.yaml").read_text().replace("\n", " ")

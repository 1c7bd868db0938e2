"""What the end of a forge warns of."""

from rich.console import Console

from fluid_build.cli.forging.receipt_screen import receipt_section
from fluid_build.pipeline.receipt import Cost, Receipt


def shown(receipt: Receipt) -> str:
    console = Console(width=200)
    with console.capture() as capture:
        for part in receipt_section(receipt):
            console.print(part)
    return " ".join(capture.get().split())


def receipt_with(model: str | None = "m", **fields: object) -> Receipt:
    return Receipt.model_validate(
        {
            "run": "r",
            "version": "1",
            "provider": "openai",
            "model": model,
            "folder": "shop-model",
            "technique": "flat",
            "proof_verdict": "proven",
            **fields,
        }
    )


def test_the_footer_warns_of_calls_whose_tokens_nobody_reported() -> None:
    text = shown(receipt_with(cost=Cost(calls=3, missing_usage_calls=2)))
    assert "No provider reported the tokens of 2 calls" in text
    assert "No provider" not in shown(receipt_with(cost=Cost(calls=3)))


def test_the_footer_warns_of_what_the_validator_found_about_a_variant() -> None:
    for model in ("m", None):
        text = shown(receipt_with(model, variant_lint={"star": 3, "flat": 0}))
        assert "The validator has 3 warnings about the star model" in text
        assert "flat model" not in text

"""What each model gained and lost against the forge without one: the figures, and each claim."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean

from pydantic import BaseModel, ConfigDict

from fluid_build.copilot.evals import Difference, EvalRun, ScoredTrial, compare
from fluid_build.decisions.language import DECISION
from fluid_build.pipeline.evaluation.judging import (
    KINDS,
    Judgement,
    Judgements,
    Kind,
    Subject,
    is_true,
    share_right,
)
from fluid_build.pipeline.evaluation.truth import Truth
from fluid_build.pipeline.receipt import Receipt

_RANKS = {"wrong": -1, "missed": 0, "right": 1}
_GONE = Judgement("missed")
"""What isn't there is as good as what is missed: nobody is misled by it."""


@dataclass(frozen=True, slots=True)
class ForgeTrial:
    """A database as it was forged once."""

    database: str
    repeat: int
    truth: Truth
    judgements: Judgements
    receipt: Receipt
    seconds: float

    @property
    def model_seconds(self) -> float:
        """How long the model was asked, and what it proposed was measured."""
        return sum(stage.seconds for stage in self.receipt.stages if stage.name == "logical")

    @property
    def cost_usd(self) -> Decimal | None:
        """What its model cost, None where a price isn't known."""
        cost = self.receipt.cost
        return None if any(row.cost_usd is None for row in cost.models) else cost.total_usd


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Change(_Frozen):
    """A claim that is better or worse than without a model, in ``times`` of the forges.

    ``now`` is "right", "wrong", "missed", or "gone" for a false claim that isn't made any more.
    """

    database: str
    kind: Kind
    subject: str
    now: str
    claim: str = ""
    times: int = 1


class KindResult(_Frozen):
    """Claims of a kind, in a forge of all databases on average."""

    right: float = 0
    wrong: float = 0
    missed: float = 0
    gained: float = 0
    lost: float = 0


class ModelResult(_Frozen):
    """What a model did, all forges together; ``name`` is "" for the forges without one.

    ``refused`` are its proposals that the data contradicts or that are no decisions, of which
    ``refused_truths`` are true all the same. ``let_in`` are false claims that were accepted, as
    nothing contradicts them. ``asked`` wait for a person. ``seconds`` are those of a forge, and
    ``model_seconds`` those of them that the model takes. ``differences`` are those of the shares
    of right claims, over the databases. ``in_other_words`` are descriptions that say something else
    than the truth does, which may be as good.
    """

    name: str
    kinds: Mapping[Kind, KindResult]
    gained: tuple[Change, ...] = ()
    lost: tuple[Change, ...] = ()
    in_other_words: tuple[Change, ...] = ()
    proposed: int = 0
    accepted: int = 0
    asked: int = 0
    refused: int = 0
    refused_truths: int = 0
    let_in: int = 0
    cost_usd: Decimal | None = Decimal(0)
    seconds: float = 0
    model_seconds: float = 0
    failures: tuple[str, ...] = ()
    run: EvalRun = EvalRun()
    differences: tuple[Difference, ...] = ()

    @property
    def refused_lies(self) -> int:
        """The false proposals that didn't go in."""
        return self.refused - self.refused_truths


class EvaluationResult(_Frozen):
    """The models in their order, the forges without one first.

    ``stopped`` says why not everything was forged that should have been, "" where all was.
    """

    databases: tuple[str, ...]
    technique: str
    repeats: int
    models: tuple[ModelResult, ...]
    stopped: str = ""

    @property
    def has_failures(self) -> bool:
        """Whether a forge that was asked for is missing, or its model failed."""
        return bool(self.stopped) or any(model.failures for model in self.models)


def result_of(name: str, trials: Sequence[ForgeTrial], plain: Sequence[ForgeTrial]) -> ModelResult:
    """Return what a model did in its trials, against those without a model."""
    changes = _changes(trials, plain)
    fates = [fate for trial in trials for fate in _fates(trial)]
    became = Counter(status for status, _ in fates)
    costs = [trial.cost_usd for trial in trials]
    run, before = (EvalRun(name=name, trials=tuple(map(_scored, each))) for each in (trials, plain))
    return ModelResult(
        name=name,
        kinds={kind: _kind_result(kind, trials, changes) for kind in KINDS},
        gained=tuple(change for change, is_gain in changes if is_gain),
        lost=tuple(change for change, is_gain in changes if not is_gain),
        in_other_words=_in_other_words(trials),
        proposed=became.total(),
        accepted=became["accepted"],
        asked=became["asked"],
        refused=became["refused"],
        refused_truths=fates.count(("refused", True)),
        let_in=sum(c.times for c, is_gain in changes if not is_gain and c.now == "wrong"),
        cost_usd=None if None in costs else sum(filter(None, costs), Decimal(0)),
        seconds=_mean([trial.seconds for trial in trials]),
        model_seconds=_mean([trial.model_seconds for trial in trials]),
        failures=tuple(
            f"{trial.database}: {reason}"
            for trial in trials
            for reason in trial.receipt.fallback_reasons
        ),
        run=run,
        differences=compare(before, run) if set(before.scores) & set(run.scores) else (),
    )


def _fates(trial: ForgeTrial) -> Iterator[tuple[str, bool]]:
    """Yield what became of each proposal, and whether it's true.

    One that a model repeats after a refusal counts once.
    """
    proposed = {
        DECISION.validate_python(row.decision | {"by": "model", "reason": ""}): row.status
        for row in trial.receipt.proposed
    }
    yield from ((status, is_true(each, trial.truth)) for each, status in proposed.items())
    yield from (("refused", False) for _ in set(trial.receipt.invalid_proposals))


def _changes(
    trials: Sequence[ForgeTrial], plain: Sequence[ForgeTrial]
) -> list[tuple[Change, bool]]:
    """Return the claims that are better or worse than before, each once, and which of both."""
    before = {trial.database: trial.judgements for trial in plain}
    changes: Counter[tuple[Change, bool]] = Counter()
    for trial in trials:
        old = before[trial.database]
        for subject in {**old, **trial.judgements}:
            now = trial.judgements.get(subject, _GONE)
            step = _RANKS[now.state] - _RANKS[old.get(subject, _GONE).state]
            if step:
                changes[_change(trial, subject, now), step > 0] += 1
    return [
        (change.model_copy(update={"times": times}), is_gain)
        for (change, is_gain), times in changes.items()
    ]


def _in_other_words(trials: Sequence[ForgeTrial]) -> tuple[Change, ...]:
    """Return the descriptions that aren't recognised, each once: a reader has to judge them."""
    unrecognised = (
        _change(trial, subject, judgement)
        for trial in trials
        for subject, judgement in trial.judgements.items()
        if subject.kind == "descriptions" and judgement.state == "missed" and judgement.claim
    )
    return tuple(dict.fromkeys(unrecognised))


def _change(trial: ForgeTrial, subject: Subject, now: Judgement) -> Change:
    return Change(
        database=trial.database,
        kind=subject.kind,
        subject=subject.name,
        now="gone" if now is _GONE else now.state,
        claim=now.claim,
    )


def _mean(seconds: Sequence[float]) -> float:
    return round(fmean(seconds), 2) if seconds else 0.0


def _kind_result(
    kind: Kind, trials: Sequence[ForgeTrial], changes: Sequence[tuple[Change, bool]]
) -> KindResult:
    rounds = max((trial.repeat for trial in trials), default=1)
    counts: Counter[str] = Counter(
        judgement.state
        for trial in trials
        for subject, judgement in trial.judgements.items()
        if subject.kind == kind
    )
    for change, is_gain in changes:
        counts["gained" if is_gain else "lost"] += change.times * (change.kind == kind)
    return KindResult(**{name: count / rounds for name, count in counts.items()})


def _scored(trial: ForgeTrial) -> ScoredTrial:
    """Return a trial as evaluations of any agent have it."""
    shares = {kind: share_right(trial.judgements, kind) for kind in KINDS}
    return ScoredTrial(
        case=trial.database,
        repeat=trial.repeat,
        scores={kind: share for kind, share in shares.items() if share is not None},
        error="; ".join(trial.receipt.fallback_reasons) or None,
        seconds=round(trial.seconds, 3),
        input_tokens=trial.receipt.cost.input_tokens,
        output_tokens=trial.receipt.cost.output_tokens,
        cost_usd=trial.cost_usd,
    )

"""The cost of a run, by model and by agent, and its limit.

A call reserves the most that it can cost before it is sent, and settles for its actual cost
afterwards, so that parallel calls can't exceed the limit together. Each attempt reserves, not the
call: it ends free (not sent, or refused), at the reported usage, or at its reservation. A call for
which too little is left only because others have reserved it can wait for them; one that would wait
for something that waits for it is refused. Money is a ``Decimal`` in US dollars.

``ledger`` holds what is spent, reserved and waited for; threads and tasks wait in ``queue``; the
``tracker`` is over both. The ledger's lock keeps finalizers out of a change of it. Source: Agentic
Primitives, "RunCostTracker".
"""

from fluid_build.copilot.cost.figures import (
    AgentRow,
    Caller,
    CostBreakdown,
    CostRow,
    LargestCall,
    Price,
)
from fluid_build.copilot.cost.queue import StreamHold
from fluid_build.copilot.cost.tracker import (
    Reservation,
    RunCostTracker,
    get_cost_tracker,
    parse_cost_limit,
    use_cost_tracker,
)
from fluid_build.copilot.errors import COST_LIMIT_VARIABLE, CostLimitExceeded, UnknownPriceError

__all__ = [
    "COST_LIMIT_VARIABLE",
    "AgentRow",
    "Caller",
    "CostBreakdown",
    "CostLimitExceeded",
    "CostRow",
    "LargestCall",
    "Price",
    "Reservation",
    "RunCostTracker",
    "StreamHold",
    "UnknownPriceError",
    "get_cost_tracker",
    "parse_cost_limit",
    "use_cost_tracker",
]

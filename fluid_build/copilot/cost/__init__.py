"""The cost of a run, by model and by agent, and its limit.

A call reserves the most that it can cost before it is sent, and settles for its actual cost
afterwards, so that parallel calls can't exceed the limit together. A call for which too little is
left only because others have reserved it can wait for them. Money is a ``Decimal`` in US dollars.
Source: Agentic Primitives, "RunCostTracker".
"""

from fluid_build.copilot.cost.configured import parse_cost_limit
from fluid_build.copilot.cost.current import get_cost_tracker, use_cost_tracker
from fluid_build.copilot.cost.figures import (
    AgentRow,
    Caller,
    CostBreakdown,
    CostRow,
    LargestCall,
    Price,
)
from fluid_build.copilot.cost.queue import StreamHold
from fluid_build.copilot.cost.tracker import Reservation, RunCostTracker
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

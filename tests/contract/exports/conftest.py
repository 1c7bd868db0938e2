"""Makes the modules that the contract's tests share known here as well."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

"""On a server's PYTHONPATH: its wall clock is off by CLOCK_OFFSET_SECONDS."""

import os
import time

_seconds = float(os.environ.get("CLOCK_OFFSET_SECONDS", "0"))
_time, _time_ns = time.time, time.time_ns

time.time = lambda: _time() + _seconds
time.time_ns = lambda: _time_ns() + int(_seconds * 1e9)

"""The short form of `make torture`: some rounds of processes that share a compile cache while everything happens to it."""

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "torture.py"


def test_processes_that_share_a_cache_survive_kills_and_damage(tmp_path):
    command = [sys.executable, str(SCRIPT), "12", "15", "7"]
    done = subprocess.run(command, env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = json.loads(done.stdout[done.stdout.index("{") :])
    assert counts["rounds"] >= 3 and counts["processes: right"] > 20 and counts["processes: killed"] > 0

"""What a running rewrite tells, and how it ends when it is asked to."""

import json
import os
import re
import signal
import subprocess
import time

import h5py
import numpy as np

import harness
from faults_test import shim

SHAPE = (160, 200, 200)


def make_source(t):
    path = t / "in.h5"
    with h5py.File(path, "w") as file:
        data = np.random.default_rng(1).integers(0, 4000, SHAPE).astype("f4")
        file.create_dataset("v", data=data, chunks=(4, 200, 200))
    return t.source(path)


def slow(t, target, *more):
    """A rewrite of some seconds, however fast the machine: every write of the target takes its time."""
    return [t / "in.h5", target, "-c", "160,10,10", "-j", "2", *more], shim(".%s.rechunk-" % target.name, "write", sleep_us=8000)


def start(arguments, env):
    return subprocess.Popen([harness.binary("rechunk"), *map(str, arguments)], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True)


def test_json_events(t):
    make_source(t)
    arguments, env = slow(t, t / "out.zarr", "--progress", "json", "--verify", "full")
    done = t.rechunk(*arguments, env=env)
    events = [json.loads(line) for line in done.err.splitlines()]
    kinds = {event["event"] for event in events}
    t.equal("kinds of events", {"progress", "done"}, kinds - {"note"})
    t.equal("the last event", "done", events[-1]["event"])
    progress = [event for event in events if event["event"] == "progress"]
    t.equal("phases", ["rewriting", "verifying"], list(dict.fromkeys(event["phase"] for event in progress)))
    rewriting = [event for event in progress if event["phase"] == "rewriting"]
    t.check(len(rewriting) >= 2, "only %d events" % len(rewriting))
    done_bytes = [event["done_bytes"] for event in rewriting]
    t.equal("bytes done never become less", sorted(done_bytes), done_bytes)
    t.equal("bytes at the end", (160 * 200 * 200 * 4,) * 2, (done_bytes[-1], rewriting[-1]["total_bytes"]))
    t.equal("time left at the end", 0, rewriting[-1]["left_s"])
    t.equal("threads", 2, rewriting[-1]["threads"])
    t.check(any(event["limited_by"] == "write" for event in rewriting),
            "slow writes are not told: %s" % [event["limited_by"] for event in rewriting])
    failed = t.rechunk(t / "in.h5", t / "out.zarr", "--progress", "json", code=8)
    last = [json.loads(line) for line in failed.err.splitlines() if line.startswith("{")][-1]
    t.equal("the event of a failure", ("failed", 8), (last["event"], last["code"]))
    t.rechunk(t / "in.h5", t / "x.zarr", "--progress", "xml", code=2)


def test_state_on_request(t):
    """SIGUSR1 prints the state, also where no progress is asked for, and disturbs nothing."""
    make_source(t)
    target = t / "out.zarr"
    arguments, env = slow(t, target, "--progress", "none")
    process = start(arguments, env)
    for _ in range(4):
        time.sleep(0.4)
        if process.poll() is None:
            process.send_signal(signal.SIGUSR1)
    _, err = process.communicate(timeout=120)
    t.equal("exit code", 0, process.returncode)
    t.check(re.search(r"^rewriting +\d+ %  .* of 24\.4 MiB", err, re.M), "no state on stderr: %s" % err)
    t.check(target.exists(), "no target")


def test_interrupted_soon(t):
    """SIGINT ends within five seconds with exit 10, in every phase."""
    make_source(t)
    for i, (call, pause_s) in enumerate((("write", 0.3), ("write", 1.0), ("read", 0.5), ("sync", 0.5))):
        target = t / ("out-%d.zarr" % i)
        arguments, env = slow(t, target)
        if call != "write":
            env = shim("rechunk-" if call == "sync" else "in.h5", call, sleep_us=300000)
        process = start(arguments, env)
        time.sleep(pause_s)
        process.send_signal(signal.SIGINT)
        asked = time.monotonic()
        _, err = process.communicate(timeout=60)
        seconds = time.monotonic() - asked
        if process.returncode == 0:
            continue  # it was faster
        t.equal("exit code with slow %ss" % call, 10, process.returncode)
        t.check(not target.exists(), "a target is there")
        # Five seconds on a machine that does nothing else.
        t.check(seconds < 30, "it took %.1f s to end with slow %ss: %s" % (seconds, call, err))


if __name__ == "__main__":
    harness.main(globals())

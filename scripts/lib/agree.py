"""Simulated against measured waits; started by scripts/agree."""

import argparse
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

# Twenty slots and visits of twenty seconds: a line of some minutes. People who leave, sleep, come late and stay away.
CONFIG = """
[server]
listen = ["127.0.0.1:{port}"]
admin_listen = "127.0.0.1:{admin}"
[upstream]
url = "http://127.0.0.1:9"
[store]
url = "embedded:{data}"
[[room]]
name = "sale"
routes = ["/*"]
total_active_users = 20
session_duration = "60s"
claim_deadline = "20s"
{more}
"""
# The same room, and one whose slots belong to active sessions, with people who pause for long now and then.
WAYS = {
    "session": ("", []),
    "active": ('slots = "active"\nidle_after = "8s"', ["--pause", "4s"]),
}
CROWD = ["--visitors", "200", "--arrive", "30s", "--inside", "20s", "--leave", "5%", "--sleep", "5%", "--sleep-for", "20s",
         "--late", "5%", "--no-show", "5%", "--for", "20min"]
WITHIN = {"p50": 0.10, "p95": 0.20}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the gate does not listen")


def measured(binary, folder, seed, way):
    """The report of a rehearsal at a gate of its own."""
    more, people = WAYS[way]
    port, admin = free_port(), free_port()
    config = folder / "config.toml"
    config.write_text(CONFIG.format(port=port, admin=admin, data=folder / "data", more=more))
    with open(folder / "gate.log", "w") as log:
        gate = subprocess.Popen([binary, "run", "--config", config], stdout=log, stderr=log)
    try:
        listens(port)
        report = folder / "rehearsal.json"
        with open(report, "w") as out:
            subprocess.run([binary, "rehearse", "--config", config, "--admin", f"127.0.0.1:{admin}", "--room", "sale",
                            "--seed", str(seed), "--format", "json", *CROWD, *people],
                           check=True, stdout=out, stderr=subprocess.DEVNULL, timeout=1500)
        return config, report
    finally:
        gate.terminate()
        gate.wait(30)


def compare(binary, folder, seed, way):
    config, report = measured(binary, folder, seed, way)
    simulated = subprocess.run([binary, "simulate", "--config", config, "--like", report, "--format", "json"],
                               check=True, capture_output=True, text=True, timeout=300)
    was, is_said = json.loads(report.read_text()), json.loads(simulated.stdout)
    good = True
    for name, rehearsed, told in (("called", "until_called", "waits"), ("inside", "until_inside", "waits_to_door")):
        for percentile, within in WITHIN.items():
            a, b = (waits[f"{percentile}_secs"] for waits in (was["waits"][rehearsed], is_said[told]))
            off = abs(b - a) / max(a, 0.001)
            good &= off <= within
            print(f"slots {way}, seed {seed}: until {name} {percentile}: measured {a:6.1f} s, simulated {b:6.1f} s, "
                  f"off by {off:5.1%} (at most {within:.0%}){'' if off <= within else '  TOO FAR'}", flush=True)
    came, claims = was["waits"]["until_inside"]["count"], is_said["claims"]
    print(f"slots {way}, seed {seed}: came in: measured {came}, simulated {claims}", flush=True)
    return good and is_within_slots(seed, was.get("active"), is_said["ways"][0])


def is_within_slots(seed, was, simulated):
    """The shop never saw more sessions with a request in the last `idle_after` than slots, and some came back."""
    if not was:
        return simulated["slots"] == "session"
    returns = simulated["returns"]["alone"] + simulated["returns"]["together"]
    print(f"slots active, seed {seed}: most active at once: measured {was['most']}, simulated {simulated['most_sessions']}, of "
          f"{was['slots']} slots; {returns} returns simulated; {was['parked']} saw the page, the longest answer took "
          f"{was['longest_secs']:.1f} s", flush=True)
    return was["most"] <= was["slots"] and simulated["above"] == 0 and returns > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gate", default="target/debug/ropeline")
    parser.add_argument("--slots", choices=list(WAYS), action="append", help="only this way to give slots away")
    parser.add_argument("seeds", nargs="*", type=int)
    args = parser.parse_args()
    good = True
    for seed in args.seeds or [1, 2, 3]:
        for way in args.slots or WAYS:
            with tempfile.TemporaryDirectory() as folder:
                good &= compare(args.gate, pathlib.Path(folder), seed, way)
    sys.exit(0 if good else "simulated and measured waits do not agree")


main()

"""The crowd that active slots are judged by; started by scripts/active."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

# The shop ends a session with its last answer, and holds the slot during a payment.
CONFIG = """
[server]
listen = ["127.0.0.1:8080"]
[upstream]
url = "http://127.0.0.1:9"
[store]
url = "embedded:{data}"
[[room]]
name = "shop"
routes = ["/*"]
total_active_users = 300
slots = "active"
idle_after = "60s"
max_sessions = 900
hold_slot = [{{ route = "POST /checkout", for = "5 min" }}]
background = ["/cart/poll"]
ends_on = [{{ route = "/thanks", status = 200 }}]
"""
# Nobody stays away when called, or gives up: these habits cost slots in either way.
CROWD = ["--leave", "0%", "--sleep", "0%", "--late", "0%", "--no-show", "0%", "--tabs", "0%", "--visitors", "6000", "--over", "20min",
         "--stay", "2min", "--pause", "15s", "--pay", "10%", "--polling", "20%", "--silent", "25min:90s", "--stampede", "45min"]
GATES = ["--gates", "1,3"]

# Name, figure of both ways, and whether that is good enough.
RULES = [
    ("slots with a busy visitor", lambda session, active: active["busy"] / active["ceiling"], 0.9, "at least 90 % of the ceiling"),
    ("half inside after", lambda session, active: 1 - active["median_wait_secs"] / session["median_wait_secs"], 0.5,
     "at most half of today's"),
    ("returns within 1 s", lambda session, active: active["returns"]["within_a_second"] / max(active["returns"]["alone"], 1), 0.999,
     "at least 99.9 % of independent ones"),
    ("sessions above the slots", lambda session, active: -active["above"], 0, "none"),
]


def simulate(binary, folder, seed, more):
    config = folder / "config.toml"
    config.write_text(CONFIG.format(data=folder / "data"))
    command = [binary, "simulate", "--config", config, "--seed", str(seed), "--format", "json", *CROWD, *GATES, *more]
    told = subprocess.run(command, check=True, capture_output=True, text=True, timeout=1500)
    return json.loads(told.stdout)


def minutes(secs):
    return f"{int(secs) // 60} min {int(secs) % 60} s"


def row(seed, outcome):
    session, active = (next(way for way in outcome["ways"] if way["slots"] == slots) for slots in ("session", "active"))
    returns = active["returns"]
    share = returns["within_a_second"] / max(returns["alone"], 1)
    commands = " / ".join(f"{bill['commands']:.0f}" for bill in outcome["bills"])
    print(f"| {seed} | {session['busy']:.1%} | {active['busy']:.1%} of {active['ceiling']:.1%} ({active['busy'] / active['ceiling']:.1%}) "
          f"| {minutes(session['median_wait_secs'])} | {minutes(active['median_wait_secs'])} | {returns['alone']} | {share:.2%} "
          f"| {returns['p999_secs']:.1f} s | {returns['together']} | {minutes(returns['together_max_secs'])} "
          f"| {active['most_sessions']} of {active['capacity']} | {session['thrown_out']} / {active['thrown_out']} | {commands} |",
          flush=True)
    return [f"seed {seed}: {name}: {figure(session, active):.4f}, where {bound} ({words}) is wanted"
            for name, figure, bound, words in RULES if figure(session, active) < bound]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gate", default="target/debug/ropeline")
    parser.add_argument("seeds", nargs="*", type=int)
    args, more = parser.parse_known_args()
    print("| seed | busy, session | busy, active | half inside after, session | active | returns | within 1 s | 99.9 % within "
          "| returns at once | the longest | most active | thrown out, session / active | commands a second, 1 / 3 gates |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    missed = []
    for seed in args.seeds or [1, 2, 3, 4, 5]:
        with tempfile.TemporaryDirectory() as folder:
            missed += row(seed, simulate(args.gate, pathlib.Path(folder), seed, more))
    sys.exit("\n".join(missed) or 0)


main()

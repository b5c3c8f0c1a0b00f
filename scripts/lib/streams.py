"""What an event stream takes of the gate's own memory in the clear, over TLS and over HTTP/2 (scripts/size streams)."""

import argparse
import re
import sys
import time
import types

from bench import LOAD_CORE, PATIENCE_SECS, ask, ready

# Streams of one ticket, which is as many as may be configured.
EACH = 100
# Tickets whose streams are there before memory is looked at, and those that come then.
FIRST, MORE = 5, 10
# Until hyper's buffers of the answers' heads are gone, and the first comments were sent.
SETTLED_SECS = 5
WAYS = {
    "HTTP/1.1 in the clear": ("http", ["--h1", f"-c{EACH}"]),
    "HTTP/1.1 over TLS 1.3": ("https", ["--h1", f"-c{EACH}"]),
    "HTTP/2 over TLS 1.3, a connection each": ("https", [f"-c{EACH}", "-m1"]),
    f"HTTP/2 over TLS 1.3, {EACH} streams a connection": ("https", ["-c1", f"-m{EACH}"]),
}


def own_bytes(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as file:
        return 1024 * sum(int(size) for size in re.findall(r"Private_(?:Clean|Dirty):\s+(\d+)", file.read()))


def opened(admin):
    _, _, said = ask(admin, "/metrics")
    return int(re.search(r"^ropeline_streams (\d+)", said.decode(), re.M).group(1))


def open_streams(bench, scheme, port, extra, tickets):
    url = f"{scheme}://127.0.0.1:{port}/.ropeline/rooms/held/events"
    for _ in range(tickets):
        cookie = bench.waiting(port, scheme == "https")["Cookie"]
        command = ["h2load", "-t1", f"-n{EACH}", *extra, "-H", f"Cookie: {cookie}", url]
        bench.run(LOAD_CORE, command, "h2load")


def until_open(admin, count):
    deadline = time.monotonic() + PATIENCE_SECS
    while opened(admin) != count:
        if time.monotonic() > deadline:
            sys.exit(f"{opened(admin)} streams are open, not {count}")
        time.sleep(0.2)
    time.sleep(SETTLED_SECS)


def measured(bench, scheme, extra):
    gate, plain, tls = bench.start("gate")
    admin, port = bench.admin, plain if scheme == "http" else tls
    open_streams(bench, scheme, port, extra, FIRST)
    until_open(admin, FIRST * EACH)
    before = own_bytes(gate.process.pid)
    open_streams(bench, scheme, port, extra, MORE)
    until_open(admin, (FIRST + MORE) * EACH)
    after = own_bytes(gate.process.pid)
    bench.end(gate)
    return (after - before) / (MORE * EACH)


def main():
    parser = argparse.ArgumentParser(prog="streams.py")
    parser.add_argument("gate", help="a binary")
    options = types.SimpleNamespace(gate=parser.parse_args().gate)
    print(f"\n| {MORE * EACH} streams beside {FIRST * EACH} | bytes each |\n| --- | --- |")
    for way, (scheme, extra) in WAYS.items():
        with ready(options) as bench:
            print(f"| {way} | {measured(bench, scheme, extra):,.0f} |", flush=True)


main()

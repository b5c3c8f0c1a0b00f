"""What scripts/build-pgo has a gate do while it counts: all that a crowd asks of it, in the clear and over TLS."""

import argparse
import os
import socket
import sys
import types

from bench import CHROMIUM, CROWD, PATIENCE_SECS, as_options, ready

SECS = 3
STREAMS = 100
HELD = "/.ropeline/rooms/held"


def main():
    parser = argparse.ArgumentParser(prog="train.py")
    parser.add_argument("gate", help="a binary that counts")
    options = types.SimpleNamespace(gate=parser.parse_args().gate, seconds=SECS)
    with ready(options) as bench:
        gate, port, tls = bench.start("gate")
        for title, load in loads(bench, port, tls):
            print(f"{title} …", file=sys.stderr, flush=True)
            load()
        # It writes its counts as it ends.
        bench.end(gate)
        if gate.process.returncode:
            sys.exit(f"the gate ended with {gate.process.returncode}: its counts are lost")


def loads(bench, port, tls):
    plain, secured = f"http://127.0.0.1:{port}", f"https://127.0.0.1:{tls}"
    inside = {"Cookie": bench.cookies(port, "/a")}
    inside_tls = {"Cookie": bench.cookies(tls, "/a", over_tls=True)}
    fields, fields_tls = (as_options(one) for one in (inside, inside_tls))
    waiting = bench.waiting(port)
    upload = os.path.join(bench.folder, "upload")
    with open(upload, "wb") as file:
        file.write(b"0" * 4096)
    yield "forwarded, in no room", lambda: bench.wrk(f"{plain}/free/a")
    yield "forwarded with a pass", lambda: bench.wrk(f"{plain}/a", inside)
    yield "the same over TLS", lambda: bench.wrk(f"{secured}/a", inside_tls)
    yield "the same over HTTP/2", lambda: bench.h2load(f"{secured}/a", ["-c8", "-m8", *fields_tls], 20_000 * SECS)
    yield "uploads", lambda: bench.h2load(f"{plain}/a", ["--h1", "-c8", "-d", upload, *fields], 10_000)
    yield "a connection for each few", lambda: [bench.h2load(f"{secured}/a", ["-c100", *fields_tls], 400) for _ in range(10)]
    yield "joins", lambda: bench.wrk(f"{plain}/held/a", {}, CROWD)
    yield "joins one after another", lambda: bench.wrk(f"{plain}/held/a", connections=1)
    yield "status", lambda: bench.wrk(f"{plain}{HELD}/status", waiting)
    yield "pages of who waits", lambda: bench.wrk(f"{plain}/held/a", waiting)
    yield "event streams while others join", lambda: streams(bench, port)


def streams(bench, port):
    opened = []
    for _ in range(STREAMS):
        fields = {**CHROMIUM, **bench.waiting(port)}
        lines = [f"GET {HELD}/events HTTP/1.1", "Host: localhost", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
        connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECS)
        connection.sendall("\r\n".join(lines).encode())
        opened.append(connection)
    for connection in opened:
        if not connection.recv(64).startswith(b"HTTP/1.1 200"):
            sys.exit("an event stream is refused")
    bench.wrk(f"http://127.0.0.1:{port}/held/a", {}, CROWD)
    for connection in opened:
        connection.close()


main()

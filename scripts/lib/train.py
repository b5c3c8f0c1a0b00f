"""What scripts/build-pgo has a gate do while it counts: all that a crowd asks of it, in the clear and over TLS."""

import argparse
import os
import socket
import sys
import types

from bench import BROWSER, CROWD, PATIENCE_SECS, ready

SECS = 3
STREAMS = 100
CHROMIUM = {
    **BROWSER,
    "Accept-Encoding": "gzip, deflate, br, zstd",
    "Accept-Language": "de-DE,de;q=0.9,en;q=0.8",
    "Cache-Control": "max-age=0",
    "Sec-CH-UA": '"Chromium";v="140", "Not=A?Brand";v="24"',
    "Sec-CH-UA-Mobile": "?0",
    "Sec-CH-UA-Platform": '"Linux"',
    "Sec-Fetch-User": "?1",
    "Upgrade-Insecure-Requests": "1",
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
}
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
    inside = {**CHROMIUM, "Cookie": bench.cookies(port, "/a")}
    inside_tls = {**CHROMIUM, "Cookie": bench.cookies(tls, "/a", over_tls=True)}
    fields, fields_tls = (as_options(one) for one in (inside, inside_tls))
    waiting = bench.waiting(port)
    upload = os.path.join(bench.folder, "upload")
    with open(upload, "wb") as file:
        file.write(b"0" * 4096)
    yield "forwarded, in no room", lambda: bench.wrk(f"{plain}/free/a", CHROMIUM)
    yield "forwarded with a pass", lambda: bench.wrk(f"{plain}/a", inside)
    yield "the same over TLS", lambda: bench.wrk(f"{secured}/a", inside_tls)
    yield "the same over HTTP/2", lambda: bench.h2load(f"{secured}/a", ["-c8", "-m8", *fields_tls], 20_000 * SECS)
    yield "uploads", lambda: bench.h2load(f"{plain}/a", ["--h1", "-c8", "-d", upload, *fields], 10_000)
    yield "a connection for each few", lambda: [bench.h2load(f"{secured}/a", ["-c100", *fields_tls], 400) for _ in range(10)]
    yield "joins", lambda: bench.wrk(f"{plain}/held/a", CHROMIUM, CROWD)
    yield "joins one after another", lambda: bench.wrk(f"{plain}/held/a", CHROMIUM, 1)
    yield "status", lambda: bench.wrk(f"{plain}{HELD}/status", {**CHROMIUM, **waiting})
    yield "pages of who waits", lambda: bench.wrk(f"{plain}/held/a", {**CHROMIUM, **waiting})
    yield "event streams while others join", lambda: streams(bench, port)


def as_options(fields):
    return [part for name, value in fields.items() for part in ("-H", f"{name}: {value}")]


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
    bench.wrk(f"http://127.0.0.1:{port}/held/a", CHROMIUM, CROWD)
    for connection in opened:
        connection.close()


main()

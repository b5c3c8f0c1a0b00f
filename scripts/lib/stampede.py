"""A stampede of returns at a real gate; started by scripts/stampede."""

import asyncio
import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import time

SLOTS = 300
RIGHTS = 900
# A line behind them, of whom nobody may be called while one of them asks.
IN_LINE = 100
IDLE = 10
WITHIN = 5
PATIENCE = 240

CONFIG = """
[server]
listen = ["127.0.0.1:{port}"]
admin_listen = "127.0.0.1:{admin}"
trusted_proxies = ["127.0.0.1/32"]
[upstream]
url = "http://127.0.0.1:{shop}"
max_connections = 4000
[store]
url = "redis://127.0.0.1:{store}"
[tokens]
keys = [{{ id = "stampede", secret = "a-secret-for-one-measurement-only" }}]
audience = "stampede"
[limits]
status = {{ requests = 1000, window = "1s" }}
[[room]]
name = "shop"
routes = ["/*"]
total_active_users = {slots}
slots = "active"
idle_after = "{idle}s"
max_sessions = {rights}
session_duration = "10 min"
grace = "10 min"
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def exchange(reader, writer, request):
    """One answer on a connection: status, fields in lower case (a list), body."""
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    fields = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in head[1:] if line)]
    named = dict(fields)
    if "content-length" in named:
        body = await reader.readexactly(int(named["content-length"]))
    else:
        body = b""
        while named.get("transfer-encoding") == "chunked":
            size = int(await reader.readuntil(b"\r\n"), 16)
            body += (await reader.readexactly(size + 2))[:-2]
            if size == 0:
                break
    return int(head[0].split()[1]), fields, body


class Visitor:
    def __init__(self, port, at):
        self.port, self.at = port, at
        self.cookies = {}
        self.wire = None

    async def ask(self, target, more="Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\nAccept: text/html\r\n"):
        """Whether the shop answered, and the answer."""
        if self.wire is None:
            self.wire = await asyncio.open_connection("127.0.0.1", self.port)
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        address = f"10.{self.at >> 16}.{self.at >> 8 & 255}.{self.at & 255}"
        request = (f"GET {target} HTTP/1.1\r\nHost: shop.test\r\nX-Forwarded-For: {address}\r\n{more}"
                   + (f"Cookie: {cookies}\r\n" if cookies else "") + "\r\n")
        status, fields, body = await exchange(*self.wire, request.encode())
        for name, value in fields:
            if name == "set-cookie":
                name, _, value = value.split(";")[0].partition("=")
                self.cookies[name] = value
        named = dict(fields)
        if named.get("connection") == "close":
            self.wire = None
        return named.get("x-shop") == "1", status, named, body


class House:
    """A shop that notes who asked when, a store, and a gate between them."""

    def __init__(self, binary, folder):
        self.folder = folder
        self.port, self.admin, self.shop, self.store = (free_port() for _ in range(4))
        config = folder / "config.toml"
        config.write_text(CONFIG.format(port=self.port, admin=self.admin, shop=self.shop, store=self.store, slots=SLOTS,
                                        idle=IDLE, rights=RIGHTS))
        with open(folder / "log", "w") as log:
            self.redis = subprocess.Popen(["redis-server", "--port", str(self.store), "--save", "", "--dir", folder],
                                          stdout=log, stderr=log)
            self.gate = subprocess.Popen([binary, "run", "--config", config, "--first-start"], stdout=log, stderr=log)
        self.seen = []

    async def serve(self):
        async def answer(reader, writer):
            try:
                while True:
                    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                    session = next(line for line in head.split("\r\n") if line.startswith("ropeline-session:"))
                    self.seen.append((time.monotonic(), session.split(":", 1)[1].strip()))
                    writer.write(b"HTTP/1.1 200 OK\r\nX-Shop: 1\r\nContent-Length: 2\r\n\r\nok")
                    await writer.drain()
            except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
                pass
            finally:
                writer.close()
        return await asyncio.start_server(answer, "127.0.0.1", self.shop, backlog=4096)

    async def room(self):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.admin)
        request = f"GET /api/v1/rooms/shop HTTP/1.1\r\nHost: 127.0.0.1:{self.admin}\r\nConnection: close\r\n\r\n"
        _, _, body = await exchange(reader, writer, request.encode())
        writer.close()
        return json.loads(body)

    async def until(self, what, holds):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                room = await self.room()
                if holds(room):
                    return room
            except (OSError, KeyError, ValueError, asyncio.IncompleteReadError):
                pass
            await asyncio.sleep(0.5)
        raise SystemExit(f"not in time: {what}")

    def commands(self):
        told = subprocess.run(["redis-cli", "-p", str(self.store), "info", "stats"], capture_output=True, text=True, check=True)
        return int(next(line for line in told.stdout.splitlines() if line.startswith("total_commands_processed")).split(":")[1])

    def end(self):
        for process in (self.gate, self.redis):
            process.terminate()
            process.wait(30)


def most_within(seen, seconds):
    """Most sessions with a request in the last so many seconds, at any request."""
    last, most = {}, 0
    for at, session in seen:
        last[session] = at
        last = {session: then for session, then in last.items() if at - then < seconds}
        most = max(most, len(last))
    return most


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


async def comes_in(visitor):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if (await visitor.ask("/"))[0]:
            return
        await asyncio.sleep(1 + random.random())
    raise SystemExit("a visitor was never let in")


async def comes_back(visitor, begin):
    """How long the visitor waited, and how many pages the gate showed meanwhile."""
    await asyncio.sleep(max(0, begin + WITHIN * random.random() - time.monotonic()))
    since, pages = time.monotonic(), 0
    while time.monotonic() - since < PATIENCE:
        served, status, named, _ = await visitor.ask("/back")
        if served:
            return time.monotonic() - since, pages
        if status != 503 or named.get("ropeline-status") != "parked":
            raise SystemExit(f"a visitor who comes back is told {status} {named.get('ropeline-status')}")
        pages += 1
        await asyncio.sleep(float(named.get("retry-after", 1)))
    raise SystemExit("a visitor never came back")


async def measure(house):
    server = await house.serve()
    await house.until("the gate calls", lambda room: room["mode"] == "auto")
    visitors = [Visitor(house.port, at) for at in range(RIGHTS)]
    await asyncio.gather(*(comes_in(visitor) for visitor in visitors))
    line = [Visitor(house.port, RIGHTS + at) for at in range(IN_LINE)]
    # Twice: a visitor who never asks again is no visitor.
    for visitor in line + line:
        assert not (await visitor.ask("/"))[0], "all rights are taken"
    before = await house.until("all are idle", lambda room: room["parked"] == RIGHTS and room["waiting"] == IN_LINE)
    house.seen.clear()
    cpu, commands, begin = cpu_seconds(house.gate.pid), house.commands(), time.monotonic() + 0.5
    came = await asyncio.gather(*(comes_back(visitor, begin) for visitor in visitors))
    took = time.monotonic() - begin
    cpu, commands = cpu_seconds(house.gate.pid) - cpu, house.commands() - commands
    room = await house.room()
    server.close()
    waits, pages = [wait for wait, _ in came], sum(pages for _, pages in came)
    most = most_within(house.seen, IDLE)
    print(f"| slots | come back within {WITHIN} s | half waited | 99 of 100 | the longest | pages shown | all were back after | gate's processor time | "
          "store's commands | most in use |")
    print("| --- " * 10 + "|")
    print(f"| {SLOTS} | {RIGHTS} | {quantile(waits, .5):.1f} s | {quantile(waits, .99):.1f} s | {max(waits):.1f} s | {pages} | {took:.1f} s | "
          f"{cpu:.2f} s | {commands} | {most} |")
    faults = []
    if most > SLOTS:
        faults.append(f"the shop saw {most} visitors within {IDLE} s")
    if room["calls"] != before["calls"]:
        faults.append(f"{room['calls'] - before['calls']} visitors were called before those who came back")
    if room["waiting"] != IN_LINE or room["excess"] != 0:
        faults.append(f"of {IN_LINE} in line {room['waiting']} wait; {room['excess']} sessions are in excess")
    return faults


def main():
    with tempfile.TemporaryDirectory() as folder:
        house = House(sys.argv[1], pathlib.Path(folder))
        try:
            faults = asyncio.run(measure(house))
        finally:
            house.end()
    sys.exit("; ".join(faults) or None)


main()

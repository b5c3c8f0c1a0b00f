"""The load of scripts/flood: a flood of joins without cookies, and one visitor who keeps theirs."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

NETWORKS = 100
ADDRESSES = 200
CONNECTIONS = 16
PATIENCE = 20

WIDE = '{ requests = 1000000, window = "1s" }'
RUNS = {
    "without limits": f"[limits]\njoin = {WIDE}\njoin_network = {WIDE}\njoin_wide = {WIDE}\n",
    "limits as shipped": "",
    "and a proof of work": "[room.proof_of_work]\nenabled = true\n",
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Gate:
    def __init__(self, binary, folder, tables):
        self.port, self.admin = free_port(), free_port()
        own, rooms = (tables, "") if tables.startswith("[limits]") else ("", tables)
        config = f"""
[server]
listen = ["127.0.0.1:{self.port}"]
admin_listen = "127.0.0.1:{self.admin}"
trusted_proxies = ["127.0.0.1/32"]
[upstream]
url = "http://127.0.0.1:9"
[store]
url = "embedded:data"
{own}
[[room]]
name = "shop"
mode = "hold"
except = ["/static/*"]
{rooms}
"""
        path = os.path.join(folder, "config.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(config)
        self.log = open(os.path.join(folder, "log"), "w", encoding="utf-8")
        self.process = subprocess.Popen([binary, "run", "--config", path], cwd=folder, stdout=self.log, stderr=self.log)

    async def ready(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                if (await ask_once(self.admin, "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"))[0] == 200:
                    return
            except OSError:
                pass
            await asyncio.sleep(0.1)
        raise SystemExit("the gate is not ready")

    def cpu_secs(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)


async def ask(reader, writer, request):
    writer.write(request.encode())
    head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)).decode("latin-1")
    length = [line.split(":")[1] for line in head.split("\r\n") if line.lower().startswith("content-length:")]
    body = await asyncio.wait_for(reader.readexactly(int(length[0])), PATIENCE) if length else b""
    return int(head.split(" ", 2)[1]), head, body


async def ask_once(port, request):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        return await ask(reader, writer, request)
    finally:
        writer.close()


def page(address):
    fields = "Host: shop.test\r\nAccept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
    return f"GET / HTTP/1.1\r\n{fields}X-Forwarded-For: {address}\r\n\r\n"


async def flood(gate, a_minute, secs, words):
    """As many joins as are due, over a few connections."""
    begun, sent = time.monotonic(), 0

    async def one():
        nonlocal sent
        reader, writer = await asyncio.open_connection("127.0.0.1", gate.port)
        while (passed := time.monotonic() - begun) < secs:
            if sent >= passed * a_minute / 60:
                await asyncio.sleep(0.002)
                continue
            at, sent = sent, sent + 1
            _, head, _ = await ask(reader, writer, page(f"100.{at % NETWORKS}.7.{at // NETWORKS % ADDRESSES}"))
            word = next(line.split(": ")[1] for line in head.split("\r\n") if line.lower().startswith("ropeline-status"))
            words[word] = words.get(word, 0) + 1
        writer.close()

    await asyncio.gather(*(one() for _ in range(CONNECTIONS)))


async def honest(gate, told):
    """Joins through the endpoint for apps, doing the work where it is asked for, and says how many stand ahead."""
    sys.path.insert(0, os.path.dirname(__file__))
    begun = time.monotonic()
    own = "Host: shop.test\r\nX-Forwarded-For: 203.0.113.9\r\nContent-Length: 0\r\n"
    at = "/.ropeline/rooms/shop"
    reader, writer = await asyncio.open_connection("127.0.0.1", gate.port)
    status, _, body = await ask(reader, writer, f"POST {at}/join HTTP/1.1\r\n{own}\r\n")
    if status == 428:
        proof = await asyncio.to_thread(solve, json.loads(body))
        status, _, body = await ask(reader, writer, f"POST {at}/join HTTP/1.1\r\n{own}Ropeline-Proof: {proof}\r\n\r\n")
    joined = json.loads(body)
    told.append((time.monotonic() - begun, joined["ahead"]))
    ticket = f"Ropeline-Ticket: {joined['ticket']}\r\n"
    while True:
        _, _, body = await ask(reader, writer, f"POST {at}/check-in HTTP/1.1\r\n{own}{ticket}\r\n")
        told.append((time.monotonic() - begun, json.loads(body)["ahead"]))
        if told[-1][1] == 0:
            return writer.close()
        await asyncio.sleep(0.6)


def solve(asked):
    from hashlib import sha256

    nonces = []
    for part in range(asked["parts"]):
        seed, nonce = sha256(f"{asked['challenge']}:{part}".encode()), 0
        seed = seed.digest()
        while int.from_bytes(sha256(seed + nonce.to_bytes(4, "big")).digest()[:4], "big") > asked["most"]:
            nonce += 1
        nonces.append(f"{nonce:x}")
    return ".".join([asked["challenge"], *nonces])


async def run(binary, name, tables, a_minute, secs):
    with tempfile.TemporaryDirectory() as folder:
        gate = Gate(binary, folder, tables)
        try:
            await gate.ready()
            words, told, before = {}, [], gate.cpu_secs()
            flooding = asyncio.create_task(flood(gate, a_minute, secs, words))
            await asyncio.sleep(secs / 2)
            visitor = asyncio.create_task(honest(gate, told))
            await flooding
            spent = gate.cpu_secs() - before
            await asyncio.wait_for(visitor, 60)
        finally:
            gate.stop()
        tried = sum(words.values())
        print(
            f"{name}: {tried} joins tried in {secs} s {words}; gate {1e6 * spent / tried:.0f} us each;"
            f" somebody who came half way had {told[0][1]} ahead after {told[0][0]:.1f} s, nobody after {told[-1][0]:.1f} s",
            flush=True,
        )


def main():
    binary = os.path.abspath(sys.argv[1])
    a_minute = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    secs = int(sys.argv[3]) if len(sys.argv) > 3 else 30
    for name, tables in RUNS.items():
        asyncio.run(run(binary, name, tables, a_minute, secs))


main()

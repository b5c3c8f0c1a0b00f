"""What visitors notice while a gate is restarted, upgraded and reloaded: called by scripts/restarts with the gate's binary.

One process: a shop, 2,000 event streams of visitors who wait, one visitor who joins every 50 ms, one who is inside and comes over a
new TLS connection each time, and a gate whose ports are held here, as systemd holds them. wrk runs twice, in the clear and over TLS, as
processes of their own with the passes of visitors who are inside.
"""

import asyncio
import json
import os
import re
import resource
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

WAITING = 2000
INSIDE = 8
TOGETHER = 16
PATIENCE = 60.0
NAVIGATION = "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"


class Failed(Exception):
    """Something that a visitor would have noticed."""


def check(what, holds):
    if not holds:
        raise Failed(what)


async def patiently(what, ask):
    """Asks until there is an answer."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        answer = await ask()
        if answer:
            return answer
        await asyncio.sleep(0.05)
    raise Failed(f"never came: {what}")


async def shop(reader, writer):
    """Answers everything with a page, on connections that are kept."""
    body = b"the shop\n"
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    try:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
        writer.close()


class Visitor:
    """Somebody with a jar of cookies, who counts what goes wrong."""

    failures = []

    def __init__(self, port, tls=None):
        self.port = port
        self.tls = tls
        self.jar = {}

    def head(self, line, fields):
        cookies = "; ".join(f"{name}={value}" for name, value in self.jar.items())
        cookie = f"Cookie: {cookies}\r\n" if cookies else ""
        return f"{line} HTTP/1.1\r\nHost: shop.test\r\n{fields}{cookie}\r\n".encode()

    async def opens(self, line, fields):
        """Sends a request; a failure on the way to the answer's head is one that a visitor notices."""
        try:
            reader, writer = await self.connects(self.head(line, fields))
            head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)).decode()
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
            self.failures.append(f"{line}: {error!r}")
            raise Failed(f"{line}: {error!r}") from error
        for cookie in re.findall(r"(?im)^set-cookie: ([^;\r\n]*)", head):
            name, value = cookie.split("=", 1)
            self.jar[name] = value
        return head, reader, writer

    async def connects(self, head):
        """Speaks as soon as it is connected: one process for thousands of visitors has other things to do in between, and a
        connection that says nothing for a second is closed by a gate that drains."""
        if self.tls:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port, ssl=self.tls)
            writer.write(head)
            return reader, writer
        connection = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        connection.sendall(head)
        return await asyncio.open_connection(sock=connection)

    async def asks(self, line, fields=""):
        head, reader, writer = await self.opens(line, "Connection: close\r\n" + fields)
        try:
            body = await asyncio.wait_for(reader.read(), PATIENCE)
        except (OSError, asyncio.TimeoutError) as error:
            self.failures.append(f"{line}: {error!r}")
            raise Failed(f"{line}: {error!r}") from error
        writer.close()
        status = int(head.split(" ", 2)[1])
        if status >= 500 and not re.search(r"(?im)^ropeline-status: (waiting|closed)\b", head):
            self.failures.append(f"{line}: {status}")
        if "transfer-encoding: chunked" in head.lower():
            body = b"".join(re.findall(rb"[0-9a-fA-F]+\r\n(.*?)\r\n(?=[0-9a-fA-F]+\r\n)", body, re.S))
        return status, head, body

    async def goes(self):
        return await self.asks("GET /", NAVIGATION)

    async def position(self):
        fields = "Accept: application/json\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\nSec-Fetch-Site: same-origin\r\n"
        _, _, body = await self.asks("GET /.ropeline/rooms/shop/status", fields)
        return json.loads(body).get("position")


class Stream:
    """The waiting page's event stream: reads, and comes back when it ends."""

    up = 0
    ended = 0

    def __init__(self, visitor):
        self.visitor = visitor
        self.place = 0

    async def runs(self):
        while True:
            try:
                head, reader, writer = await self.visitor.opens(
                    "GET /.ropeline/rooms/shop/events", "Accept: text/event-stream\r\n"
                )
            except Failed:
                await asyncio.sleep(1)
                continue
            if not head.startswith("HTTP/1.1 200"):
                Visitor.failures.append(f"a stream: {head.splitlines()[0]}")
                writer.close()
                await asyncio.sleep(1)
                continue
            is_up = False
            try:
                async for line in reader:
                    if line.startswith(b"data:"):
                        told = json.loads(line[5:])
                        if not is_up:
                            is_up = True
                            Stream.up += 1
                        if told.get("state") not in (None, "waiting"):
                            Visitor.failures.append(f"a stream: {told}")
            except ConnectionError as error:
                Visitor.failures.append(f"a stream was cut: {error!r}")
            finally:
                writer.close()
                Stream.up -= is_up
                Stream.ended += 1


class Gate:
    """A gate whose ports this process holds; restarted, upgraded and reloaded."""

    def __init__(self, binary, folder, store):
        self.binary = os.path.abspath(binary)
        self.folder = folder
        self.store = store
        self.front, self.secured = self.listener(), self.listener()
        with self.listener() as admin:
            self.admin = admin.getsockname()[1]
        self.port, self.tls_port = (held.getsockname()[1] for held in (self.front, self.secured))
        for name in ("one", "two"):
            self.issue(name)
        self.processes = []
        self.log = open(os.path.join(folder, "log"), "ab")

    @staticmethod
    def listener():
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen(4096)
        return listener

    def issue(self, name):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
             "-subj", f"/CN={name}.shop.test", "-addext", "subjectAltName=DNS:shop.test",
             "-addext", "basicConstraints=critical,CA:FALSE", "-keyout", f"{name}.key", "-out", f"{name}.pem"],
            cwd=self.folder, check=True, capture_output=True,
        )

    def certificate(self, name):
        with open(os.path.join(self.folder, f"{name}.pem"), encoding="utf-8") as file:
            return ssl.PEM_cert_to_DER_cert(file.read())

    async def shown(self):
        """The certificate that visitors are shown."""
        _, writer = await asyncio.open_connection("127.0.0.1", self.tls_port, ssl=TLS)
        certificate = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        return certificate

    def configure(self, shop_port, certificate="one", settings="", more=""):
        self.shop_port = shop_port
        config = f"""
[server]
listen = ["systemd:front"]
admin_listen = "127.0.0.1:{self.admin}"
max_connections_per_client = 20000
drain_deadline = "20s"
[tls]
listen = ["systemd:secured"]
certificates = [{{ cert_file = "{certificate}.pem", key_file = "{certificate}.key" }}]
[upstream]
url = "http://127.0.0.1:{shop_port}"
[store]
url = "{self.store}"
[tokens]
keys = [{{ id = "k", secret = "a secret for restarts, long enough for any key ring" }}]
[limits]
join = {{ requests = 10000, window = "1s" }}
join_network = {{ requests = 10000, window = "1s" }}
join_wide = {{ requests = 10000, window = "1s" }}
status_network = {{ requests = 20000, window = "1s" }}
streams_per_client = 10000
{more}
[[room]]
name = "shop"
total_active_users = {INSIDE}
session_duration = "20 min"
{settings}
"""
        path = os.path.join(self.folder, "config.toml")
        with open(path + ".next", "w", encoding="utf-8") as file:
            file.write(config)
        os.rename(path + ".next", path)

    def start(self):
        shell = (
            "exec 3<&0 4>&1 </dev/null >/dev/null; export LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=front:secured;"
            ' exec "$@"'
        )
        process = subprocess.Popen(
            ["/bin/sh", "-c", shell, "sh", self.binary, "run", "--first-start", "--config", "config.toml"],
            cwd=self.folder,
            stdin=self.front.fileno(),
            stdout=self.secured.fileno(),
            stderr=self.log,
            start_new_session=True,
        )
        self.processes.append(process)
        self.pid = process.pid

    async def until_ready(self):
        async def ready():
            return (await self.asks("GET /readyz", failing=True))[0] == 200

        await patiently("a gate that is ready", ready)

    async def asks(self, line, failing=False):
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.admin)
            fields = "Host: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
            writer.write(f"{line} HTTP/1.1\r\n{fields}\r\n{{}}".encode())
            answer = await asyncio.wait_for(reader.read(), PATIENCE)
            writer.close()
            head, body = answer.split(b"\r\n\r\n", 1)
            return int(head.split(b" ", 2)[1]), body
        except (OSError, ValueError, asyncio.TimeoutError):
            if failing:
                return 0, b""
            raise

    async def epoch(self):
        _, body = await self.asks("GET /api/v1/gates")
        return json.loads(body)["log"]["position"].split("-")[0]

    async def live(self):
        status, body = await self.asks("GET /api/v1/gates", failing=True)
        gate = json.loads(body)["gate"] if status == 200 else {}
        return gate.get("condition") == "live" and not gate.get("healing_secs")

    def ended(self, pid):
        for process in self.processes:
            process.poll()
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                return file.read().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            return True

    async def restart(self):
        """Told to stop, waited for, started anew; the port stays open meanwhile."""
        pid = self.pid
        os.kill(pid, signal.SIGTERM)

        async def ended():
            return self.ended(pid)

        await patiently("the end of the gate", ended)
        self.start()
        await self.until_ready()

    async def upgrade(self):
        pid = self.pid
        command = await asyncio.create_subprocess_exec(
            self.binary, "upgrade", "--format", "json", "--admin", f"127.0.0.1:{self.admin}",
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(command.communicate(), 2 * PATIENCE)
        check(f"an upgrade did not come about: {err.decode()}", command.returncode == 0)
        self.pid = json.loads(out)["pid"]
        check("the process is another", self.pid != pid)

        async def ended():
            return self.ended(pid)

        await patiently("the end of the process before", ended)

    async def upgrades(self):
        """Three in a row; the next comes as soon as the one before is told."""
        for _ in range(3):
            await self.upgrade()

    async def reload(self):
        command = await asyncio.create_subprocess_exec(
            self.binary, "reload", "--admin", f"127.0.0.1:{self.admin}", stderr=subprocess.PIPE
        )
        _, err = await asyncio.wait_for(command.communicate(), PATIENCE)
        check(f"a reload did not come about: {err.decode()}", command.returncode == 0)

    async def change(self):
        """Another length of sessions, an exception and a room more, and another certificate."""
        room = '[[room]]\nname = "vip"\nroutes = ["/vip/*"]\nmode = "closed"'
        settings = 'claim_deadline = "3 min"\nexcept = ["/free/*"]'
        self.configure(self.shop_port, "two", settings, room)
        await self.reload()
        _, head, _ = await Visitor(self.port).asks("GET /vip/a", NAVIGATION)
        check(f"the new room is closed: {head}", "ropeline-status: closed" in head.lower())
        _, _, body = await Visitor(self.port).asks("GET /free/a", NAVIGATION)
        check(f"the new exception is open: {body}", body.startswith(b"the shop"))
        check("visitors are shown the new certificate", await self.shown() == self.certificate("two"))

    def kill(self):
        for pid in {self.pid, *(process.pid for process in self.processes)}:
            if not self.ended(pid):
                os.kill(pid, signal.SIGKILL)
        for process in self.processes:
            process.wait()


async def wrk(gate, insider, seconds):
    """wrk for so long, with the pass of one who is inside, the way that one came; what it says at its end."""
    cookies = "; ".join(f"{name}={value}" for name, value in insider.jar.items())
    scheme, connections = ("https", 16) if insider.tls else ("http", 32)
    script = os.path.join(gate.folder, f"{scheme}.lua")
    with open(script, "w", encoding="utf-8") as file:
        file.write(
            "done = function(summary, latency)\n"
            " local e = summary.errors\n"
            " io.write(string.format('%d %d %d %d %d %d %d\\n', summary.requests, e.connect, e.read, e.write, e.status,"
            " e.timeout, latency.max))\nend\n"
        )
    command = await asyncio.create_subprocess_exec(
        "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "-s", script, "-H", "Host: shop.test",
        "-H", f"Cookie: {cookies}", "-H", "Accept: text/html", f"{scheme}://127.0.0.1:{insider.port}/",
        stdout=subprocess.PIPE,
    )
    out, _ = await command.communicate()
    return [int(word) for word in out.decode().strip().splitlines()[-1].split()]


async def shakes(insider, shaken, stop):
    """Comes back over a new connection all the while."""
    while not stop.is_set():
        try:
            _, _, body = await insider.goes()
            shaken.append(body.startswith(b"the shop"))
        except Failed:
            pass
        await asyncio.sleep(0.02)


async def joiners(gate, joined, stop):
    """Somebody new every 50 ms, each behind all who came before, in the clear and over TLS by turns."""
    while not stop.is_set():
        visitor = Visitor(gate.tls_port, TLS) if len(joined) % 2 else Visitor(gate.port)
        try:
            await visitor.goes()
            joined.append(visitor)
        except Failed:
            pass
        await asyncio.sleep(0.05)


async def places(streams):
    """Where each of them stands."""
    all_of_them = []
    for at in range(0, len(streams), TOGETHER):
        some = streams[at : at + TOGETHER]
        all_of_them += await asyncio.gather(*(stream.visitor.position() for stream in some))
    return all_of_them


async def trial(name, gate, streams, insiders, epoch, seconds):
    """One kind of change under load; a line of the table."""
    ended, failures = Stream.ended, len(Visitor.failures)
    joined, shaken, stop = [], [], asyncio.Event()
    load = [asyncio.create_task(wrk(gate, insider, seconds)) for insider in (insiders[0], insiders[-1])]
    joins = asyncio.create_task(joiners(gate, joined, stop))
    shaking = asyncio.create_task(shakes(insiders[-2], shaken, stop))
    await asyncio.sleep(1)
    began = time.monotonic()
    await getattr(gate, name)()
    took = time.monotonic() - began
    (requests, *errors, slowest), (secured, *others, slower) = await asyncio.gather(*load)
    errors = [one + other for one, other in zip(errors, others)]
    stop.set()
    await joins
    await shaking

    async def back():
        return Stream.up == len(streams)

    await patiently("every stream", back)

    async def in_order():
        # Asking is what makes them present: they have no stream.
        positions = [await visitor.position() for visitor in joined]
        return positions == sorted(set(positions))

    await patiently("joiners in the order in which they came", in_order)
    now = await places(streams)
    lost = [(stream.place, place) for stream, place in zip(streams, now) if stream.place != place]
    failed = sum(errors) + shaken.count(False) + len(Visitor.failures) - failures
    noted = Visitor.failures[failures:]
    print(
        f"| {name} | {requests} | {secured} | {len(shaken)} | {len(joined)} | {Stream.ended - ended} | {failed} | {len(lost)} |"
        f" {took:.1f} s | {max(slowest, slower) / 1000:.0f} ms |",
        flush=True,
    )
    check(f"wrk: connect, read, write, status, timeout {errors}; visitors: {noted[:5]}", failed == 0)
    check(f"places lost or altered: {lost[:5]}", not lost)
    check("the log is the same", await gate.epoch() == epoch)
    if name not in ("reload", "change"):
        check("every stream was told to come back", Stream.ended - ended >= len(streams))


async def run(binary, kind, folder):
    store = "embedded:data"
    redis = None
    if kind == "redis":
        with Gate.listener() as free:
            port = free.getsockname()[1]
        redis = subprocess.Popen(
            ["redis-server", "--port", str(port), "--save", "", "--dir", folder, "--bind", "127.0.0.1"],
            stdout=subprocess.DEVNULL,
        )
        store = f"redis://127.0.0.1:{port}"
    server = await asyncio.start_server(shop, "127.0.0.1", 0)
    gate = Gate(binary, folder, store)
    gate.configure(server.sockets[0].getsockname()[1])
    gate.start()
    tasks = []
    try:
        await gate.until_ready()
        await patiently("a live log", gate.live)
        insiders = [Visitor(gate.port) for _ in range(INSIDE - 2)] + [Visitor(gate.tls_port, TLS) for _ in range(2)]
        for visitor in insiders:
            status, _, body = await visitor.goes()
            check(f"somebody is inside: {status}", body.startswith(b"the shop"))
            await visitor.goes()
        streams = [Stream(Visitor(gate.port)) for _ in range(WAITING)]
        for at in range(0, WAITING, TOGETHER):
            await asyncio.gather(*(stream.visitor.goes() for stream in streams[at : at + TOGETHER]))
        tasks = [asyncio.create_task(stream.runs()) for stream in streams]

        async def up():
            return Stream.up == WAITING

        await patiently("every stream", up)

        at = await places(streams)
        check("a place for everybody", sorted(at) == list(range(1, WAITING + 1)))
        for stream, place in zip(streams, at):
            stream.place = place
        epoch = await gate.epoch()
        print(f"\n{kind}: {WAITING} waiting on streams, {INSIDE} inside, log {epoch}\n")
        print(
            "| what | requests | over TLS | handshakes | joins | streams that came back | failed | places lost | took |"
            " slowest answer |"
        )
        print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
        for name, seconds in (("restart", 12), ("upgrade", 8), ("upgrades", 14), ("reload", 6), ("change", 6)):
            await trial(name, gate, streams, insiders, epoch, seconds)
    except BaseException:
        with open(os.path.join(folder, "log"), encoding="utf-8") as file:
            sys.stderr.write("".join(file.readlines()[-30:]))
        raise
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        gate.kill()
        server.close()
        gate.front.close()
        gate.secured.close()
        if redis:
            redis.kill()
            redis.wait()


def main():
    binary, *kinds = sys.argv[1:]
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for kind in kinds or ["embedded", "redis"]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                asyncio.run(run(binary, kind, folder))
            except Failed as failed:
                sys.exit(f"{kind}: {failed}")
    print("\nnobody noticed")


def trusting():
    """Whom it speaks to is known by the port."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


TLS = trusting()

if __name__ == "__main__":
    main()

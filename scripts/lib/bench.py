"""The comparison of scripts/bench: one contender at a time on a core of its own, backend and load on another."""

import argparse
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time

CONTENDER_CORE, LOAD_CORE = "0", "1"
TICKS = os.sysconf("SC_CLK_TCK")
ANSWER = "0" * 100
PATIENCE_SECS = 30
CIPHER = "TLS_AES_256_GCM_SHA384"
# hyper, rustls and tokio without the gate.
BARE = "bare hyper"
# What Chromium sends for a page; every request of the bench has it.
with open(os.path.join(os.path.dirname(__file__), "chromium.txt"), encoding="utf-8") as lines:
    CHROMIUM = dict(line.rstrip("\n").split(": ", 1) for line in lines)
# Connections over which a crowd joins.
CROWD = 256
# How much of the processor time of the build before the gate may take: rounds of one build differ by as much.
NOISE = 1.05
WIDE = '{ requests = 1000000, window = "1s" }'


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    """A program on one core, with all its children."""

    def __init__(self, core, command, folder, name, environment=None):
        self.name = name
        self.log = os.path.join(folder, f"{name}.log")
        with open(self.log, "w", encoding="utf-8") as log:
            own = {**os.environ, **(environment or {})}
            self.process = subprocess.Popen(
                ["taskset", "-c", core, *command], cwd=folder, stdout=log, stderr=log, env=own
            )

    def ids(self):
        own = [self.process.pid]
        for task in own:
            try:
                with open(f"/proc/{task}/task/{task}/children", encoding="utf-8") as file:
                    own.extend(int(child) for child in file.read().split())
            except FileNotFoundError:
                pass
        return own

    def cpu_secs(self):
        """User and system time so far."""
        total = 0
        for task in self.ids():
            with open(f"/proc/{task}/stat", encoding="utf-8") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
        return total / TICKS

    def memory_mb(self):
        total = 0
        for task in self.ids():
            with open(f"/proc/{task}/smaps_rollup", encoding="utf-8") as file:
                total += int(re.search(r"Pss:\s+(\d+)", file.read()).group(1))
        return total / 1024

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE_SECS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def wait_for(process, port, path="/free/a", ready=lambda _said: True):
    deadline = time.monotonic() + PATIENCE_SECS
    while time.monotonic() < deadline:
        if process.process.poll() is not None:
            break
        try:
            status, _, said = ask(port, path)
            if status == 200 and ready(said):
                return
        except OSError:
            pass
        time.sleep(0.1)
    with open(process.log, encoding="utf-8") as file:
        sys.exit(f"it does not answer: {process.process.args}\n{file.read()}")


def ask(port, path, fields=None, over_tls=False):
    if over_tls:
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=PATIENCE_SECS, context=anybody())
    else:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECS)
    connection.request("GET", path, headers={**CHROMIUM, **(fields or {})})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer, body


NGINX = """
daemon off; worker_processes 1; pid {folder}/{name}.pid; error_log {folder}/{name}.err;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 100000000; keepalive_timeout 1h; sendfile on; tcp_nopush on;
  client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3; uwsgi_temp_path {folder}/4;
  scgi_temp_path {folder}/5;
  {body}
}}
"""
PROXY = """
  upstream shop {{ server 127.0.0.1:{shop}; keepalive 128; keepalive_requests 100000000; }}
  ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem; ssl_protocols TLSv1.3;
  ssl_conf_command Ciphersuites {cipher};
  server {{
    listen 127.0.0.1:{port}; listen 127.0.0.1:{tls} ssl http2;
    location / {{
      proxy_pass http://shop; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto $scheme;
    }}
    location = /return {{ default_type application/json; return 200 '{status}'; }}
    location = /page.html {{ default_type text/html; root {folder}; open_file_cache max=1; }}
  }}
"""
HAPROXY = """
global
  nbthread 1
  maxconn 4096
  ssl-default-bind-ciphersuites {cipher}
defaults
  mode http
  timeout client 1h
  timeout server 1h
  timeout connect 5s
  http-reuse always
frontend all
  bind 127.0.0.1:{port}
  bind 127.0.0.1:{tls} ssl crt {folder}/both.pem alpn h2,http/1.1 ssl-min-ver TLSv1.3
  option forwardfor
  http-request set-header X-Forwarded-Proto %[ssl_fc,iif(https,http)]
  default_backend shop
backend shop
  server one 127.0.0.1:{shop}
"""
CADDY = """
{{
  admin off
  auto_https disable_redirects
}}
http://127.0.0.1:{port} {{
  reverse_proxy 127.0.0.1:{shop}
}}
"""
GATE = """
[server]
listen = ["127.0.0.1:{port}"]
admin_listen = "127.0.0.1:{admin}"
threads = 1
[tls]
listen = ["127.0.0.1:{tls}"]
certificates = [{{ cert_file = "{folder}/cert.pem", key_file = "{folder}/key.pem" }}]
[upstream]
url = "http://127.0.0.1:{shop}"
keep_alive = "1h"
[store]
url = "redis://127.0.0.1:{redis}/{database}"
[tokens]
keys = [{{ id = "bench", secret = "{secret}" }}]
[limits]
join = {wide}
join_network = {wide}
join_wide = {wide}
status = {wide}
status_network = {wide}
streams = 100
streams_per_client = 1000000
[[room]]
name = "held"
routes = ["/held/*"]
mode = "hold"
[[room]]
name = "shop"
total_active_users = 1000
except = ["/free/*"]
[[limit]]
name = "seats"
routes = ["/*"]
requests = 1000000
window = "1s"
"""


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.failed, self.running = [], []

    def prepare(self):
        """A certificate, the backend and the store that all contenders have, and a file to send."""
        if os.cpu_count() < 2:
            sys.exit("two cores are needed: one for the contender, one for the load")
        folder = self.folder
        with open(f"{folder}/page.html", "w", encoding="utf-8") as file:
            file.write(ANSWER)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
             "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"],
            check=True, capture_output=True,
        )  # fmt: skip
        os.chmod(f"{folder}/key.pem", 0o600)
        with open(f"{folder}/both.pem", "w", encoding="utf-8") as both:
            for part in ("cert", "key"):
                with open(f"{folder}/{part}.pem", encoding="utf-8") as file:
                    both.write(file.read())
        self.shop_port, self.redis_port = free_port(), free_port()
        body = f"server {{ listen 127.0.0.1:{self.shop_port}; location / {{ return 200 '{ANSWER}'; }} }}"
        self.shop = self.nginx("shop", body, LOAD_CORE)
        wait_for(self.shop, self.shop_port)
        store = ["redis-server", "--port", str(self.redis_port), "--save", "", "--bind", "127.0.0.1"]
        self.redis = self.run(LOAD_CORE, store, "redis")

    def run(self, core, command, name, environment=None):
        """Something that ends with the whole, if it does not before."""
        process = Process(core, command, self.folder, name, environment)
        self.running.append(process)
        return process

    def end(self, process):
        self.running.remove(process)
        process.stop()

    def end_all(self):
        while self.running:
            self.running.pop().stop()

    def nginx(self, name, body, core):
        path = os.path.join(self.folder, f"{name}.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(NGINX.format(folder=self.folder, name=name, body=body))
        return self.run(core, ["nginx", "-p", self.folder, "-c", path, "-e", f"{self.folder}/{name}.err"], name)

    def start(self, name, status=""):
        """A contender that answers, and its two ports."""
        values = {
            "port": free_port(), "tls": free_port(), "admin": free_port(), "shop": self.shop_port, "redis": self.redis_port,
            "folder": self.folder, "cipher": CIPHER, "wide": WIDE, "secret": "0123456789abcdef" * 3, "status": status,
            # Two builds need not read each other's snapshots.
            "database": 1 if name == "before" else 0,
        }  # fmt: skip
        port, tls, self.admin = (values[key] for key in ("port", "tls", "admin"))
        if name == "nginx":
            process = self.nginx("nginx", PROXY.format(**values), CONTENDER_CORE)
        elif name == BARE:
            process = self.bare(values)
        else:
            text, arguments = {
                "haproxy": (HAPROXY, ["haproxy", "-db", "-f"]),
                "caddy": (CADDY, ["caddy", "run", "--adapter", "caddyfile", "--config"]),
            }.get(name) or (GATE, self.gate_command(name))
            path = os.path.join(self.folder, f"{name}.conf")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.format(**values))
            only_core = {"GOMAXPROCS": "1", "HOME": self.folder}
            process = self.run(CONTENDER_CORE, [*arguments, path], name, only_core)
        wait_for(process, port)
        if name in ("gate", "before"):
            # Ready it is before: it takes some seconds to begin a log, and numbers nobody until then.
            wait_for(process, values["admin"], "/api/v1/gates", lambda said: json.loads(said)["gate"]["condition"] == "live")
        return process, port, tls

    def gate_command(self, name):
        """A gate's command up to its file, with the option of a first start, which early builds lack."""
        binary = os.path.abspath(self.options.gate if name == "gate" else self.options.before)
        told = subprocess.run([binary, "run", "--help"], capture_output=True, text=True, check=True)
        first = ["--first-start"] if "--first-start" in told.stdout else []
        return [binary, "run", *first, "--config"]

    def bare(self, values):
        command = [os.path.abspath(self.options.bare), "--return-bytes", str(len(values["status"]))]
        for option, value in (("listen", "port"), ("tls-listen", "tls"), ("upstream", "shop")):
            command += [f"--{option}", f"127.0.0.1:{values[value]}"]
        for option in ("cert", "key"):
            command += [f"--{option}", f"{self.folder}/{option}.pem"]
        return self.run(CONTENDER_CORE, command, "bare")

    def measured(self, process, load):
        """What one run of a load, which says its rate, took of the process."""
        before = process.cpu_secs()
        figures = load()
        figures["cpu_us"] = 1e6 * (process.cpu_secs() - before) / figures["requests"]
        figures["memory_mb"] = process.memory_mb()
        return figures

    def wrk(self, url, fields=None, connections=32):
        command = ["taskset", "-c", LOAD_CORE, "wrk", "-t1", f"-c{connections}", f"-d{self.options.seconds}s", "--latency"]
        command += as_options({**CHROMIUM, **(fields or {})})
        said = subprocess.run([*command, url], capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in said or "Socket errors" in said:
            sys.exit(f"not every request was answered: {said}")
        requests = int(re.search(r"(\d+) requests in", said).group(1))
        return {
            "requests": requests,
            "rate": float(re.search(r"Requests/sec:\s+([\d.]+)", said).group(1)),
            "p50_ms": in_ms(re.search(r"\n\s+50%\s+(\S+)", said).group(1)),
            "p99_ms": in_ms(re.search(r"\n\s+99%\s+(\S+)", said).group(1)),
        }

    def h2load(self, url, extra, count):
        """h2load with a line in a file for each request."""
        log = os.path.join(self.folder, "requests")
        if os.path.exists(log):
            os.remove(log)
        command = ["taskset", "-c", LOAD_CORE, "h2load", "-t1", f"-n{count}", f"--log-file={log}", *as_options(CHROMIUM), *extra, url]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        with open(log, encoding="utf-8") as file:
            lines = [line.split() for line in file]
        if len(lines) != count or any(line[1] != "200" for line in lines):
            sys.exit(f"not every request was answered: {said}")
        times = sorted(int(line[2]) / 1000 for line in lines)
        return {
            "requests": count,
            "rate": float(re.search(r", ([\d.]+) req/s", said).group(1)),
            "p50_ms": times[count // 2],
            "p99_ms": times[count * 99 // 100],
        }

    def rounds(self, title, contenders, limits):
        """Each contender in turn, for several rounds; the table of the medians, with ratios to the first."""
        rows = {name: [] for name in contenders}
        for at in range(self.options.rounds):
            for name, run in contenders.items():
                print(f"{title}, round {at + 1} of {self.options.rounds}: {name}", file=sys.stderr, flush=True)
                rows[name].append(run())
        medians = {
            name: {key: statistics.median(row[key] for row in found) for key in found[0]} for name, found in rows.items()
        }
        yardstick = next(iter(medians.values()))
        print(f"\n{title}\n\n| | processor µs a request | × {next(iter(medians))} | requests/s | p50, p99 ms | MB |")
        print("| --- | --- | --- | --- | --- | --- |")
        for name, row in medians.items():
            spread = [found["cpu_us"] for found in rows[name]]
            print(
                f"| {name} | {row['cpu_us']:.1f} ({min(spread):.1f} to {max(spread):.1f}) |"
                f" {row['cpu_us'] / yardstick['cpu_us']:.2f} | {row['rate']:,.0f} |"
                f" {row['p50_ms']:.2f}, {row['p99_ms']:.2f} | {row['memory_mb']:.0f} |",
                flush=True,
            )
        for name, other, most in limits:
            ratio = medians[name]["cpu_us"] / medians[other]["cpu_us"]
            self.hold(ratio <= most, f"{title}: {name} takes {ratio:.2f} × {other}, at most {most:.2f}")
        if BARE in medians:
            # No limit: it says how much of that is the libraries', and how much the gate's own.
            name, row = list(medians.items())[-1]
            print(f"{title}: {name} takes {row['cpu_us'] / medians[BARE]['cpu_us']:.2f} × {BARE}", flush=True)
        return medians

    def gates(self, name, load):
        """The gate as the last contender, behind the build before where one is named, and the limit between the two."""
        if not self.options.before:
            return {name: self.with_one("gate", load)}, []
        before = f"{name}, before"
        return {before: self.with_one("before", load), name: self.with_one("gate", load)}, [(name, before, NOISE)]

    def hold(self, holds, sentence):
        print(f"{'holds' if holds else 'FAILS'}: {sentence}", flush=True)
        if not holds:
            self.failed.append(sentence)

    def with_one(self, name, load, status=""):
        """A run of a contender that is there for this run alone."""

        def run():
            process, port, tls = self.start(name, status)
            load(process, port, tls)
            figures = self.measured(process, lambda: load(process, port, tls))
            self.end(process)
            return figures

        return run

    def asked(self, ask):
        """What a gate that is there for this question alone says."""
        process, port, _ = self.start("gate")
        said = ask(port)
        self.end(process)
        return said

    def forward(self):
        plain = lambda _process, port, _tls: self.wrk(f"http://127.0.0.1:{port}/free/a")
        contenders = {name: self.with_one(name, plain) for name in ("nginx", "haproxy", "caddy", BARE)}
        name = "gate, unprotected"
        gates, limits = self.gates(name, plain)
        self.rounds("Forwarded over HTTP/1.1, 32 connections", contenders | gates, [(name, "haproxy", 1.0), *limits])
        # Everybody has as much to read.
        theirs = {"Cookie": self.asked(lambda port: self.cookies(port, "/a"))}
        same = lambda _process, port, _tls: self.wrk(f"http://127.0.0.1:{port}/a", theirs)
        own = lambda _process, port, _tls: self.wrk(f"http://127.0.0.1:{port}/a", {"Cookie": self.cookies(port, "/a")})
        contenders = {name: self.with_one(name, same) for name in ("nginx", "haproxy", "caddy", BARE)}
        name = "gate, valid pass"
        gates, limits = self.gates(name, own)
        self.rounds("The same with the cookie of a pass", contenders | gates, [(name, "haproxy", 1.0), *limits])

    def tls(self):
        def load(_process, _port, tls):
            if agreed(tls) != CIPHER:
                sys.exit(f"another cipher was agreed on: {agreed(tls)}")
            return self.wrk(f"https://127.0.0.1:{tls}/free/a")

        contenders = {name: self.with_one(name, load) for name in ("nginx", "haproxy", BARE)}
        gates, limits = self.gates("gate", load)
        title = f"Forwarded over TLS 1.3 ({CIPHER}) and HTTP/1.1"
        self.rounds(title, contenders | gates, [("gate", "nginx", 1.1), *limits])

    def http2(self):
        count = 25_000 * self.options.seconds
        # One address may have 32 requests under way without a session (`max_unadmitted_reads`); further ones get 503.
        load = lambda _process, _port, tls: self.h2load(f"https://127.0.0.1:{tls}/free/a", ["-c8", "-m4"], count)
        contenders = {name: self.with_one(name, load) for name in ("nginx", "haproxy", BARE)}
        gates, limits = self.gates("gate", load)
        title = "Forwarded over TLS 1.3 and HTTP/2, 8 connections with 4 streams"
        self.rounds(title, contenders | gates, [("gate", "nginx", 1.2), *limits])

    def status(self):
        path = "/.ropeline/rooms/held/status"
        theirs, size = self.asked(lambda port: ((waiting := self.waiting(port)), whole_bytes(port, path, waiting)))
        fixed = lambda _process, port, _tls: self.wrk(f"http://127.0.0.1:{port}/return", theirs)
        own = lambda _process, port, _tls: self.wrk(f"http://127.0.0.1:{port}{path}", self.waiting(port))
        contenders = {name: self.with_one(name, fixed, "0" * (size - self.head_bytes(name, theirs))) for name in ("nginx", BARE)}
        gates, limits = self.gates("gate", own)
        title = f"A status answer beside nginx's return 200, both of {size} bytes with their heads, asked with the same cookie"
        self.rounds(title, contenders | gates, [("gate", "nginx", 1.35), *limits])

    def head_bytes(self, name, fields, path="/return"):
        """The length of the head of an answer that a contender gives by itself, to 100 bytes."""
        process, port, _ = self.start(name, ANSWER)
        size = whole_bytes(port, path, fields) - len(ANSWER)
        self.end(process)
        return size

    def join(self):
        """Beside nginx that sends a file as long as the page, which is what no join can be cheaper than."""
        page, spent = self.asked(lambda port: whole_bytes(port, "/held/a", {})), []
        head = self.head_bytes("nginx", {}, "/page.html")
        with open(os.path.join(self.folder, "page.html"), "w", encoding="utf-8") as file:
            file.write("0" * (page - head))
        of_file = self.with_one("nginx", lambda _process, port, _tls: self.wrk(f"http://127.0.0.1:{port}/page.html", {}, CROWD))

        def load(process, port, _tls):
            before = self.redis.cpu_secs()
            figures = self.wrk(f"http://127.0.0.1:{port}/held/a", {}, CROWD)
            if process.name == "gate":
                spent.append(1e6 * (self.redis.cpu_secs() - before) / figures["requests"])
            return figures

        title = f"Joins with their page, {page} bytes, over {CROWD} connections, beside nginx that sends as much of a file"
        gates, limits = self.gates("gate", load)
        row = self.rounds(title, {"nginx": of_file} | gates, limits)["gate"]
        self.hold(row["cpu_us"] <= 10, f"a join under load takes {row['cpu_us']:.1f} µs of the gate, at most 10")
        store = statistics.median(spent)
        self.hold(store <= 1, f"a join under load takes {store:.2f} µs of Redis, at most 1")
        trips = []

        def lone(process, port, _tls):
            before = scripts_run(self.redis_port)
            figures = self.wrk(f"http://127.0.0.1:{port}/held/a", connections=1)
            if process.name == "gate":
                trips.append((scripts_run(self.redis_port) - before) / figures["requests"])
            return figures

        gates, limits = self.gates("gate", lone)
        row = self.rounds("Joins one after another", gates, limits)["gate"]
        self.hold(row["cpu_us"] <= 40, f"a lone join takes {row['cpu_us']:.1f} µs of the gate, at most 40")
        # A tick or a checkpoint now and then besides.
        most = max(trips)
        self.hold(most <= 1.05, f"a lone join takes {most:.3f} round trips, one")

    def latency(self):
        """At half of the gate's own rate."""
        rates = lambda port: [self.wrk(f"http://127.0.0.1:{port}/free/a")["rate"] for _warm in range(2)]
        rate = int(self.asked(rates)[-1] / 2 / 16)
        steady = ["--h1", "-c16", f"--rps={rate}"]
        load = lambda _process, port, _tls: self.h2load(f"http://127.0.0.1:{port}/free/a", steady, 16 * rate * self.options.seconds)
        direct = lambda: {**load(None, self.shop_port, 0), "cpu_us": 1, "memory_mb": 0}
        contenders = {"the upstream itself": direct}
        contenders.update({name: self.with_one(name, load) for name in ("nginx", "haproxy", "gate")})
        rows = self.rounds(f"{16 * rate} requests a second, half of what the gate can", contenders, [])
        added = rows["gate"]["p99_ms"] - rows["the upstream itself"]["p99_ms"]
        self.hold(added < 0.3, f"the gate adds {added:.2f} ms to the p99, less than 0.3")

    def cookies(self, port, path, is_there=lambda word: word is None, over_tls=False):
        """Those of a visitor whom the gate says this of, by default that they are inside, once it sets no more of them."""
        jar, deadline = {}, time.monotonic() + PATIENCE_SECS
        while time.monotonic() < deadline:
            fields = {"Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())}
            _, answer, _ = ask(port, path, fields, over_tls)
            fresh = answer.headers.get_all("Set-Cookie") or []
            for line in fresh:
                name, value = line.split(";", 1)[0].split("=", 1)
                jar[name] = value
            jar = {name: value for name, value in jar.items() if value}
            if is_there(answer.getheader("Ropeline-Status")) and not fresh:
                return "; ".join(f"{name}={value}" for name, value in jar.items())
            time.sleep(0.1)
        sys.exit(f"nobody comes to be there: {path}")

    def waiting(self, port, over_tls=False):
        return {"Cookie": self.cookies(port, "/held/a", lambda word: word == "waiting", over_tls)}


@contextlib.contextmanager
def ready(options):
    """A bench with what all contenders have; all that was started ends with it, also when it is ended from outside."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        bench = Bench(options, folder)
        try:
            bench.prepare()
            yield bench
        finally:
            bench.end_all()


def as_options(fields):
    return [part for name, value in fields.items() for part in ("-H", f"{name}: {value}")]


def whole_bytes(port, path, fields):
    """The length of an answer, head and body, on a connection that is kept."""
    lines = [f"GET {path} HTTP/1.1", "Host: localhost", *(f"{name}: {value}" for name, value in {**CHROMIUM, **fields}.items()), "", ""]
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECS) as connection:
        connection.sendall("\r\n".join(lines).encode())
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        head = f"HTTP/1.1 {answer.status} {answer.reason}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in answer.getheaders())
        return len(head) + len("\r\n") + len(answer.read())


def anybody():
    """A client that takes any certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def agreed(port):
    """The cipher that a client with OpenSSL's own preferences comes to with a contender."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECS) as plain, anybody().wrap_socket(plain) as secured:
        return secured.cipher()[0]


def scripts_run(port):
    """How many scripts a Redis has run."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECS) as connection:
        connection.sendall(b"INFO commandstats\r\n")
        with connection.makefile("rb") as answer:
            said = answer.read(int(answer.readline()[1:]))
    return sum(int(calls) for calls in re.findall(rb"cmdstat_eval(?:sha)?:calls=(\d+)", said))


def in_ms(text):
    for unit, factor in (("us", 0.001), ("ms", 1), ("s", 1000)):
        if text.endswith(unit):
            return float(text[: -len(unit)]) * factor
    sys.exit(f"no time: {text}")


def main():
    parts = ["forward", "tls", "http2", "status", "join", "latency"]
    parser = argparse.ArgumentParser(prog="scripts/bench")
    parser.add_argument("--rounds", type=int, default=5, help="how often each contender has its turn")
    parser.add_argument("--seconds", type=int, default=5, help="length of a turn, beside as long to warm up")
    parser.add_argument("--only", choices=parts, action="append", help="this part alone; may be repeated")
    parser.add_argument("--gate", default="target/release/ropeline", help="a binary that is there already")
    parser.add_argument("--before", help="a build before, which takes its turn beside the gate; the gate may take no more than it")
    parser.add_argument("--bare", default="target/release/examples/bare_proxy", help=f"{BARE}, there already")
    options = parser.parse_args()
    with ready(options) as bench:
        for part in options.only or parts:
            getattr(bench, part)()
    if bench.failed:
        sys.exit("beyond their limits:\n" + "\n".join(bench.failed))


if __name__ == "__main__":
    main()

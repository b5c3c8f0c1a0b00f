"""What a request costs one gate as things grow, for scripts/size: who waits, rooms, lines, rules.

Instructions are callgrind's, of visitors' connections (`serve_connection` and all below it; what is done by the clock, whoever
asks, and the task of the connection to the shop are no part of it), between two dumps; microseconds are the serving thread's processor
time (/proc/PID/task/TID/schedstat) without callgrind, the least of some rounds.
"""

import argparse
import atexit
import glob
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

PATIENCE_SECS = 300
BROWSER = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language": "en",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Site": "none",
}
WIDE = '{ requests = 1000000, window = "1s" }'
# Instructions of the largest over those of the smallest, at most.
FLAT = 1.1
CONNECTION = "ropeline_proxy::client::connection::serve_connection*"
COUNTED, TIMED, ROUNDS = 400, 10_000, 5


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(port, method, path, fields=None, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body=body, headers=fields or {})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, answer, text


def patiently(what, ready):
    deadline = time.monotonic() + PATIENCE_SECS
    while time.monotonic() < deadline:
        try:
            if ready():
                return
        except (OSError, http.client.HTTPException, ValueError, KeyError):
            pass
        time.sleep(0.1)
    sys.exit(f"it never came to be: {what}")


class Visitor:
    """A jar of cookies."""

    def __init__(self, host="shop.test"):
        self.jar, self.host = {}, host

    def fields(self):
        return {"Host": self.host, **({"Cookie": "; ".join(f"{k}={v}" for k, v in self.jar.items())} if self.jar else {})}

    def goes(self, port, path):
        """The gate's word for its answer, none where the shop has answered."""
        _, answer, _ = ask(port, "GET", path, {**BROWSER, **self.fields()})
        for line in answer.headers.get_all("Set-Cookie") or []:
            name, value = line.split(";", 1)[0].split("=", 1)
            self.jar[name] = value
        self.jar = {name: value for name, value in self.jar.items() if value}
        return answer.getheader("Ropeline-Status")

    def becomes(self, word, port, path):
        patiently(f"{path} answered {word}", lambda: self.goes(port, path) == word)
        self.goes(port, path)


class Trial:
    """A gate on a Redis of its own, before a shop that answers a few bytes."""

    def __init__(self, options, config):
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="ropeline-growth-")
        self.port, self.admin, self.redis_port, self.shop_port = (free_port() for _ in range(4))
        with open(f"{self.folder}/nginx.conf", "w", encoding="utf-8") as file:
            paths = " ".join(
                f"{name}_temp_path {self.folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
            )
            file.write(
                f"daemon off; worker_processes 1; pid {self.folder}/nginx.pid;"
                f" events {{ worker_connections 1024; }} http {{ access_log off; keepalive_requests 100000000; {paths}"
                f" server {{ listen 127.0.0.1:{self.shop_port}; location / {{ return 200 '{'0' * 100}'; }} }} }}"
            )
        own = ["nginx", "-p", self.folder, "-c", f"{self.folder}/nginx.conf", "-e", f"{self.folder}/nginx.err"]
        store = ["redis-server", "--port", str(self.redis_port), "--save", "", "--bind", "127.0.0.1", "--dir", self.folder]
        self.others = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in (own, store)]
        with open(f"{self.folder}/gate.toml", "w", encoding="utf-8") as file:
            file.write(
                f'[server]\nlisten = ["127.0.0.1:{self.port}"]\nadmin_listen = "127.0.0.1:{self.admin}"\nthreads = 1\n'
                f'[upstream]\nurl = "http://127.0.0.1:{self.shop_port}"\nkeep_alive = "1h"\n'
                f'[store]\nurl = "{self.url()}"\n[tokens]\nkeys = [{{ id = "growth", secret = "{"0123456789abcdef" * 3}" }}]\n'
                f"[limits]\njoin = {WIDE}\njoin_network = {WIDE}\njoin_wide = {WIDE}\nstatus = {WIDE}\nstatus_network = {WIDE}\n"
                + config
            )
        self.gate = None
        atexit.register(self.end)

    def url(self):
        return f"redis://127.0.0.1:{self.redis_port}"

    def start(self, counted=False):
        command = [os.path.abspath(self.options.gate), "run", "--first-start", "--config", "gate.toml"]
        if counted:
            tool = ["--tool=callgrind", "--separate-threads=yes", f"--toggle-collect={CONNECTION}", f"--callgrind-out-file={self.folder}/counts"]
            command = ["valgrind", *tool, *command]
        with open(f"{self.folder}/log", "a", encoding="utf-8") as log:
            self.gate = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)
        patiently("a live gate", lambda: json.loads(ask(self.admin, "GET", "/api/v1/gates")[2])["gate"]["condition"] == "live")

    def stop(self):
        self.gate.terminate()
        self.gate.wait(PATIENCE_SECS)

    def hold(self, room="crowd"):
        body = json.dumps({"mode": "hold", "reason": "a trial"})
        fields = {"Content-Type": "application/json"}
        status, _, text = ask(self.admin, "PATCH", f"/api/v1/rooms/{room}", fields, body)
        if status != 200:
            sys.exit(f"the room is not held: {text}")

    def load(self, requests, path, fields):
        command = ["h2load", "--h1", "-t1", "-c4", f"-n{requests}"]
        for name, value in fields.items():
            # h2load writes a Host of its own, unless it is given so.
            command += ["-H", f"{':authority' if name == 'Host' else name}: {value}"]
        said = subprocess.run(
            [*command, f"http://127.0.0.1:{self.port}{path}"], capture_output=True, text=True, check=True
        ).stdout
        if f"status codes: {requests} 2xx" not in said:
            sys.exit(f"not every request was answered: {said}")

    def memory_mb(self):
        with open(f"/proc/{self.gate.pid}/smaps_rollup", encoding="utf-8") as file:
            text = file.read()
        return sum(int(re.search(rf"{name}:\s+(\d+)", text).group(1)) for name in ("Private_Dirty", "Private_Clean")) / 1024

    def threads(self):
        spent = {}
        for path in glob.glob(f"/proc/{self.gate.pid}/task/*/schedstat"):
            with open(path, encoding="utf-8") as file:
                spent[path] = int(file.read().split()[0])
        return spent

    def timed(self, path, fields):
        """Microseconds of the thread that serves visitors, for one request."""
        rounds = []
        for _ in range(ROUNDS):
            before = self.threads()
            self.load(TIMED, path, fields)
            rounds.append(max(now - before.get(name, 0) for name, now in self.threads().items()) / 1000 / TIMED)
        return min(rounds)

    def counted(self, path, fields):
        """Instructions of its connections for one request, the least of some rounds: one that waits for the shop is woken more or less often."""
        self.load(20, path, fields)
        self.dump()
        rounds = []
        for _ in range(ROUNDS):
            self.load(COUNTED, path, fields)
            rounds.append(self.dump() / COUNTED)
        return min(rounds)

    def dump(self):
        """What the busiest thread has done since the last dump. The last file of each is the one that counts."""
        for old in glob.glob(f"{self.folder}/counts.*"):
            os.remove(old)
        subprocess.run(["callgrind_control", "--dump", str(self.gate.pid)], check=True, capture_output=True)
        most = 0
        for path in glob.glob(f"{self.folder}/counts.*"):
            with open(path, encoding="utf-8") as file:
                found = re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M)
            most = max(most, int(found.group(1)) if found else 0)
        return most

    def end(self):
        for process in [*self.others, *([self.gate] if self.gate else [])]:
            if process.poll() is None:
                process.terminate()
                process.wait(PATIENCE_SECS)
        shutil.rmtree(self.folder, ignore_errors=True)


def room(name="crowd", more=""):
    long = 'session_duration = "2 h"\nsession_max = "8 h"\nfirm_within = "2 h"\ngrace = "4 h"\nlate_window = "4 h"\n'
    return f'[[room]]\nname = "{name}"\ntotal_active_users = 10\n{long}{more}\n'


def waiting(options, count):
    """One line of so many."""
    trial = Trial(options, room())
    trial.start()
    inside, visitor = Visitor(), Visitor()
    inside.becomes(None, trial.port, "/a")
    trial.hold()
    if count > 1:
        trial.stop()
        subprocess.run([options.crowd, "fill", str(count), trial.url()], check=True)
        trial.start()
    visitor.becomes("waiting", trial.port, "/a")
    return trial, inside, "/a", visitor, "crowd", ""


def rooms_by_path(options, count):
    """So many rooms, each below a path of its own."""
    return in_rooms(options, count, "".join(room(f"room{i}", f'routes = ["/room{i}/*"]') for i in range(count)))


def rooms_by_host(options, count):
    """So many rooms, each at a host of its own."""
    config = "".join(room(f"room{i}", f'hosts = ["shop{i}.test"]\nroutes = ["/*"]') for i in range(count))
    return in_rooms(options, count, config, f"shop{count - 1}.test")


def in_rooms(options, count, config, host="shop.test"):
    trial = Trial(options, config)
    trial.start()
    last = f"room{count - 1}"
    inside, visitor = Visitor(host), Visitor(host)
    inside.becomes(None, trial.port, f"/{last}/a")
    trial.hold(last)
    visitor.becomes("waiting", trial.port, f"/{last}/a")
    return trial, inside, f"/{last}/a", visitor, last, ""


def lines(options, count):
    """So many lines of a room, with somebody in each."""
    trial = Trial(options, room("crowd", f'routes = ["/event/{{event}}"]\nper = "{{event}}"\nmax_lines = {count + 1}'))
    trial.start()
    path = f"/event/{count // 2}"
    inside, visitor = Visitor(), Visitor()
    inside.becomes(None, trial.port, path)
    trial.hold()
    with open(f"{trial.folder}/targets", "w", encoding="utf-8") as file:
        file.writelines(f"http://127.0.0.1:{trial.port}/event/{i}\n" for i in range(count))
    said = subprocess.run(
        ["h2load", "--h1", "-t1", f"-c{min(32, count)}", f"-n{count}", f"--input-file={trial.folder}/targets"]
        + [word for name, value in BROWSER.items() for word in ("-H", f"{name}: {value}")],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    if f"status codes: {count} 2xx" not in said:
        sys.exit(f"not everybody has joined: {said}")
    visitor.becomes("waiting", trial.port, path)
    return trial, inside, path, visitor, "crowd", f"?line={count // 2}"


def rules(options, count):
    """So many limits, each on paths of its own; one is on what is asked for."""
    one = lambda i: f'[[limit]]\nname = "rule{i}"\nroutes = ["/rule{i}/*"]\nrequests = 1000000\nwindow = "1s"\n'
    return under_rules(options, count, "".join(one(i) for i in range(count)))


def rules_by_host(options, count):
    """So many limits on the same paths, each at a host of its own; one is of the host that is asked."""
    one = lambda i: f'[[limit]]\nname = "rule{i}"\nhosts = ["shop{i}.test"]\nroutes = ["/*"]\nrequests = 1000000\nwindow = "1s"\n'
    return under_rules(options, count, "".join(one(i) for i in range(count)), f"shop{count - 1}.test")


def under_rules(options, count, config, host="shop.test"):
    trial = Trial(options, room() + config)
    trial.start()
    path = f"/rule{count - 1}/a"
    inside, visitor = Visitor(host), Visitor(host)
    inside.becomes(None, trial.port, path)
    trial.hold()
    visitor.becomes("waiting", trial.port, path)
    return trial, inside, path, visitor, "crowd", ""


PARTS = {
    "waiting": (waiting, [1, 100_000, 10_000_000]),
    "rooms, by path": (rooms_by_path, [1, 100]),
    "rooms, by host": (rooms_by_host, [1, 100]),
    "lines": (lines, [1, 10_000]),
    "limit rules, by path": (rules, [1, 1_000]),
    "limit rules, by host": (rules_by_host, [1, 1_000]),
}


def measured(make, options, count):
    """Instructions and microseconds of both kinds of request, and the gate's memory."""
    trial, inside, path, visitor, name, query = make(options, count)
    try:
        kinds = [(path, inside.fields()), (f"/.ropeline/rooms/{name}/status{query}", visitor.fields())]
        memory = trial.memory_mb()
        times = [] if options.only_counts else [trial.timed(*kind) for kind in kinds]
        trial.stop()
        trial.start(counted=True)
        return [trial.counted(*kind) for kind in kinds], times, memory
    finally:
        trial.end()


def main():
    parser = argparse.ArgumentParser(prog="growth")
    parser.add_argument("--gate", default="target/release/ropeline")
    parser.add_argument("--crowd", default="target/release/examples/crowd")
    parser.add_argument("--only", choices=PARTS, action="append")
    parser.add_argument("--only-counts", action="store_true")
    options = parser.parse_args()
    print("| | how many | valid pass, instructions | status, instructions | valid pass, µs | status, µs | gate's memory |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    faults = []
    for name in options.only or PARTS:
        make, sizes = PARTS[name]
        rows = []
        for count in sizes:
            counts, times, memory = measured(make, options, count)
            rows.append(counts)
            told = [f"{each:,.0f}" for each in counts] + [f"{each:.1f}" for each in times or (0, 0)]
            print(f"| {name} | {count:,} | {' | '.join(told)} | {memory:.1f} MB |", flush=True)
        for kind, of_kind in zip(("a valid pass", "a status"), zip(*rows)):
            if of_kind[-1] > FLAT * of_kind[0]:
                faults.append(f"{name}: {kind} takes {of_kind[-1] / of_kind[0]:.2f} times as much")
    if faults:
        sys.exit("over the limit:\n" + "\n".join(faults))


main()

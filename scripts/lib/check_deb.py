"""The steps of scripts/check-deb: called in the network of a booted Debian, with its first process and its root folder.

The shop and the visitors are in this process. Commands run inside Debian. Each step prints a line of the table.
"""

import asyncio
import glob
import gzip
import json
import os
import re
import resource
import subprocess
import sys
import time
import urllib.request

from restarts import Failed, Stream, TLS, TOGETHER, Visitor, check, patiently, places, shop

WAITING = 1000
INSIDE = 8
UNITS = "ropeline.socket ropeline.service"
# With one that is off unless enabled.
ALL_UNITS = f"{UNITS} ropeline-tls.socket"
CONFIG = "/etc/ropeline/config.toml"
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LC_ALL": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
    "ROPELINE_ADMIN_TOKEN": "of-the-file-etc-ropeline-environment",
}
TOKEN = ENVIRONMENT["ROPELINE_ADMIN_TOKEN"]
# What the edited file has beside the package's: room for visitors who all come from one address.
LIMITS = """
[limits]
join = { requests = 10000, window = "1s" }
join_network = { requests = 10000, window = "1s" }
join_wide = { requests = 10000, window = "1s" }
status_network = { requests = 20000, window = "1s" }
streams_per_client = 10000
"""
MISTAKE = 'session_duration = "a while"\n'
# The rating of the units; the docs name it.
EXPOSED_AT_MOST = 1.2


class Machine:
    """The booted Debian."""

    def __init__(self, leader, root):
        self.leader = leader
        self.root = root
        self.filler = self.path("/filler")

    def path(self, inside):
        return self.root + inside

    async def tries(self, command):
        """The exit code of a shell's command, and all that it said."""
        process = await asyncio.create_subprocess_exec(
            "nsenter", "--target", self.leader, "--all", "--", "/bin/sh", "-c", command,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, env=ENVIRONMENT,
        )
        said, _ = await asyncio.wait_for(process.communicate(), 120)
        return process.returncode, said.decode().strip()

    async def does(self, command):
        code, said = await self.tries(command)
        check(f"{command} ended with {code}: {said}", code == 0)
        return said

    async def fails(self, command):
        code, said = await self.tries(command)
        check(f"{command} does not fail: {said}", code != 0)
        return said

    async def asked(self, command):
        """What it said, however it ended."""
        return (await self.tries(command))[1]

    async def journal(self, since):
        return await self.does(f"journalctl --sync && journalctl --no-pager -o cat -u ropeline.service --since @{int(since)}")

    async def main(self):
        return await self.does("systemctl show --property=MainPID --value ropeline.service")

    def fill(self, left):
        """Leaves so many bytes of the disk."""
        free = os.statvfs(self.root)
        with open(self.filler, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_frsize - left)

    def unfill(self):
        os.remove(self.filler)

    def read(self, inside):
        with open(self.path(inside), encoding="utf-8") as file:
            return file.read()

    def write(self, inside, text):
        """As an editor does: with the owner and the mode that the file has."""
        with open(self.path(inside), "w", encoding="utf-8") as file:
            file.write(text)

    def remains(self):
        """Paths that name the package; not those of this check."""
        found = []
        for folder, folders, files in os.walk(self.root):
            inside = folder[len(self.root) :]
            folders[:] = [name for name in folders if f"{inside}/{name}" not in ("/proc", "/sys", "/dev", "/srv")]
            found += [f"{inside}/{name}" for name in folders + files if "ropeline" in name]
        return sorted(found)


def http(path):
    request = urllib.request.Request(f"http://127.0.0.1:9925{path}", headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


async def admin(path):
    return await asyncio.to_thread(http, path)


async def inside_the_shop(count=1, port=80, secured=None):
    """So many, as fast as the rate lets them in."""
    visitors = [Visitor(port, secured) for _ in range(count)]
    for visitor in visitors:

        async def is_inside():
            return (await visitor.goes())[2].startswith(b"the shop")

        await patiently("a visitor inside the shop", is_inside)
    return visitors


async def empties(machine):
    """Those who came before leave, so that others have the slots."""
    await machine.does("ropeline rooms reset shop --confirm shop --reason 'another line'")


async def live():
    gate = (await admin("/api/v1/gates"))["gate"]
    return gate.get("condition") == "live" and not gate.get("healing_secs")


def installed(what):
    return f"apt-get install --yes --allow-downgrades /srv/{what}.deb"


async def full_disk(machine):
    before = machine.remains()
    machine.fill(6 << 20)
    said = await machine.fails(installed("package"))
    machine.unfill()
    told = re.search(r"cannot copy extracted data for '\./(\S+)'.*No space left on device", said, re.S)
    check(f"apt says that the disk is full: {said}", told)
    status = await machine.asked("dpkg-query --show --showformat='${db:Status-Status}' ropeline")
    check(f"nothing is installed: {status}", "no packages found" in status or status == "not-installed")
    check(f"nothing remains: {machine.remains()}", machine.remains() == before)
    return f"apt names `{told[1]}` and \"No space left on device\"; no file and no entry remains"


async def install(machine):
    said = await machine.does(installed("package"))
    check(f"says which command starts it: {said}", "systemctl enable --now ropeline" in said)
    for unit in ALL_UNITS.split():
        states = await machine.asked(f"systemctl is-active {unit}; systemctl is-enabled {unit}")
        check(f"{unit} is {states}", states == "inactive\ndisabled")
    owners = await machine.does(f"stat --format '%a %U:%G' /etc/ropeline {CONFIG} /usr/bin/ropeline && id --name --user ropeline")
    check(f"owners: {owners}", owners == "750 root:ropeline\n644 root:root\n755 root:root\nropeline")
    altered = await machine.does("dpkg --verify ropeline")
    check(f"files are as packed: {altered}", altered == "")
    version = await machine.does("ropeline --version")
    return f"{version.splitlines()[0]}; not started, not enabled; the command that starts it is printed"


async def start_without_a_shop(machine):
    since = time.time()
    await machine.fails("systemctl start ropeline")
    said = await machine.journal(since)
    check(f"the journal has the mistake: {said}", re.search(rf"{CONFIG}: line \d+: upstream.url", said))
    state = await machine.does("systemctl show --property=NRestarts,ExecMainStatus --value ropeline.service")
    check(f"one try, code 78: {state}", state.split() == ["78", "0"] or state.split() == ["0", "78"])
    mistake = next(line for line in said.splitlines() if "upstream.url" in line)
    await knocks(machine)
    return f"fails once with 78; the journal: `{mistake}`"


async def knocks(machine):
    """A visitor, or a load balancer's health check, before there is a gate: systemd starts it again and again, and gives up."""
    try:
        await Visitor(80).asks("GET /")
        check("there is no gate", False)
    except Failed:
        Visitor.failures.clear()

    async def given_up():
        return await machine.asked("systemctl is-active ropeline.socket") == "failed"

    await patiently("systemd gives up", given_up)


async def start(machine):
    text = machine.read(CONFIG).replace("#url = ", "url = ").replace("#access = ", "access = ")
    text = text.replace('"main"', '"shop"').replace("total_active_users = 100", f"total_active_users = {INSIDE}")
    text = text.replace('listen = ["systemd"]', 'listen = ["systemd"]\nmax_connections_per_client = 20000\nadmin_token = { env = "ROPELINE_ADMIN_TOKEN" }')
    machine.write(CONFIG, text + LIMITS)
    await machine.does("install --mode=600 /dev/null /etc/ropeline/environment")
    machine.write("/etc/ropeline/environment", f'ROPELINE_ADMIN_TOKEN="{TOKEN}"\n')
    checked = await machine.does(f"ropeline check {CONFIG}")
    check(f"the file is good: {checked}", "warning" not in checked)
    await machine.does("systemctl enable --now ropeline")
    states = await machine.does(f"systemctl is-active {UNITS} && systemctl is-enabled {UNITS}")
    check(f"active and enabled: {states}", states.split() == ["active", "active", "enabled", "enabled"])
    await patiently("a live log", live)
    pid = await machine.main()
    owners = await machine.does(f"stat --format %U /proc/{pid} /var/lib/ropeline /var/log/ropeline; cat /proc/1/comm")
    check(f"runs as its user: {owners}", owners.split() == ["ropeline", "ropeline", "ropeline", "systemd"])
    limit = re.search(r"Max open files +(\d+)", await machine.does(f"cat /proc/{pid}/limits"))[1]
    await machine.does("ropeline healthcheck")
    return f"`systemctl enable --now ropeline`: socket and service active, as user ropeline, {limit} descriptors"


async def requests(machine):
    await inside_the_shop()
    passed = await machine.does("systemctl show --property=Listen --value ropeline.socket")
    return f"systemd passes {passed}; a visitor gets the shop's page"


def issue(machine, host):
    """A certificate and its key, which root owns and the group of the gate may read."""
    folder = machine.path("/etc/ropeline")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
         "-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}", "-addext", "basicConstraints=critical,CA:FALSE",
         "-keyout", f"{folder}/shop.key", "-out", f"{folder}/shop.pem"], check=True, capture_output=True,
    )
    os.chown(f"{folder}/shop.key", 0, os.stat(folder).st_gid)
    os.chmod(f"{folder}/shop.key", 0o640)
    os.chmod(f"{folder}/shop.pem", 0o644)


async def tls(machine):
    issue(machine, "one.shop.test")
    text = machine.read(CONFIG)
    files = 'certificates = [{ cert_file = "/etc/ropeline/shop.pem", key_file = "/etc/ropeline/shop.key" }]'
    machine.write(CONFIG, text.replace("[upstream]", f'[tls]\nlisten = ["systemd:tls"]\n{files}\n\n[upstream]'))
    words = re.search(r"^#   (systemctl enable .*)$", machine.read("/usr/lib/systemd/system/ropeline-tls.socket"), re.M)[1]
    await machine.does(words)
    await empties(machine)
    await inside_the_shop(1, 443, TLS)
    await inside_the_shop()

    async def is_new():
        _, writer = await asyncio.open_connection("127.0.0.1", 443, ssl=TLS)
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        return b"two.shop.test" in shown

    issue(machine, "two.shop.test")
    await patiently("the new certificate", is_new)
    return "`ropeline-tls.socket` enabled: visitors over TLS on port 443 too; a renewed certificate, readable for the group, is shown"


async def security(machine):
    said = await machine.does("systemd-analyze security --no-pager ropeline.service")
    score = float(re.search(r"exposure level for ropeline.service: ([0-9.]+)", said)[1])
    check(f"exposed by {score}, not {EXPOSED_AT_MOST}", score <= EXPOSED_AT_MOST)
    return f"`systemd-analyze security`: {score}"


async def reload(machine):
    text = machine.read(CONFIG)
    machine.write(CONFIG, text.replace("\n[limits]", '\nclaim_deadline = "3 min"\n[limits]'))
    await machine.does("systemctl reload ropeline")
    told = await machine.does("ropeline reload --last")
    return f"`systemctl reload` ends with 0; `ropeline reload --last`: {told.splitlines()[0].rstrip(':')}"


async def bad_reload(machine):
    text, since = machine.read(CONFIG), time.time()
    machine.write(CONFIG, text.replace("\n[limits]", f"\n{MISTAKE}[limits]"))
    await machine.fails("systemctl reload ropeline")
    said = await machine.journal(since)
    mistake = re.search(rf"^{CONFIG}: line \d+: .*session_duration.*$", said, re.M)
    check(f"the journal has the mistake: {said}", mistake)
    await inside_the_shop()
    machine.write(CONFIG, text)
    await machine.does("systemctl reload ropeline")
    return f"fails; the journal: `{mistake[0]}`; visitors are served; mended, it ends with 0"


def logged(machine):
    """Lines of the access log, those rotated away too."""
    lines = []
    for path in glob.glob(machine.path("/var/log/ropeline/access.log*")):
        opens = gzip.open if path.endswith(".gz") else open
        with opens(path, "rt", encoding="utf-8") as file:
            lines += [json.loads(line)["url.path"] for line in file]
    return lines


async def logrotate(machine):
    asked, stop = [], asyncio.Event()

    async def asks():
        while not stop.is_set():
            path = f"/static/{len(asked)}"
            await Visitor(80).asks(f"GET {path}")
            asked.append(path)
            await asyncio.sleep(0.002)

    async def all_logged():
        return sorted(path for path in logged(machine) if path in of_asked) == sorted(asked)

    asking = asyncio.create_task(asks())
    text = machine.read(CONFIG)
    rotates = "logrotate --force /etc/logrotate.d/ropeline"
    for turn in range(4):
        # The third comes while the gate cannot reload.
        if turn == 2:
            machine.write(CONFIG, text.replace("\n[limits]", f"\n{MISTAKE}[limits]"))
        await machine.does(rotates)
        await asyncio.sleep(1)
    machine.write(CONFIG, text)
    await machine.does("systemctl reload ropeline")
    await asyncio.sleep(0.5)
    stop.set()
    await asking
    of_asked = set(asked)
    await patiently(f"a line for each of {len(asked)} requests", all_logged)
    files = await machine.does("cd /var/log/ropeline && stat --format '%n %U' access.log*")
    check(f"all are the gate's: {files}", all(line.endswith(" ropeline") for line in files.splitlines()))
    names = " ".join(line.split()[0] for line in files.splitlines())
    check(f"a new file, an old one and a packed one: {names}", {"access.log", "access.log.1", "access.log.2.gz"} <= set(names.split()))
    return f"four times, once with a mistake in config.toml: {len(asked)} requests, {len(asked)} lines, in {names}"


class Line:
    """Visitors who wait on event streams, and those inside."""

    def __init__(self, insiders, streams, tasks):
        self.insiders = insiders
        self.streams = streams
        self.tasks = tasks

    @classmethod
    async def forms(cls, machine):
        await empties(machine)
        insiders = await inside_the_shop(INSIDE)
        streams = [Stream(Visitor(80)) for _ in range(WAITING)]
        for at in range(0, WAITING, TOGETHER):
            await asyncio.gather(*(stream.visitor.goes() for stream in streams[at : at + TOGETHER]))
        line = cls(insiders, streams, [asyncio.create_task(stream.runs()) for stream in streams])
        await patiently("every stream", line.is_up)
        for stream, place in zip(streams, await places(streams)):
            stream.place = place
        check("a place for everybody", sorted(stream.place for stream in streams) == list(range(1, WAITING + 1)))
        return line

    async def is_up(self):
        return Stream.up == len(self.streams)

    async def stands(self, failures):
        """All as before, once every stream is back."""
        await patiently("every stream", self.is_up)
        now = await places(self.streams)
        lost = [(stream.place, place) for stream, place in zip(self.streams, now) if stream.place != place]
        check(f"places lost or altered: {lost[:5]}", not lost)
        for visitor in self.insiders:
            _, _, body = await visitor.goes()
            check(f"those inside stay inside: {body[:80]}", body.startswith(b"the shop"))
        check(f"visitors notice: {Visitor.failures[failures:][:5]}", len(Visitor.failures) == failures)


async def handed_over(machine, line, command):
    """Carries out what puts another process in service, while visitors come; how long it took."""
    failures, ended = len(Visitor.failures), Stream.ended
    before, epoch = await machine.main(), (await admin("/api/v1/gates"))["log"]["position"].split("-")[0]
    stop, asked = asyncio.Event(), []

    async def asks():
        while not stop.is_set():
            _, _, body = await line.insiders[0].goes()
            asked.append(body.startswith(b"the shop"))
            await asyncio.sleep(0.01)

    asking = asyncio.create_task(asks())
    began = time.monotonic()
    said = await machine.does(command)
    took = time.monotonic() - began
    await asyncio.sleep(1)
    stop.set()
    await asking
    check(f"another process serves: {said}", await machine.main() not in (before, "0"))
    await line.stands(failures)
    check("every stream was told to come back", Stream.ended - ended >= WAITING)
    check("the log is the same", (await admin("/api/v1/gates"))["log"]["position"].split("-")[0] == epoch)
    check(f"{asked.count(False)} of {len(asked)} requests failed", all(asked))
    return said, f"{WAITING} waiting, {INSIDE} inside: {Stream.ended - ended} streams came back, 0 places lost, " \
        f"{len(asked)} requests, 0 failed, {took:.1f} s"


async def to_version(machine, line, what):
    """Installs a package over the one that runs."""
    config = machine.read(CONFIG)
    said, seen = await handed_over(machine, line, installed(what))
    check(f"apt says that the new version serves: {said}", "the new version serves" in said)
    check("the edited config.toml is kept", machine.read(CONFIG) == config)
    path = await machine.does(f"readlink /proc/{await machine.main()}/exe")
    check(f"the process is of the installed binary: {path}", path == "/usr/bin/ropeline")
    versions = re.search(r"Unpacking ropeline \((\S+)\) over \((\S+)\)", said)
    return f"{versions[2]} to {versions[1]}: {seen}"


async def upgrade(machine, line):
    await machine.does(installed("older"))
    return await to_version(machine, line, "package")


async def go_back(machine, line):
    return await to_version(machine, line, "older")


async def broken_upgrade(machine, line):
    """The next version ends at once."""
    failures, ended, pid, since = len(Visitor.failures), Stream.ended, await machine.main(), time.time()
    said = await machine.does(installed("broken"))
    check(f"apt says so: {said}", "the new version did not start, and the old one still serves" in said)
    check("the old process serves", await machine.main() == pid)
    await line.stands(failures)
    command = re.search(r"the reason: (journalctl .*?)\.", said)[1]
    reason = re.search(r'"reason":"([^"]*)"', await machine.does(f"{command} --no-pager --output=cat --since @{int(since)}"))
    check("the journal has the reason", reason and "exit status: 1" in reason[1])
    return f"apt says that the old one still serves, and `{command}` why: \"{reason[1]}\"; process {pid} stays, " \
        f"{Stream.ended - ended} streams came back, 0 places lost"


async def full_upgrade(machine, line):
    """The disk has no room for the next version."""
    failures, pid = len(Visitor.failures), await machine.main()
    before = await machine.does("dpkg-query --show ropeline && sha256sum /usr/bin/ropeline")
    machine.fill(6 << 20)
    said = await machine.fails(installed("newer"))
    machine.unfill()
    check(f"apt says that the disk is full: {said}", "No space left on device" in said)
    after = await machine.does("dpkg-query --show ropeline && sha256sum /usr/bin/ropeline && dpkg --audit")
    check(f"the version before stays whole: {after}", after == before)
    check("the old process serves", await machine.main() == pid)
    await line.stands(failures)
    return "apt says \"No space left on device\"; the version before stays whole and serves; 0 places lost"


async def restart(machine, line):
    _, seen = await handed_over(machine, line, "systemctl restart ropeline")
    return seen


async def remove(machine):
    await machine.does("apt-get remove --yes ropeline")
    states = await machine.asked(f"systemctl is-active {ALL_UNITS}")
    check(f"nothing runs: {states}", set(states.split()) == {"inactive"})
    try:
        await Visitor(80).asks("GET /")
        check("port 80 is closed", False)
    except Failed as failed:
        check(f"port 80 is closed: {failed}", "ConnectionRefused" in str(failed))
    kept = machine.remains()
    for path in (CONFIG, "/etc/logrotate.d/ropeline", "/var/lib/ropeline", "/var/log/ropeline"):
        check(f"{path} stays", os.path.exists(machine.path(path)))
    check(f"no link of a unit stays: {kept}", not [path for path in kept if "systemd/system" in path])
    return "gate and socket are stopped, port 80 refuses; settings, line and logs stay"


async def install_again(machine):
    config = machine.read(CONFIG)
    await machine.does(installed("package"))
    check("the edited config.toml is kept", machine.read(CONFIG) == config)
    states = await machine.asked(f"systemctl is-active {UNITS}")
    check(f"not started: {states}", set(states.split()) == {"inactive"})
    await machine.does("systemctl enable --now ropeline-tls.socket ropeline")
    await patiently("a live log", live)
    await empties(machine)
    return "not started; the edited config.toml is still there, and starts"


async def own_port(machine):
    """Without the socket unit, as the docs and the unit say."""
    text, unit = machine.read(CONFIG), machine.read("/usr/lib/systemd/system/ropeline.service")
    lines = re.findall(r"^#(.*CAP_NET_BIND_SERVICE|PrivateUsers=no)$", unit, re.M)
    check(f"the unit has three lines for that: {lines}", len(lines) == 3)
    edit = "/etc/systemd/system/ropeline.service.d/override.conf"
    await machine.does(f"systemctl mask --now ropeline.socket && mkdir {os.path.dirname(edit)}")
    machine.write(edit, "\n".join(["[Service]", *lines, ""]))
    machine.write(CONFIG, text.replace('"systemd"', '"0.0.0.0:80"'))
    await machine.does("systemctl daemon-reload && systemctl restart ropeline")
    await inside_the_shop()
    machine.write(CONFIG, text)
    await machine.does(f"rm -r {os.path.dirname(edit)} && systemctl unmask ropeline.socket && systemctl daemon-reload")
    await machine.does(f"systemctl stop ropeline && systemctl start {UNITS}")
    await inside_the_shop()
    return "with ropeline.socket masked and CAP_NET_BIND_SERVICE the gate itself listens on 0.0.0.0:80; and back"


async def purge(machine):
    said = await machine.does("apt-get purge --yes ropeline")
    check(f"nothing remains but the operator's own file: {machine.remains()}", machine.remains() == ["/etc/ropeline"])
    user = await machine.does("getent passwd ropeline")
    states = await machine.asked("systemctl list-units --all --no-legend 'ropeline*'")
    check(f"no unit remains: {states} {said}", states == "")
    return f"nothing remains but what the operator put into /etc/ropeline, and the user: `{user}`"


async def steps(machine):
    for step in (full_disk, install, start_without_a_shop, start, requests, tls, security, reload, bad_reload, logrotate):
        await shown(step, machine)
    line = await Line.forms(machine)
    try:
        for step in (upgrade, full_upgrade, broken_upgrade, go_back, restart):
            await shown(step, machine, line)
    finally:
        for task in line.tasks:
            task.cancel()
        await asyncio.gather(*line.tasks, return_exceptions=True)
    for step in (remove, install_again, own_port, purge):
        await shown(step, machine)


async def shown(step, *arguments):
    try:
        seen = await step(*arguments)
    except Failed as failed:
        raise Failed(f"{step.__name__}: {failed}") from failed
    print(f"| {step.__name__.replace('_', ' ')} | {seen} |", flush=True)


async def run(machine):
    server = await asyncio.start_server(shop, "127.0.0.1", 3000)
    system = await machine.does(". /etc/os-release && echo \"$PRETTY_NAME $(cat /etc/debian_version)\"; systemctl --version | head -n 1")
    print(f"\n{' '.join(system.split())}, booted\n\n| step | seen |\n| --- | --- |", flush=True)
    try:
        await steps(machine)
    except BaseException:
        # Without the settings that a gate prints when it starts.
        said = "journalctl --no-pager -o short-precise --unit='ropeline.*' | grep 'systemd\\|: {'| tail -n 40"
        print(await machine.asked(said), file=sys.stderr)
        raise
    finally:
        server.close()


def main():
    leader, root = sys.argv[1:]
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        asyncio.run(run(Machine(leader, root)))
    except Failed as failed:
        sys.exit(f"check-deb: {failed}")
    print("\nall as the docs say")


if __name__ == "__main__":
    main()

"""Whom `compare-ironic` compares, and the emulated BMCs that both have: started, asked, their processor time read, ended."""

import base64
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import tomllib
import urllib.parse

HOME = pathlib.Path(__file__).resolve().parent.parent / "target" / "ironic"
CLIENTS = 32
# How often a client looks: soon at first, then more seldom, since each look costs whoever answers it.
LOOKS = [0.05, 0.1, 0.2, 0.4, 0.8, 1.0]
PATIENCE = 900


def say(text):
    print(text, file=sys.stderr, flush=True)


def together(machines, ask, is_done):
    """Clients that ask for their shares all at once, and then wait for them."""
    failures = []

    def client(share):
        try:
            line = {}
            for machine in share:
                ask(line, machine)
            for machine in share:
                wait_until(lambda machine=machine: is_done(line, machine))
        except Exception as failure:  # Whatever it is, the figure would be wrong.
            failures.append(failure)

    threads = [threading.Thread(target=client, args=(machines[index::CLIENTS],)) for index in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def wait_until(is_so, looks=LOOKS):
    end = time.monotonic() + PATIENCE
    for turn in range(sys.maxsize):
        if is_so():
            return
        if time.monotonic() > end:
            raise TimeoutError(f"not so within {PATIENCE} s")
        time.sleep(looks[min(turn, len(looks) - 1)])


def call(line, base, method, path, body=None, headers=None):
    """One request; `line` keeps the connection of one client to each place."""
    connection = line.get(base)
    if connection is None:
        connection = line[base] = http.client.HTTPConnection(urllib.parse.urlsplit(base).netloc, timeout=120)
    headers = {"Content-Type": "application/json", "Accept": "application/json", **(headers or {})}
    for pause in [0.1, 0.5, 1.0, None]:
        try:
            connection.request(method, path, body=None if body is None else json.dumps(body), headers=headers)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text.strip() else None
        except (http.client.RemoteDisconnected, ConnectionError):
            # A server may close an idle connection at any time, and one that has too much to do any other.
            connection.close()
            if pause is None:
                raise
            time.sleep(pause)


def expect(status, answer, *wanted):
    if status not in wanted:
        raise RuntimeError(f"unexpected answer {status}: {answer}")
    return answer


# Processes


class Process:
    """A process with its descendants: started, waited for, its processor time read, ended."""

    def __init__(self, command, log, **options):
        self.log = log
        with open(log, "ab") as file:
            self.child = subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True, **options)

    def __enter__(self):
        try:
            self.begin()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGTERM)
            try:
                self.child.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(self.child.pid, signal.SIGKILL)
                self.child.wait()

    def until_said(self, text):
        def is_said():
            said = text in self.log.read_text(errors="replace")
            if not said and self.child.poll() is not None:
                raise RuntimeError(f"{self.child.args[0]} ended early:\n{self.log.read_text(errors='replace')[-2000:]}")
            return said

        wait_until(is_said, [0.2])

    def cpu(self):
        family, stats = {self.child.pid}, process_stats()
        # A parent's number is usually smaller than its child's, but not after the numbers began anew.
        for _ in range(4):
            family |= {pid for pid, (parent, _) in stats.items() if parent in family}
        return sum(stats[pid][1] for pid in family if pid in stats)


def process_stats():
    """By process: its parent, and the processor seconds of it and of its children that have ended."""
    ticks, stats = os.sysconf("SC_CLK_TCK"), {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            stats[int(entry.name)] = int(fields[1]), sum(int(field) for field in fields[11:15]) / ticks
    return stats


def own_cpu():
    return sum(os.times()[:2])


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


# The emulated BMCs


class Site(Process):
    """A simulated site at its fastest, and what its files say of its machines. Its control plane is left out of it: it is
    the only part that a careful control plane does not switch off all at once."""

    def __init__(self, binary, place, machines):
        place.mkdir()
        self.place, self.wanted = place, machines
        # Four racks, each with one machine of the control plane, the spare included.
        per_rack = -(-machines // 4) + 1
        command = [binary, "sim", "serve", "--speed", "10000", "--racks", "4", "--machines-per-rack", str(per_rack)]
        environment = {**os.environ, "RACKWRIGHT_HOME": str(place)}
        super().__init__([*command, "--data-dir", str(place)], place / "log", env=environment)

    def begin(self):
        place, machines = self.place, self.wanted
        self.until_said("A control plane for them")
        self.file = place / "site1.toml"
        # The world is fast; whoever keeps it has the limits and the looks of real hardware.
        self.file.write_text(re.sub(r"(?m)^speed = .*$", "speed = 1.0", self.file.read_text()))
        described = tomllib.loads(self.file.read_text())
        logins = tomllib.loads((place / "site1-bmc-credentials.toml").read_text())
        workers = [machine for machine in described["machine"] if machine["role"] != "control-plane"]
        self.machines = [{**machine, "login": logins[machine["name"]]} for machine in workers][:machines]
        if len(self.machines) < machines:
            raise RuntimeError(f"the site has {len(self.machines)} machines that may be switched off")
        self.subscription = described["cluster"]["subscription"]
        for machine in self.machines:
            machine["system"] = self.redfish(machine, "/redfish/v1/Systems")["Members"][0]["@odata.id"]

    def redfish(self, machine, path):
        login = base64.b64encode(f"{machine['login']['user']}:{machine['login']['password']}".encode()).decode()
        return expect(*call({}, machine["bmc"], "GET", path, headers={"Authorization": f"Basic {login}"}), 200)

    def is_off(self, machine):
        return self.redfish(machine, machine["system"])["PowerState"] == "Off"


# Ironic


CONFIG = """
[DEFAULT]
auth_strategy = noauth
host = localhost
rpc_transport = none
state_path = {place}
tempdir = {place}
default_resource_class = baremetal
enabled_hardware_types = redfish,fake-hardware
enabled_bios_interfaces = no-bios
enabled_boot_interfaces = fake,redfish-virtual-media
enabled_console_interfaces = no-console
enabled_deploy_interfaces = fake,direct
enabled_firmware_interfaces = no-firmware
enabled_inspect_interfaces = no-inspect
enabled_management_interfaces = fake,redfish
enabled_network_interfaces = noop
enabled_power_interfaces = fake,redfish
enabled_raid_interfaces = no-raid
enabled_rescue_interfaces = no-rescue
enabled_storage_interfaces = noop
enabled_vendor_interfaces = no-vendor
[api]
host_ip = 127.0.0.1
port = {port}
[database]
connection = sqlite:///{place}/ironic.sqlite
[oslo_concurrency]
lock_path = {place}/locks
[deploy]
http_root = {place}/httpboot
[redfish]
verify_ca = False
"""

VERSION = {"X-OpenStack-Ironic-API-Version": "latest"}


class Ironic(Process):
    def __init__(self, place, driver, site):
        self.driver, self.site, port = driver, site, free_port()
        place = place / "ironic"
        for part in ("locks", "httpboot"):
            (place / part).mkdir(parents=True)
        config, log = place / "ironic.conf", place / "log"
        config.write_text(CONFIG.format(place=place, port=port))
        with open(log, "ab") as file:
            create = [HOME / "venv/bin/ironic-dbsync", "--config-file", config, "create_schema"]
            subprocess.run(create, check=True, stdout=file, stderr=file)
        super().__init__([HOME / "venv/bin/ironic", "--config-file", config], log)
        self.base = f"http://127.0.0.1:{port}"

    def begin(self):
        wait_until(self.is_up, [0.5])

    def is_up(self):
        if self.child.poll() is not None:
            raise RuntimeError(f"Ironic ended early:\n{self.log.read_text(errors='replace')[-3000:]}")
        try:
            status, drivers = call({}, self.base, "GET", "/v1/drivers", headers=VERSION)
        except OSError:
            return False
        return status == 200 and any(driver["name"] == self.driver for driver in drivers["drivers"])

    def __exit__(self, *error):
        if error[0] is not None:
            say(self.log.read_text(errors="replace")[-3000:])
        super().__exit__(*error)

    def enrol(self):
        together(self.site.machines, self.create, lambda line, machine: True)

    def create(self, line, machine):
        access = {
            "redfish_address": machine["bmc"],
            "redfish_system_id": machine["system"],
            "redfish_username": machine["login"]["user"],
            "redfish_password": machine["login"]["password"],
        }
        node = {"name": machine["name"], "driver": self.driver, "driver_info": access if self.driver == "redfish" else {}}
        # A name that is there already was taken by the same request, whose answer was lost.
        expect(*call(line, self.base, "POST", "/v1/nodes", node, VERSION), 201, 409)

    def state(self, line, machine):
        return expect(*call(line, self.base, "GET", f"/v1/nodes/{machine['name']}/states", headers=VERSION), 200)

    def switch_off(self, line, machine):
        path = f"/v1/nodes/{machine['name']}/states/power"

        def is_taken():
            status, answer = call(line, self.base, "PUT", path, {"target": "power off"}, VERSION)
            # A node that Ironic itself is looking at just then, or a queue that is full: asked again, as its own client does.
            return status not in (409, 503) and bool(expect(status, answer, 202) or True)

        wait_until(is_taken)

    def is_off(self, line, machine):
        state = self.state(line, machine)
        if state["last_error"]:
            raise RuntimeError(f"Ironic cannot switch {machine['name']} off: {state['last_error']}")
        return state["power_state"] == "power off" and state["target_power_state"] is None

    def prove(self, site):
        """What was said is so: the fake driver alone tells of machines that nobody switched off."""
        for machine in site.machines:
            if site.is_off(machine) != (self.driver == "redfish"):
                raise RuntimeError(f"{machine['name']} is not as Ironic's {self.driver} says")


# Rackwright


class Rackwright(Process):
    def __init__(self, binary, place, site):
        self.site, port = site, free_port()
        place = place / "rackwright"
        place.mkdir()
        command = [binary, "serve", "--config", site.file, "--data-dir", place / "data", "--listen", f"127.0.0.1:{port}"]
        super().__init__(command, place / "log", env={**os.environ, "RACKWRIGHT_HOME": str(place)})
        self.base = f"http://127.0.0.1:{port}"
        self.group = f"/subscriptions/{site.subscription}/resourceGroups/site1/providers/Microsoft.NetworkCloud/bareMetalMachines"
        self.operations = {}

    def begin(self):
        self.until_said("API      http://")

    def enrol(self):
        """It has enrolled its site by itself; its first looks at the BMCs are waited for, as Ironic's are."""

        def is_seen(line, machine):
            machine = expect(*call(line, self.base, "GET", f"{self.group}/{machine['name']}?api-version=1"), 200)
            return machine["properties"].get("powerState") == "On"

        together(self.site.machines, lambda line, machine: None, is_seen)

    def switch_off(self, line, machine):
        path = f"{self.group}/{machine['name']}/powerOff?api-version=1"
        answer = expect(*call(line, self.base, "POST", path, {"skipShutdown": "True"}), 202)
        self.operations[machine["name"]] = answer["id"]

    def is_off(self, line, machine):
        path = f"{self.operations[machine['name']]}?api-version=1"
        status = expect(*call(line, self.base, "GET", path), 200)["status"]
        if status not in ("InProgress", "Succeeded"):
            raise RuntimeError(f"{machine['name']} was not switched off: {status}")
        return status == "Succeeded"

    def prove(self, site):
        for machine in site.machines:
            if not site.is_off(machine):
                raise RuntimeError(f"{machine['name']} is not off")

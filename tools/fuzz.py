"""What a fuzz run knows of ours: names that exist, so that more than refusals is met; what shuts the rest of the run out, and is undone;
and what no answer may hold."""

import atexit
import itertools
import json
import os
import pathlib
import re
import tomllib
import zlib

import requests
import schemathesis

HOME = pathlib.Path(os.environ["RACKWRIGHT_HOME"])
SIMULATED = HOME / "data" / "up" / "sim"
NAMES = json.loads((HOME / "names.json").read_text())
OWN = "fuzzed"
# Who the run is: the administrator, a tenant or nobody.
WHO = os.environ["FUZZ_AS"]
IS_TENANT = WHO == "tenant"

# After one of these there would be little left to meet. The same request with another ending, or the one that is named, undoes it.
UNDO = [
    ("POST", r"/subscriptions/[^/]+/disable$", ("POST", "disable", "enable", {})),
    ("POST", r"/principals/[^/]+/disable$", ("POST", "disable", "enable", {})),
    ("POST", r"/providers/[^/]+/unregister$", ("POST", "unregister", "register", {})),
    ("POST", r"/bareMetalMachines/[^/]+/unmanage$", ("POST", "unmanage", "manage", {"reason": "the run goes on"})),
    ("PUT", r"/quotas$", ("PUT", "quotas", "quotas", {"limits": {}})),
    ("PUT", r"/(locks|policyAssignments)/[^/]+$", ("DELETE", "", "", None)),
]


def secrets():
    """Everything that the server holds and must keep to itself."""
    yield os.environ["FUZZ_TOKEN"]
    yield from filter(None, [os.environ.get("FUZZ_TENANT_TOKEN"), os.environ.get("FUZZ_TENANT_SECRET")])
    logins = tomllib.loads((SIMULATED / "site1-bmc-credentials.toml").read_text())
    yield from (login["password"] for login in logins.values())
    for kubeconfig in SIMULATED.glob("*-kubeconfig.yaml"):
        yield from re.findall(r"token: \"?([^\s\"]+)", kubeconfig.read_text())
    yield tomllib.loads((HOME / "contexts.toml").read_text())["contexts"]["local"]["login"]["client_secret"]


SECRETS = sorted(set(secrets()))
# What a panic, or a failing file, would say of the computer.
INSIDES = re.compile(r"panicked at|RUST_BACKTRACE|\.rs:\d+|/registry/src/|/rustc/|" + re.escape(str(HOME)) + "|" + re.escape(os.getcwd()))
# What is below a tenant's virtual machines. That one of these names the machine it is on, is Azure's way, and no more than a name.
BELOW = re.compile(
    r'"(id|resourceId)":"[^"]*/(bareMetalMachines|racks)/(' + "|".join(map(re.escape, NAMES["bareMetalMachineName"] + NAMES["rackName"])) + r")\b"
)
# What is wrong with an address, whoever sends it.
UNREADABLE = re.compile(rb'"message":"the (path|query) ')

SENT = set()


CASES = itertools.count()


@schemathesis.hook
def before_call(context, case, kwargs):
    """In three of four cases all names are ones that exist; in the others any may not. Which, depends on nothing but their order, so that a
    run can be repeated."""
    SENT.add(case.operation.label)
    number = next(CASES)
    parameters = case.path_parameters or {}
    for name, drawn in parameters.items():
        known = NAMES.get(name, [])
        # What is deleted is what the run has made itself, and not what it has read of somewhere: the site must not dwindle.
        if case.method.upper() == "DELETE" and name == list(parameters)[-1]:
            if drawn in known:
                case.path_parameters[name] = OWN
            known = [OWN] if OWN in known else []
        chance = zlib.crc32(f"{number} {name}".encode())
        if known and (number % 4 or chance % 2):
            case.path_parameters[name] = known[chance // 2 % len(known)]
    # Without a version most paths are refused before anything is looked at.
    if number % 4 and "api-version" in (case.query or {}):
        case.query["api-version"] = "2026-07-01"


@schemathesis.hook
def after_call(context, case, response):
    """Takes back at once what would shut out the requests that follow."""
    if response.status_code >= 300:
        return
    path, _, query = response.request.url.partition("?")
    for method, pattern, (undo, ending, other, body) in UNDO:
        if response.request.method == method and re.search(pattern, path):
            head = {"Authorization": "Bearer " + os.environ["FUZZ_TOKEN"]}
            address = path.removesuffix(ending) + other + "?" + (query or "api-version=1")
            undone = requests.request(undo, address, json=body, headers=head, verify=os.environ["FUZZ_CA"], timeout=30)
            assert undone.status_code < 300 or undone.status_code == 409, f"{undo} {address}: {undone.status_code} {undone.text}"


@schemathesis.check
def no_leak(context, response, case):
    """No answer tells a secret, nor what goes on inside; to a tenant, not what is below it either."""
    text = response.content.decode("utf-8", "replace") + str(dict(response.headers))
    found = INSIDES.search(text)
    assert not found, f"the answer tells of the inside of the server: {found.group()}"
    assert not any(secret in text for secret in SECRETS), "the answer has a secret in it"
    below = IS_TENANT and response.status_code < 300 and BELOW.search(text)
    assert not below, f"the answer tells a tenant of what is below it: {below.group()}"


@schemathesis.check
def no_entry(context, response, case):
    """Whoever has no token is told to get one, unless the document says that none is needed. An address that cannot be read is nobody's."""
    is_unreadable = response.status_code == 400 and UNREADABLE.search(response.content)
    if case.operation.definition.raw.get("security") == [] or is_unreadable:
        return
    assert response.status_code == 401, f"nobody is answered {response.status_code}"
    assert "www-authenticate" in response.headers, "nobody is told how to come in"


def tell_what_was_sent():
    with (HOME / f"sent-by-{WHO}").open("a") as file:
        file.writelines(f"{label}\n" for label in sorted(SENT))


atexit.register(tell_what_was_sent)

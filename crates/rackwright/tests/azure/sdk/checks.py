"""What all checks have in common: the client, and how a check is named, run and told."""

import sys
import time
import traceback

from azure.core.credentials import AccessToken
from azure.core.exceptions import ResourceNotFoundError
from azure.core.rest import HttpRequest
from azure.identity import ClientSecretCredential
from azure.mgmt.core.polling.arm_polling import ARMPolling
from azure.mgmt.networkcloud import NetworkCloudMgmtClient

from mismatches import Mismatches

SUBSCRIPTION = "00000000-0000-4000-8000-000000000001"
API_VERSION = "2026-07-01"
PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBvqyFZzF9gQZ7u0x3mRrT1yZ0Jb3uK7n2mR2uDk0l6J"


class Token:
    """Gives the SDK a token that it did not get from anybody."""

    def __init__(self, text):
        self._text = text

    def get_token(self, *_scopes, **_options):
        return AccessToken(self._text, int(time.time()) + 3600)


class Checks:
    def __init__(self, options):
        self.base, self.group, self.ca, self.program = options.base, options.group, options.ca, options.rackwright
        self.failed = self.passed = 0
        self.mismatches = Mismatches()
        # The tenant `adfs` makes MSAL ask nobody else who may give tokens.
        self.credential = ClientSecretCredential(
            "adfs", options.client, options.secret, authority=options.base, connection_verify=options.ca
        )
        self.client = self.make_client(raw_response_hook=self.mismatches.on_answer)

    def make_client(self, kind=NetworkCloudMgmtClient, credential=None, subscription=SUBSCRIPTION, **more):
        options = {"base_url": self.base, "polling_interval": 1, "retry_total": 0, "connection_verify": self.ca, **more}
        return kind(credential or self.credential, subscription, **options)

    def check(self, name, call):
        try:
            said = call()
        except Exception as problem:
            self.failed += 1
            if isinstance(problem, AssertionError):
                at = traceback.extract_tb(problem.__traceback__)[-1]
                print(f"FAIL {name}: {problem or at.line} (line {at.lineno})")
            else:
                print(f"FAIL {name}: {type(problem).__name__}: {' '.join(str(problem).split())[:300]}")
        else:
            self.passed += 1
            print(f"ok   {name}" + (f": {said}" if isinstance(said, str) else ""))
        sys.stdout.flush()

    def refused(self, name, exception, status, code, call):
        """A call that must end with this exception, status and code, and with words for people."""

        def run():
            try:
                result = call()
                if hasattr(result, "result"):
                    result.result(timeout=240)
            except exception as problem:
                found = (type(problem), problem.status_code, problem.error and problem.error.code)
                assert found == (exception, status, code), f"{found} instead of {(exception.__name__, status, code)}"
                assert problem.error.message, "no message"
                return problem.error.message[:110]
            raise AssertionError(f"{code} was expected, and it succeeded")

        self.check(name, run)

    def finish(self, name, begin, resource=None):
        """An action to its end, followed by the SDK's own poller."""

        def run():
            begun = time.monotonic()
            poller = begin()
            assert isinstance(poller.polling_method(), ARMPolling)
            result = poller.result(timeout=300)
            assert poller.done() and poller.status() == "Succeeded", poller.status()
            if resource:
                assert result.status == "Succeeded", result
                assert result.resource_id.lower().endswith(resource.lower()), result.resource_id
                assert result.end_time >= result.start_time, (result.start_time, result.end_time)
            return f"{time.monotonic() - begun:.1f} s"

        self.check(name, run)

    def machine_is(self, name, **wanted):
        machine = self.client.bare_metal_machines.get(self.group, name)
        found = {attribute: getattr(machine, attribute) for attribute in wanted}
        assert found == wanted, found

    def vm_is(self, name, **wanted):
        machine = self.client.virtual_machines.get(self.group, name)
        found = {attribute: getattr(machine, attribute) for attribute in wanted}
        assert found == wanted, found

    @staticmethod
    def deleted(delete, show):
        poller = delete()
        poller.result(timeout=300)
        assert poller.status() == "Succeeded", poller.status()
        try:
            show()
        except ResourceNotFoundError:
            return
        raise AssertionError("it is still there")

    def send(self, method, path, body=None):
        request = HttpRequest(method, path, json=body)
        # Beside the hook, which knows Azure's models only.
        plain = self.make_client()
        return plain.send_request(request)

    def get(self, path):
        answer = self.send("GET", path)
        assert answer.status_code == 200, answer.text()
        return answer.json()

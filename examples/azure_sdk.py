"""Restarts a machine with Azure's SDK, and waits until it is back.

usage: azure_sdk.py https://127.0.0.1:7225 MACHINE_ID

Logged in as whoever `az` is; `eval "$(rackwright az-env)"` sees to that, and to whom to trust.
"""

import sys

from azure.identity import AzureCliCredential
from azure.mgmt.networkcloud import NetworkCloudMgmtClient

server, machine = sys.argv[1:]
_, _, subscription, _, group, *_, name = machine.split("/")
client = NetworkCloudMgmtClient(AzureCliCredential(), subscription, base_url=server)
done = client.bare_metal_machines.begin_restart(group, name).result()
print(name, done.status)
is_on = client.bare_metal_machines.get(group, name).power_state == "On"
print(name, "is on" if is_on else "is off")

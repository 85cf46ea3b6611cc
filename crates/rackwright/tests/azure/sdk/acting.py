"""Every action on machines and clusters: followed to the end, refused, cancelled, failed."""

import subprocess

from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.mgmt.networkcloud import models


def run(checks):
    machines, group = checks.client.bare_metal_machines, checks.group
    one, other, third = "rack1compute01", "rack2compute01", "rack3compute01"
    checks.finish("machine: cordon, evacuating", lambda: machines.begin_cordon(
        group, one, models.BareMetalMachineCordonParameters(evacuate="True")), one)
    checks.check("machine: it is cordoned", lambda: checks.machine_is(one, cordon_status="Cordoned"))
    checks.finish("machine: uncordon", lambda: machines.begin_uncordon(group, one), one)
    checks.check("machine: it is uncordoned", lambda: checks.machine_is(one, cordon_status="Uncordoned"))
    checks.finish("machine: power off", lambda: machines.begin_power_off(
        group, one, models.BareMetalMachinePowerOffParameters(skip_shutdown="True")), one)
    checks.check("machine: it is off", lambda: checks.machine_is(one, power_state="Off"))
    checks.finish("machine: start", lambda: machines.begin_start(group, one), one)
    checks.check("machine: it is on", lambda: checks.machine_is(one, power_state="On", ready_state="True"))
    checks.finish("machine: restart", lambda: machines.begin_restart(group, one), one)
    checks.finish("machine: cordon without a body", lambda: machines.begin_cordon(group, third), third)
    checks.finish("machine: power off without a body", lambda: machines.begin_power_off(group, third), third)

    def under_way():
        poller = machines.begin_reimage(
            group, other, models.BareMetalMachineReimageParameters(safeguard_mode="None")
        )
        assert poller.status() == "InProgress", poller.status()
        busy = machines.get(group, other)
        state = busy.action_states[0]
        assert state.status == "InProgress" and state.action_type.endswith("/reimage/action"), state
        resumed = machines.begin_reimage(group, other, continuation_token=poller.continuation_token())
        result = resumed.result(timeout=300)
        assert result.status == "Succeeded", result

    checks.check("machine: reimage, and its poller in another's hands", under_way)
    checks.finish("machine: replace", lambda: machines.begin_replace(
        group, other, models.BareMetalMachineReplaceParameters(storage_policy="DiscardAll", safeguard_mode="None")), other)
    for verb, begin in [
        ("run_command", lambda: machines.begin_run_command(
            group, one, models.BareMetalMachineRunCommandParameters(limit_time_seconds=60, script="bHM="))),
        ("run_read_commands", lambda: machines.begin_run_read_commands(
            group, one, models.BareMetalMachineRunReadCommandsParameters(
                limit_time_seconds=60, commands=[models.BareMetalMachineCommandSpecification(command="ls")]))),
        ("run_data_extracts", lambda: machines.begin_run_data_extracts(
            group, one, models.BareMetalMachineRunDataExtractsParameters(
                limit_time_seconds=60, commands=[models.BareMetalMachineCommandSpecification(command="ls")]))),
    ]:
        checks.refused(f"machine: {verb} is not there", ResourceNotFoundError, 404, "InvalidAction", begin)
    checks.refused(
        "machine: start of the spare, which has no operating system", ResourceExistsError, 409, "MachineProvisioned",
        lambda: machines.begin_start(group, "rack4control01"),
    )
    checks.refused(
        "machine: an action of one that is not there", ResourceNotFoundError, 404, "ResourceNotFound",
        lambda: machines.begin_restart(group, "nobody"),
    )
    checks.refused(
        "machine: cordon with a word that does not exist", HttpResponseError, 400, "InvalidRequestContent",
        lambda: machines.begin_cordon(group, one, {"evacuate": "Perhaps"}),
    )
    checks.refused(
        "machine: replace with a MAC address that is none", HttpResponseError, 400, "InvalidRequestContent",
        lambda: machines.begin_replace(group, one, {"bmcMacAddress": "zz"}),
    )
    checks.check("machine: an operation that is cancelled fails the poller", lambda: cancelled(checks))
    checks.finish("cluster: inspect", lambda: checks.client.clusters.begin_inspect(group, "site1"), "site1")
    # The SDK sends parameters in which nothing is set as `{}`, and calls that text/plain.
    checks.finish("cluster: inspect with parameters that say nothing", lambda: checks.client.clusters.begin_inspect(
        group, "site1", models.ClusterInspectParameters()), "site1")
    checks.finish("machine: cordon with parameters that say nothing", lambda: machines.begin_cordon(
        group, one, models.BareMetalMachineCordonParameters()), one)
    checks.finish("machine: uncordon again", lambda: machines.begin_uncordon(group, one), one)
    checks.refused(
        "cluster: deploy is not there", ResourceNotFoundError, 404, "InvalidAction",
        lambda: checks.client.clusters.begin_deploy(group, "site1"),
    )


def cancelled(checks):
    poller = checks.client.bare_metal_machines.begin_reimage(checks.group, "rack3compute01", {"safeguardMode": "None"})
    running = checks.get("/rackwright/v1/operations?running=true")["value"]
    operation = next(one for one in running if one["machine"] == "rack3compute01")
    answer = checks.send("POST", f"/rackwright/v1/operations/{operation['id']}/cancel")
    assert answer.status_code == 202, answer.text()
    try:
        poller.result(timeout=300)
    except HttpResponseError as problem:
        assert problem.error and problem.error.code == "OperationCanceled", problem
        assert poller.status() == "Canceled", poller.status()
        return problem.error.message[:110]
    raise AssertionError(f"it ended as {poller.status()}")


def failing(checks):
    """Needs the program, which breaks a simulated machine."""
    checks.refused(
        "machine: a replace that fails fails the poller", HttpResponseError, 200, "ValidationFailed",
        lambda: broken(checks, "memory-missing", "rack3compute01"),
    )

    def state():
        machine = checks.client.bare_metal_machines.get(checks.group, "rack3compute01")
        latest = machine.action_states[0]
        assert latest.status == "Failed" and latest.message, latest
        assert machine.provisioning_state == "Failed", machine.provisioning_state
        assert machine.hardware_validation_status.result == "Fail", machine.hardware_validation_status

    checks.check("machine: what failed is told", state)
    checks.finish("machine: a replace after the repair", lambda: checks.client.bare_metal_machines.begin_replace(
        checks.group, "rack3compute01", {"safeguardMode": "None"}), "rack3compute01")


def broken(checks, fault, machine):
    run = lambda *words: subprocess.run([checks.program, "sim", "fault", *words], check=True, capture_output=True)
    run("add", fault, machine)
    try:
        return checks.client.bare_metal_machines.begin_replace(
            checks.group, machine, {"safeguardMode": "None"}
        ).result(timeout=300)
    finally:
        run("clear", machine)

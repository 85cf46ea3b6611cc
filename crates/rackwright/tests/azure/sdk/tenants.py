"""Virtual machines of tenants: made, changed, acted on, deleted; and the restart of a tenant's node."""

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
from azure.mgmt.networkcloud import models

from checks import PUBLIC_KEY, SUBSCRIPTION


def run(checks):
    vms, group, name = checks.client.virtual_machines, checks.group, "sdkvm"
    checks.mismatches.made.add(name)
    cluster = checks.client.clusters.get(group, "site1")
    network = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/Microsoft.NetworkCloud/"
    machine = models.VirtualMachine(
        location=cluster.location,
        extended_location=cluster.extended_location,
        tags={"made": "by the SDK"},
        properties=models.VirtualMachineProperties(
            admin_username="azureuser",
            cpu_cores=2,
            memory_size_gb=4,
            vm_image="registry.example/images/vm:1",
            boot_method="UEFI",
            isolate_emulator_thread="True",
            virtio_interface="Modern",
            vm_device_model="T2",
            user_data_content="Zm9v",
            ssh_public_keys=[models.SshPublicKey(key_data=f"{PUBLIC_KEY} a")],
            storage_profile=models.StorageProfile(
                os_disk=models.OsDisk(disk_size_gb=20, create_option="Ephemeral", delete_option="Delete"), volume_attachments=[]
            ),
            cloud_services_network_attachment=models.NetworkAttachment(
                attached_network_id=network + "cloudServicesNetworks/csn", ip_allocation_method="Dynamic"
            ),
            network_attachments=[
                models.NetworkAttachment(
                    attached_network_id=network + "l3Networks/l3", ip_allocation_method="Dynamic",
                    default_gateway="True", network_attachment_name="eth0",
                )
            ],
            placement_hints=[
                models.VirtualMachinePlacementHint(
                    hint_type="AntiAffinity", resource_id=network + "racks/rack3", scheduling_execution="Soft", scope="Rack"
                )
            ],
            vm_image_repository_credentials=models.ImageRepositoryCredentials(
                password="secret", registry_url="registry.example", username="puller"
            ),
        ),
    )

    def make():
        poller = vms.begin_create_or_update(group, name, machine, match_condition=MatchConditions.IfMissing)
        made = poller.result(timeout=300)
        assert poller.status() == "Succeeded", poller.status()
        assert (made.name, made.cpu_cores, made.provisioning_state) == (name, 2, "Succeeded"), made
        disk = made.storage_profile.os_disk
        assert (made.admin_username, made.vm_image, disk.disk_size_gb) == ("azureuser", machine.vm_image, 20), made
        assert made.user_data_content is None and made.vm_image_repository_credentials.password is None
        return made.detailed_status_message

    checks.check("vm: PUT of all that the SDK knows", make)
    checks.check("vm: it runs", lambda: checks.vm_is(name, power_state="On", detailed_status="Running"))
    checks.refused(
        "vm: PUT with If-None-Match: * of one that is there", ResourceExistsError, 412, "PreconditionFailed",
        lambda: vms.begin_create_or_update(group, name, machine, match_condition=MatchConditions.IfMissing),
    )

    def other_size():
        read = vms.get(group, name)
        read.cpu_cores = 8
        return vms.begin_create_or_update(group, name, read)

    checks.refused("vm: PUT of another size", HttpResponseError, 400, "VmImmutable", other_size)

    def back():
        read = vms.get(group, name)
        read.tags["made"] = "again"
        assert vms.begin_create_or_update(group, name, read).result(timeout=120).tags == {"made": "again"}

    checks.check("vm: PUT of what was read, with another tag", back)

    def tag():
        read = vms.get(group, name)
        guard = {"etag": read.etag, "match_condition": MatchConditions.IfNotModified}
        done = vms.begin_update(group, name, models.VirtualMachinePatchParameters(tags={"a": "b"}), **guard).result()
        assert done.tags == {"a": "b"} and done.etag != read.etag

    checks.check("vm: PATCH of tags", tag)

    other_login = models.VirtualMachinePatchParameters(
        properties=models.VirtualMachinePatchProperties(
            vm_image_repository_credentials=models.ImageRepositoryCredentials(
                password="another", registry_url="registry.example", username="puller"
            )
        )
    )
    # The undercloud is told the login when the virtual machine is made, and not again.
    checks.refused(
        "vm: PATCH of the registry's login", HttpResponseError, 400, "PropertyChangeNotAllowed",
        lambda: vms.begin_update(group, name, other_login),
    )
    checks.finish("vm: power off", lambda: vms.begin_power_off(
        group, name, models.VirtualMachinePowerOffParameters(skip_shutdown="True")), name)
    checks.check("vm: it is off", lambda: checks.vm_is(name, power_state="Off"))
    checks.finish("vm: start", lambda: vms.begin_start(group, name), name)
    checks.finish("vm: restart", lambda: vms.begin_restart(group, name), name)
    checks.finish("vm: reimage", lambda: vms.begin_reimage(group, name), name)
    checks.finish("vm: power off without a body", lambda: vms.begin_power_off(group, name), name)
    checks.refused(
        "vm: assign relay is not there", ResourceNotFoundError, 404, "InvalidAction",
        lambda: vms.begin_assign_relay(group, name),
    )
    checks.refused(
        "vm: DELETE with an ETag of before", ResourceModifiedError, 412, "PreconditionFailed",
        lambda: vms.begin_delete(group, name, etag='"1"', match_condition=MatchConditions.IfNotModified),
    )
    checks.check("vm: DELETE", lambda: checks.deleted(
        lambda: vms.begin_delete(group, name), lambda: vms.get(group, name)))
    checks.check("vm: DELETE of one that is gone", lambda: vms.begin_delete(group, name).result(timeout=60) and None)
    checks.refused(
        "vm: PUT without what is required", HttpResponseError, 400, "InvalidRequestContent",
        lambda: vms.begin_create_or_update(group, "half", {"location": cluster.location, "properties": {}}),
    )

    def node():
        tenant = next(iter(checks.client.kubernetes_clusters.list_by_resource_group(group)))
        worker = next(node for node in tenant.nodes if node.role == "Worker")
        result = checks.client.kubernetes_clusters.begin_restart_node(
            group, tenant.name, models.KubernetesClusterRestartNodeParameters(node_name=worker.name)
        ).result(timeout=300)
        assert result.status == "Succeeded" and result.resource_id == tenant.id, result

    checks.check("tenant's cluster: restart of a node", node)
    checks.refused(
        "tenant's cluster: restart of a node that is not there", ResourceNotFoundError, 404, "TenantNodeExists",
        lambda: checks.client.kubernetes_clusters.begin_restart_node(
            group, next(iter(checks.client.kubernetes_clusters.list_by_resource_group(group))).name,
            {"nodeName": "nobody"}),
    )

"""Who may log in to machines and BMCs."""

import datetime

from azure.core import MatchConditions
from azure.core.exceptions import ResourceExistsError, ResourceModifiedError
from azure.mgmt.networkcloud import models

from checks import PUBLIC_KEY


def run(checks):
    group, cluster = checks.group, checks.client.clusters.get(checks.group, "site1")
    alice = models.KeySetUser(
        azure_user_name="alice",
        user_principal_name="alice@example.com",
        description="of the shift",
        ssh_public_key=models.SshPublicKey(key_data=f"{PUBLIC_KEY} alice"),
    )
    # The SDK writes times with fractions and +00:00 or Z, whatever it is given.
    expiration = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=90)
    around = {"location": cluster.location, "extended_location": cluster.extended_location, "tags": {"shift": "1"}}
    common = {"azure_group_id": "f110271b", "expiration": expiration, "user_list": [alice]}
    sets = [
        ("bare_metal_machine_key_sets", models.BareMetalMachineKeySet(properties=models.BareMetalMachineKeySetProperties(
            jump_hosts_allowed=["10.0.0.0/24"], privilege_level="Superuser", os_group_name="ops", **common), **around),
         models.BareMetalMachineKeySetPatchParameters),
        ("bmc_key_sets", models.BmcKeySet(properties=models.BmcKeySetProperties(privilege_level="ReadOnly", **common), **around),
         models.BmcKeySetPatchParameters),
    ]
    for name, body, patch in sets:
        operations = getattr(checks.client, name)

        def make():
            made = operations.begin_create_or_update(
                group, "site1", "sdkset", body, match_condition=MatchConditions.IfMissing
            ).result(timeout=120)
            assert made.name == "sdkset" and made.user_list[0].azure_user_name == "alice"
            assert abs(made.expiration - expiration) < datetime.timedelta(seconds=1), made.expiration
            assert made.provisioning_state == "Succeeded"
            return made.detailed_status

        def change():
            read = operations.get(group, "site1", "sdkset")
            guard = {"etag": read.etag, "match_condition": MatchConditions.IfNotModified}
            done = operations.begin_update(group, "site1", "sdkset", patch(tags={"shift": "2"}), **guard).result(timeout=120)
            assert done.tags == {"shift": "2"} and done.etag != read.etag

        def back():
            read = operations.get(group, "site1", "sdkset")
            read.tags = {"shift": "3"}
            done = operations.begin_create_or_update(group, "site1", "sdkset", read).result(timeout=120)
            assert done.tags == {"shift": "3"}, done.tags

        checks.check(f"{name}: PUT", make)
        checks.refused(
            f"{name}: PUT with If-None-Match: * of one that is there", ResourceExistsError, 412, "PreconditionFailed",
            lambda: operations.begin_create_or_update(
                group, "site1", "sdkset", body, match_condition=MatchConditions.IfMissing),
        )
        checks.check(f"{name}: PATCH of tags", change)
        checks.check(f"{name}: PUT of what was read", back)
        checks.check(f"{name}: list", lambda: [one.name for one in operations.list_by_cluster(
            group, "site1", top=1)].index("sdkset") and None)
        checks.refused(
            f"{name}: PATCH with an ETag of before", ResourceModifiedError, 412, "PreconditionFailed",
            lambda: operations.begin_update(group, "site1", "sdkset", patch(tags={}), etag='"1"',
                                            match_condition=MatchConditions.IfNotModified),
        )
        checks.check(f"{name}: DELETE", lambda: checks.deleted(
            lambda: operations.begin_delete(group, "site1", "sdkset"),
            lambda: operations.get(group, "site1", "sdkset")))

//! Blocks that are not executed, all of them: a page can leave nothing out that is not listed here.

use crate::pages;
use crate::script;

/// The page and the first line of each block. The page says why.
const NOT_RUN: &[(&str, &str)] = &[
    ("docs/agent.md", "tools/agent-image"),
    ("docs/azure-cli.md", "# locks"),
    ("docs/azure-cli.md", "# look"),
    ("docs/azure-cli.md", "# power off, start, restart"),
    ("docs/azure-cli.md", "# reimage"),
    ("docs/azure-cli.md", "# replace"),
    ("docs/azure-cli.md", "# the activity log"),
    ("docs/azure-cli.md", "# the sdk"),
    ("docs/azure-cli.md", "# virtual machines"),
    ("docs/azure-cli.md", "# what is on a machine"),
    ("docs/azure-cli.md", "# what is refused"),
    ("docs/azure-cli.md", "# without waiting"),
    ("docs/azure-cli.md", "az extension add --name networkcloud"),
    ("docs/azure-cli.md", "eval \"$(rackwright az-env)\""),
    ("docs/azure-cli.md", "export REQUESTS_CA_BUNDLE=$PWD/ca.pem"),
    ("docs/azure-cli.md", "from azure.identity import ClientSecretCredential"),
    ("docs/cli.md", "rackwright approve BCDF-GHJK"),
    (
        "docs/cli.md",
        "rackwright cluster bmckeyset create admins --azure-group-id ID --expiration 2027-06-30T00:00:00Z --privilege-level ReadOnly --user-list @users.json",
    ),
    ("docs/cli.md", "rackwright cluster bmckeyset update admins --expiration 2027-06-30T00:00:00Z"),
    ("docs/cli.md", "rackwright login https://rackwright.example:7225 --client-id 3f0c1b62-7a55-4d0e-9a43-2f1f6a1c5d10 --ca ca.pem"),
    ("docs/cli.md", "rackwright sp add-certificate pipeline --certificate pipeline.pem"),
    ("docs/cli.md", "rackwright sp remove-certificate pipeline Tc1fDAqrupUysx6geVL4KCy-ou7e9o3HTpgzEFwg1Ag"),
    ("docs/cli.md", "rackwright vault rotate-data-key --data-dir /var/lib/rackwright"),
    ("docs/cli.md", "rackwright vault rotate-key --data-dir /var/lib/rackwright --new-key-file /etc/rackwright/master-2.key"),
    ("docs/cli.md", "rackwright vault status --data-dir /var/lib/rackwright"),
    (
        "docs/errors/AuthorizationFailed.md",
        "error: `night-shift` (6c0e6ad4-8a0f-4d4e-9a56-0f7d2a1b9c35) may not perform `Microsoft.NetworkCloud/bareMetalMachines/restart/action` at `/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/site1/providers/Microsoft.NetworkCloud/bareMetalMachines/rack1compute01`: no role assigned there or around it grants that",
    ),
    ("docs/errors/ExpiredAuthenticationToken.md", "error: the token has expired; log in again"),
    ("docs/errors/ActionKnown.md", "error: `rack1compute01` cannot be reimaged"),
    ("docs/errors/AmbiguousOperationId.md", "error: `8f3c` begins more than one operation's id"),
    ("docs/errors/AttemptRunning.md", "error: what `rack1compute01` tells of its installation is not heard"),
    ("docs/errors/BackupRunning.md", "error: a backup is being made already; one is made at a time"),
    ("docs/errors/BackupUnavailable.md", "error: this store is not copied through the API; use its own means"),
    ("docs/errors/BmcLoginFailed.md", "error: `rack1compute01` was not replaced"),
    ("docs/errors/ClusterRunning.md", "error: `rack1compute01` cannot be restarted"),
    ("docs/errors/DeviceMissing.md", "error: `rack1compute01` was not cordoned"),
    ("docs/errors/DeviceUnsupported.md", "error: `rack1compute01` was not started"),
    ("docs/errors/EtcdFailed.md", "error: `rack1control01` was not reimaged"),
    ("docs/errors/EtcdKnown.md", "error: `rack1control01` cannot be reimaged"),
    ("docs/errors/FirmwareJob.md", "error: `rack1compute01` cannot be reimaged"),
    ("docs/errors/InspectRunning.md", "error: the hardware of `site1` cannot be inspected"),
    ("docs/errors/InstallFailed.md", "error: `rack1compute01` was not reimaged"),
    ("docs/errors/InstallReady.md", "error: `rack1compute01` cannot be reimaged"),
    ("docs/errors/InternalError.md", "error: something went wrong in the server; its log tells more under the id in `x-ms-request-id`"),
    ("docs/errors/KeeperUnavailable.md", "error: no keeper of cluster `site1` answered in time; the request was not carried out"),
    ("docs/errors/KeySetExists.md", "error: there is no key set for BMCs `admins`"),
    ("docs/errors/MachineExists.md", "error: there is no machine `rack9compute99`"),
    ("docs/errors/MachineUnhealthy.md", "error: `rack1compute01` cannot be reimaged"),
    ("docs/errors/OperationExists.md", "error: there is no operation 8f3c1a2b"),
    ("docs/errors/QueueFull.md", "error: `rack1compute01` cannot be restarted"),
    ("docs/errors/RequestExpired.md", "error: the request was not carried out"),
    ("docs/errors/RuntimeExists.md", "error: there is no runtime 4.1.6"),
    ("docs/errors/RuntimeImmutable.md", "error: runtime 4.9.2 cannot be replaced by another one"),
    ("docs/errors/ServerBusy.md", "error: 64 lists are being answered"),
    ("docs/errors/ServerStopping.md", "error: the server is stopping, and the body did not arrive within 2s of that"),
    ("docs/errors/StorageFailed.md", "error: `rack1compute01` was not replaced"),
    ("docs/errors/StoreUnavailable.md", "error: the store's disk is full; nothing was changed"),
    ("docs/errors/TenantClusterExists.md", "error: there is no tenant cluster `naks-01`"),
    ("docs/errors/TooManyRequests.md", "error: 1024 requests are waiting for cluster `site1`"),
    ("docs/errors/ValidationFailed.md", "error: `rack1compute01` was not replaced"),
    ("docs/errors/VmExists.md", "error: there is no virtual machine `firewallvnf`"),
    ("docs/errors/VmProvisioning.md", "error: `firewallvnf` cannot be restarted"),
    ("docs/getting-started.md", "cargo build --release"),
    ("docs/operating.md", "cargo build --release --locked"),
    ("docs/operating.md", "install -m 0644 deploy/systemd/rackwright.sysusers.conf /usr/lib/sysusers.d/rackwright.conf"),
    ("docs/operating.md", "install -m 0755 target/release/rackwright /usr/local/bin/rackwright"),
    (
        "docs/operating.md",
        "sudo -u rackwright RACKWRIGHT_HOME=/var/lib/rackwright/home rackwright context authority > /usr/local/share/rackwright-ca.pem",
    ),
    ("docs/operating.md", "podman build --format docker -t rackwright -f deploy/container/Containerfile ."),
    ("docs/real-machine.md", "$ rackwright runtime import debian.toml"),
    ("docs/real-machine.md", "tools/real-machine uefi"),
    ("README.md", "./test"),
    ("README.md", "cargo run --release -- up"),
];

#[test]
fn only_what_is_listed_is_not_executed() {
    let readings = pages::manual();
    let left_out = readings.iter().flat_map(|page| script::read(page).not_run);
    let mut found: Vec<(String, String)> = left_out.map(|block| (block.page, block.first_line)).collect();
    let mut listed: Vec<(String, String)> = NOT_RUN.iter().map(|(page, line)| ((*page).to_owned(), (*line).to_owned())).collect();
    found.sort();
    listed.sort();
    assert_eq!(found, listed);
}

//! Every story in `stories/`, played and compared with its golden transcript. `UPDATE_EXPECT=1` writes them anew.

use std::path::Path;

use expect_test::expect_file;
use scenarios::tell;

async fn play(name: &str) {
    let stories = Path::new(env!("CARGO_MANIFEST_DIR")).join("stories");
    let story = std::fs::read_to_string(stories.join(format!("{name}.story"))).expect("the story is there");
    let transcript = tell(&story).await;
    expect_file![stories.join(format!("{name}.golden"))].assert_eq(&transcript);
}

macro_rules! stories {
    ($($test:ident = $name:literal),* $(,)?) => {
        const TOLD: &[&str] = &[$($name),*];
        $(
            #[tokio::test(start_paused = true)]
            async fn $test() {
                play($name).await;
            }
        )*
    };
}

stories! {
    the_activity_log = "the-activity-log",
    two_hands_on_the_control_plane = "two-hands-on-the-control-plane",
    a_restart_that_cannot_finish = "a-restart-that-cannot-finish",
    restart_a_compute_machine = "restart-a-compute-machine",
    switch_a_machine_off_and_on = "switch-a-machine-off-and-on",
    cut_the_power_without_a_shutdown = "cut-the-power-without-a-shutdown",
    start_a_machine_that_is_running = "start-a-machine-that-is-running",
    cordon_and_uncordon = "cordon-and-uncordon",
    one_control_plane_machine_at_a_time = "one-control-plane-machine-at-a-time",
    the_only_voter = "the-only-voter",
    the_spare_is_left_alone = "the-spare-is-left-alone",
    what_does_not_exist = "what-does-not-exist",
    one_action_per_machine = "one-action-per-machine",
    take_a_machine_out_of_management = "take-a-machine-out-of-management",
    notes_about_a_machine = "notes-about-a-machine",
    cancel_before_the_power_goes = "cancel-before-the-power-goes",
    cancel_while_it_rejoins = "cancel-while-it-rejoins",
    somebody_uses_kubectl = "somebody-uses-kubectl",
    a_machine_goes_off_by_itself = "a-machine-goes-off-by-itself",
    a_powered_off_machine_is_switched_on_by_hand = "a-powered-off-machine-is-switched-on-by-hand",
    the_control_plane_dies_in_the_middle = "the-control-plane-dies-in-the-middle",
    eight_hours_without_a_control_plane = "eight-hours-without-a-control-plane",
    fault_bmc_unreachable = "fault-bmc-unreachable",
    fault_bmc_401 = "fault-bmc-401",
    fault_bmc_slow = "fault-bmc-slow",
    fault_bmc_error = "fault-bmc-error",
    fault_bmc_ignores = "fault-bmc-ignores",
    fault_bmc_stale = "fault-bmc-stale",
    fault_bmc_garbage = "fault-bmc-garbage",
    fault_bmc_forgets_sessions = "fault-bmc-forgets-sessions",
    fault_bmc_restart = "fault-bmc-restart",
    fault_host_hangs = "fault-host-hangs",
    fault_host_panics = "fault-host-panics",
    fault_host_boots_slowly = "fault-host-boots-slowly",
    fault_host_read_only_root = "fault-host-read-only-root",
    fault_host_network_loss = "fault-host-network-loss",
    fault_link_down = "fault-link-down",
    fault_link_flapping = "fault-link-flapping",
    fault_api_down = "fault-api-down",
    fault_api_slow = "fault-api-slow",
    fault_api_forgets_watches = "fault-api-forgets-watches",
    fault_bmc_refuses_media = "fault-bmc-refuses-media",
    fault_bmc_ignores_media = "fault-bmc-ignores-media",
    fault_raid_deletion_fails = "fault-raid-deletion-fails",
    fault_boots_old_disk = "fault-boots-old-disk",
    fault_agent_never_calls = "fault-agent-never-calls",
    fault_never_phones_home = "fault-never-phones-home",
    fault_image_wrong = "fault-image-wrong",
    fault_image_unreachable = "fault-image-unreachable",
    fault_disk_missing = "fault-disk-missing",
    fault_disk_twice = "fault-disk-twice",
    fault_disk_small = "fault-disk-small",
    fault_memory_missing = "fault-memory-missing",
    fault_nic_missing = "fault-nic-missing",
    fault_drive_missing = "fault-drive-missing",
    fault_firmware_job_stuck = "fault-firmware-job-stuck",
    fault_token_used_twice = "fault-token-used-twice",
    fault_token_stolen = "fault-token-stolen",
    fault_etcd_unreachable = "fault-etcd-unreachable",
    fault_etcd_learner_never_catches_up = "fault-etcd-learner-never-catches-up",
    fault_tenant_api_down = "fault-tenant-api-down",
    fault_tenant_api_tls = "fault-tenant-api-tls",
    fault_tenant_token_expired = "fault-tenant-token-expired",
    fault_tenant_eviction_error = "fault-tenant-eviction-error",
    fault_tenant_budgets_uncounted = "fault-tenant-budgets-uncounted",
    fault_pod_finalizer_stuck = "fault-pod-finalizer-stuck",
    fault_vm_ignores_shutdown = "fault-vm-ignores-shutdown",
    fault_vm_crashes = "fault-vm-crashes",
    tenants_live_on_the_machines = "tenants-live-on-the-machines",
    evacuate_and_return = "evacuate-and-return",
    what_a_person_does_meanwhile_wins = "what-a-person-does-meanwhile-wins",
    a_tenants_own_cordon_stays = "a-tenants-own-cordon-stays",
    restart_with_workloads = "restart-with-workloads",
    power_off_and_start_with_workloads = "power-off-and-start-with-workloads",
    the_power_is_cut_with_workloads = "the-power-is-cut-with-workloads",
    a_budget_waits = "a-budget-waits",
    a_budget_holds = "a-budget-holds",
    a_budget_is_forced = "a-budget-is-forced",
    a_vm_that_ignores_its_shutdown = "a-vm-that-ignores-its-shutdown",
    nothing_fits = "nothing-fits",
    evacuate_a_dead_machine = "evacuate-a-dead-machine",
    force_needs_proof = "force-needs-proof",
    the_life_of_a_vm = "the-life-of-a-vm",
    a_vm_that_fits_nowhere = "a-vm-that-fits-nowhere",
    a_stubborn_vm_is_switched_off = "a-stubborn-vm-is-switched-off",
    restart_a_tenant_node = "restart-a-tenant-node",
    bad_requests_about_tenants = "bad-requests-about-tenants",
    evacuate_while_a_tenant_api_is_down = "evacuate-while-a-tenant-api-is-down",
    evacuate_with_an_untrusted_tenant_api = "evacuate-with-an-untrusted-tenant-api",
    evacuate_with_an_expired_kubeconfig = "evacuate-with-an-expired-kubeconfig",
    evacuate_while_evictions_fail = "evacuate-while-evictions-fail",
    evacuate_a_pod_that_never_goes = "evacuate-a-pod-that-never-goes",
    evacuate_a_node_that_vanishes = "evacuate-a-node-that-vanishes",
    evacuate_while_the_control_plane_is_away = "evacuate-while-the-control-plane-is-away",
    evacuate_and_cancel = "evacuate-and-cancel",
    cancel_while_a_vm_ignores_its_shutdown = "cancel-while-a-vm-ignores-its-shutdown",
    a_tenants_only_control_plane_node = "a-tenants-only-control-plane-node",
    reimage_a_compute_machine = "reimage-a-compute-machine",
    reimage_a_machine_with_workloads = "reimage-a-machine-with-workloads",
    reimage_a_management_machine = "reimage-a-management-machine",
    reimage_a_control_plane_machine = "reimage-a-control-plane-machine",
    the_power_goes_under_the_agent = "the-power-goes-under-the-agent",
    replace_a_machine = "replace-a-machine",
    replace_and_keep_the_disks = "replace-and-keep-the-disks",
    replace_a_control_plane_machine = "replace-a-control-plane-machine",
    replace_says_what_is_wrong_with_it = "replace-says-what-is-wrong-with-it",
    validate_and_repair = "validate-and-repair",
    inspect_a_site = "inspect-a-site",
    what_to_do_about_a_sick_server = "what-to-do-about-a-sick-server",
}

#[test]
fn every_story_is_told() {
    let stories = Path::new(env!("CARGO_MANIFEST_DIR")).join("stories");
    let mut written: Vec<String> = std::fs::read_dir(stories)
        .expect("the stories are there")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok()?.strip_suffix(".story").map(str::to_owned))
        .collect();
    written.sort();
    let mut told: Vec<&str> = TOLD.to_vec();
    told.sort_unstable();
    assert_eq!(written, told);
}

//! An installation from its beginning to the joined node, and where it stops or goes on.

use super::*;

#[test]
fn an_installed_machine_takes_up_its_node_again_and_its_tenants_data_is_as_before() {
    let mut bench = bench();
    bench
        .world
        .modify_object(&NODES, &ObjectKey::cluster(NAME), Part::Main, START, |node: &Value| {
            let mut node = node.clone();
            node["spec"]["unschedulable"] = json!(true);
            node["metadata"]["labels"]["mine"] = json!("kept");
            Ok::<_, ObjectError>(node)
        })
        .unwrap();
    let (before, data) = (bench.node(), bench.digests());
    bench.install(TOKEN);
    assert_eq!(node::ready_status(&bench.node()), Some("Unknown"), "no kubelet runs beside the agent");
    assert!(!bench.world.is_host_up(bench.machine));
    bench.mint(&token_fields());
    bench.boot_disk();
    assert!(bench.world.is_host_up(bench.machine) && bench.is_quiet());
    bench.pass(60);
    assert_eq!(bench.answer(Outcome::Done), "phone home to http://control/phone-home");
    assert_eq!(bench.setup(), Setup::Joined);
    let node = bench.node();
    assert_eq!(node::ready_status(&node), Some("True"));
    assert_eq!((&node["spec"]["unschedulable"], &node["metadata"]["labels"]["mine"]), (&json!(true), &json!("kept")));
    assert_eq!(node["metadata"]["uid"], before["metadata"]["uid"]);
    let info = &node["status"]["nodeInfo"];
    assert_eq!((&info["osImage"], &info["kubeletVersion"]), (&json!("Linux 9"), &json!("v1.32.1")));
    assert_ne!(info["bootID"], before["status"]["nodeInfo"]["bootID"]);
    assert_eq!(bench.digests()[0], "OS: system 1f2e");
    assert_eq!(bench.digests()[1..], data[1..]);
    assert!(data[1].starts_with("Data1: data "), "{data:?}");

    // The next boot is like any other, and nothing is configured twice.
    bench.world.reset(bench.machine, ResetType::ForceRestart, bench.now);
    bench.pass(300);
    assert_eq!(node::ready_status(&bench.node()), Some("True"));
    assert!(bench.is_quiet());
}

#[test]
fn whoever_is_turned_away_by_the_cluster_stays_outside() {
    let expired = json!({"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
        "expiration": START.to_seconds_text()});
    let other = json!({"token-id": "abcdef", "token-secret": "fedcba9876543210", "usage-bootstrap-authentication": "true"});
    let unfit = json!({"token-id": "abcdef", "token-secret": "0123456789abcdef"});
    let cases = [
        (None, "there is no secret kube-system/bootstrap-token-abcdef"),
        (Some(expired), "kube-system/bootstrap-token-abcdef expired at 2027-01-15T08:00:00Z"),
        (Some(other), "the bootstrap token is not that of kube-system/bootstrap-token-abcdef"),
        (Some(unfit), "kube-system/bootstrap-token-abcdef is not for authentication"),
    ];
    for (fields, why) in cases {
        let mut bench = bench();
        bench.install(TOKEN);
        if let Some(fields) = fields {
            bench.mint(&fields);
        }
        bench.boot_disk();
        bench.pass(60);
        bench.answer(Outcome::Done);
        assert_eq!(bench.setup(), Setup::Outside { why: why.to_owned() });
        bench.pass(3_600);
        assert_eq!(node::ready_status(&bench.node()), Some("Unknown"));
        bench.world.reset(bench.machine, ResetType::ForceRestart, bench.now);
        bench.pass(3_600);
        assert_eq!(node::ready_status(&bench.node()), Some("Unknown"), "not after another boot either");
    }
}

#[test]
fn a_simulator_that_was_stopped_goes_on_with_every_step_of_an_installation() {
    let mut bench = bench();
    bench.boot_agent();
    bench.reopen();
    bench.answer(Outcome::Media(Box::new(config())));
    bench.reopen();
    assert_eq!(bench.answer(grant(WantedDisk::default())), "exchange as rack1compute01");
    bench.reopen();
    assert_eq!(bench.answer(image()), "image");
    bench.reopen();
    assert!(bench.is_quiet(), "the disk is written no faster than before");
    bench.pass(60);
    assert_eq!(bench.answer(Outcome::Done), "progress 25");
    bench.pass(60);
    bench.reopen();
    assert_eq!(bench.answer(Outcome::Done), "progress 50");
    bench.pass(60);
    bench.answer(Outcome::Done);
    bench.pass(60);
    bench.reopen();
    assert_eq!(bench.answer(seed(TOKEN)), "seed");
    bench.reopen();
    assert_eq!(bench.answer(Outcome::Done), "written 1f2e");
    bench.reopen();
    assert!(bench.is_quiet());
    bench.mint(&token_fields());
    bench.boot_disk();
    bench.reopen();
    bench.pass(60);
    bench.reopen();
    bench.answer(Outcome::Done);
    assert_eq!(bench.setup(), Setup::Joined);
    bench.reopen();
    assert_eq!(bench.node()["status"]["nodeInfo"]["osImage"], "Linux 9");
}

#[test]
fn what_cannot_be_fetched_is_passed_over_for_the_old_system() {
    for outcome in [silence(), Outcome::Refused { status: 404 }] {
        let mut bench = bench();
        bench.boot_agent();
        bench.answer(outcome);
        bench.pass(300);
        assert!(bench.world.is_host_up(bench.machine));
        assert_eq!(node::ready_status(&bench.node()), Some("True"));
        assert_eq!(bench.digests()[0], "OS: system as delivered");
        assert!(bench.is_quiet());
    }
}

#[test]
fn a_machine_without_power_hears_no_answer_and_a_half_written_disk_starts_nothing() {
    let mut bench = bench();
    bench.boot_agent();
    let call = bench.asked();
    bench.world.reset(bench.machine, ResetType::ForceOff, bench.now);
    bench.pass(10);
    bench.world.finish_errand(call.machine, call.number, Outcome::Media(Box::new(config())), bench.now);
    assert_eq!(bench.world.power_state(bench.machine), PowerState::Off);
    assert!(bench.is_quiet());

    bench.world.set_boot_override(
        bench.machine,
        BootOverride { enabled: BootEnabled::Once, target: BootTarget::Cd, ..BootOverride::default() },
        bench.now,
    );
    bench.world.reset(bench.machine, ResetType::On, bench.now);
    bench.pass(300);
    bench.answer(Outcome::Media(Box::new(config())));
    bench.answer(grant(WantedDisk::default()));
    bench.answer(image());
    bench.pass(30);
    bench.boot_disk();
    bench.pass(3_600);
    assert!(!bench.world.is_host_up(bench.machine));
    assert_eq!(bench.digests()[0], "OS: nothing");
}

#[test]
fn an_override_that_holds_once_is_used_up_and_one_that_stays_starts_the_agent_again() {
    let mut bench = bench();
    bench.boot_agent();
    bench.asked();
    bench.world.reset(bench.machine, ResetType::ForceRestart, bench.now);
    bench.pass(300);
    assert!(bench.is_quiet() && bench.world.is_host_up(bench.machine));
    let boot = BootOverride { enabled: BootEnabled::Continuous, target: BootTarget::Pxe, ..BootOverride::default() };
    bench.world.set_boot_override(bench.machine, boot, bench.now);
    for _ in 0..2 {
        bench.world.reset(bench.machine, ResetType::ForceRestart, bench.now);
        bench.pass(300);
        assert_eq!(brief(&bench.asked().errand), "media Pxe");
    }
}

#[test]
fn a_disk_is_found_by_what_it_is_called_and_never_guessed() {
    let bench = bench();
    let inventory = bench.world.inventory(bench.machine);
    let volumes: Vec<_> = bench.world.hardware(bench.machine).volumes.iter().cloned().collect();
    let wanted = [
        (WantedDisk { volume: Some("OS".to_owned()), ..WantedDisk::default() }, "image"),
        (WantedDisk { wwn: Some(volumes[0].wwn(&inventory).to_uppercase()), ..WantedDisk::default() }, "image"),
        (WantedDisk { volume: Some("Data9".to_owned()), ..WantedDisk::default() }, "failed MissingDisk: no disk has volume Data9"),
    ];
    for (disk, next) in wanted {
        let mut bench = self::bench();
        bench.boot_agent();
        bench.answer(Outcome::Media(Box::new(config())));
        bench.answer(grant(disk));
        assert_eq!(brief(&bench.asked().errand), next);
    }
}

#[test]
fn a_drive_is_a_disk_only_while_it_belongs_to_no_volume() {
    let serial = bench().world.inventory(bench().machine).drives[1].serial_number.clone();
    let disk = WantedDisk { serial: Some(serial.clone()), ..WantedDisk::default() };
    for (is_free, next) in [(true, "image".to_owned()), (false, format!("failed MissingDisk: no disk has serial number {serial}"))] {
        let mut bench = bench();
        if is_free {
            bench.world.delete_volume(bench.machine, 1, bench.now).unwrap();
            bench.pass(120);
        }
        bench.boot_agent();
        bench.answer(Outcome::Media(Box::new(config())));
        bench.answer(grant(disk.clone()));
        assert_eq!(brief(&bench.asked().errand), next);
    }
}

#[test]
fn tenants_data_is_no_disk_to_install_on() {
    let mut bench = bench();
    let data = bench.digests()[1..].to_vec();
    bench.world.delete_volume(bench.machine, 1, bench.now).unwrap();
    bench.pass(120);
    bench.boot_agent();
    bench.answer(Outcome::Media(Box::new(config())));
    bench.answer(grant(WantedDisk::default()));
    assert_eq!(bench.answer(Outcome::Done), "failed MissingDisk: the controller shows no volume for it");
    assert_eq!(bench.digests(), data);
}

#[test]
fn bare_drives_are_no_disk_and_a_new_volume_is_an_empty_one() {
    let mut bench = bench();
    bench.world.reset_storage(bench.machine, bench.now).unwrap();
    bench.pass(120);
    bench.boot_agent();
    bench.answer(Outcome::Media(Box::new(config())));
    bench.answer(grant(WantedDisk::default()));
    assert_eq!(bench.answer(Outcome::Done), "failed MissingDisk: the controller shows no volume for it");
    let wanted = NewVolume { name: "OS".to_owned(), level: RaidLevel::Raid1, bays: vec![0, 1] };
    bench.world.create_volume(bench.machine, wanted, bench.now).unwrap();
    bench.pass(120);
    assert_eq!(bench.digests(), ["OS: nothing"]);
}

#[test]
fn an_agent_asks_again_where_nobody_answers_and_gives_up_on_an_image_that_never_comes() {
    let mut bench = bench();
    bench.boot_agent();
    bench.answer(Outcome::Media(Box::new(config())));
    bench.answer(silence());
    assert!(bench.is_quiet());
    bench.pass(10);
    bench.answer(grant(WantedDisk::default()));
    for _ in 0..3 {
        assert_eq!(bench.answer(silence()), "image");
        bench.pass(10);
    }
    assert_eq!(bench.answer(Outcome::Done), "failed ImageUnreachable: http://images/os.img: nobody answers");
    bench.pass(3_600);
    assert!(bench.is_quiet());
    assert_eq!(bench.digests()[0], "OS: system as delivered", "nothing was written");
}

#[test]
fn an_agent_whose_attempt_is_over_does_nothing_more() {
    let mut bench = bench();
    bench.boot_agent();
    bench.answer(Outcome::Media(Box::new(config())));
    bench.answer(Outcome::Refused { status: 409 });
    bench.pass(3_600);
    assert!(bench.is_quiet());
}

#[test]
fn nothing_that_a_machine_knows_shows_its_tokens() {
    let mut bench = bench();
    bench.install(TOKEN);
    let shown = format!("{:?} {:?}", bench.world.states[bench.machine], bench.world.hardware(bench.machine).volumes);
    for secret in ["agent-token", "system-token", TOKEN, "\"session\""] {
        assert!(!shown.contains(secret), "{secret}");
    }
    assert!(matches!(bench.world.hardware(bench.machine).volumes.iter().next().unwrap().contents, Contents::System(_)));
}

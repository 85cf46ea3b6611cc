//! What is asked of KubeVirt and Cluster API: what is sent, and what a refusal means.

use expect_test::expect;
use fake::{Fake, Reply, refusal};
use kubernetes::VmSecrets;
use model::{DiskRef, DiskStorage, OsDisk, Registry, SecretRef, Shutdown, VmName, VmRef, VmSpec};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::fake;

const STOP: &str = "PUT /apis/subresources.kubevirt.io/v1/namespaces/tenants/virtualmachines/fw/stop";

fn meant() -> VmRef {
    VmRef { name: VmName::new("fw").unwrap(), uid: "u-1".to_owned() }
}

fn vm(uid: &str, labels: &Value) -> Reply {
    Reply::Answer(
        200,
        json!({"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "fw", "uid": uid, "labels": labels},
        "spec": {"dataVolumeTemplates": [{"metadata": {"name": "data"}}, {"metadata": {"name": "fw-os"}}]}}),
    )
}

fn found() -> Fake {
    Fake::default().on("LIST", vm("u-1", &json!({})))
}

#[tokio::test]
async fn a_stop_looks_first_and_asks_for_no_grace_only_where_it_is_forced() {
    let fake = found().on("PUT", Reply::Answer(202, json!({})));
    assert_eq!(fake.undercloud().request_vm_stop(&meant(), Shutdown::Graceful, None).await, Ok(()));
    assert_eq!(fake.undercloud().request_vm_stop(&meant(), Shutdown::Skip, None).await, Ok(()));
    assert_eq!(fake.undercloud().request_vm_start(&meant()).await, Ok(()));
    expect![[r#"
        GET /apis/kubevirt.io/v1/namespaces/tenants/virtualmachines/fw
        PUT /apis/subresources.kubevirt.io/v1/namespaces/tenants/virtualmachines/fw/stop application/json
        GET /apis/kubevirt.io/v1/namespaces/tenants/virtualmachines/fw
        PUT /apis/subresources.kubevirt.io/v1/namespaces/tenants/virtualmachines/fw/stop application/json {"gracePeriod":0}
        GET /apis/kubevirt.io/v1/namespaces/tenants/virtualmachines/fw
        PUT /apis/subresources.kubevirt.io/v1/namespaces/tenants/virtualmachines/fw/start application/json
    "#]]
    .assert_eq(&fake.take_log());
}

#[tokio::test]
async fn what_is_so_already_is_accepted_and_other_conflicts_are_not() {
    for (message, is_accepted) in [
        ("Operation cannot be fulfilled on virtualmachine.kubevirt.io \"fw\": VM is not running", true),
        ("Operation cannot be fulfilled on virtualmachine.kubevirt.io \"fw\": VM is already running", true),
        ("Halted does not support manual stop requests", true),
        ("Halted only supports manual stop requests with a shorter graceperiod", true),
        ("the object has been modified; please apply your changes to the latest version and try again", false),
    ] {
        let fake = found().on(STOP, refusal(409, message));
        let answer = fake.undercloud().request_vm_stop(&meant(), Shutdown::Graceful, None).await;
        assert_eq!(answer.is_ok(), is_accepted, "{message}");
    }
}

#[tokio::test]
async fn another_of_the_same_name_is_not_stopped() {
    let fake = Fake::default().on("LIST", vm("u-2", &json!({})));
    let undercloud = fake.undercloud();
    expect!["missing: stop of virtual machine fw: it is gone, and another has its name"]
        .assert_eq(&undercloud.request_vm_stop(&meant(), Shutdown::Skip, None).await.unwrap_err().to_string());
    assert!(!fake.take_log().contains("PUT"));
    expect!["missing: stop of virtual machine fw answered 404: not found"]
        .assert_eq(&Fake::default().undercloud().request_vm_stop(&meant(), Shutdown::Skip, None).await.unwrap_err().to_string());
}

const INSTANCE: &str = "LIST /apis/kubevirt.io/v1/namespaces/tenants/virtualmachineinstances/fw";

fn instance_on(node: &str) -> Reply {
    let instance = json!({"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance", "metadata": {"name": "fw", "uid": "i-1"},
        "status": {"nodeName": node}});
    Reply::Answer(200, instance)
}

#[tokio::test]
async fn one_that_has_moved_is_not_stopped_for_the_sake_of_the_node_that_it_left() {
    let there = Some("rack1compute01");
    let fake = found().on(INSTANCE, instance_on("rack1compute01")).on("PUT", Reply::Answer(202, json!({})));
    assert_eq!(fake.undercloud().request_vm_stop(&meant(), Shutdown::Graceful, there).await, Ok(()));
    expect![[r#"
        GET /apis/kubevirt.io/v1/namespaces/tenants/virtualmachines/fw
        GET /apis/kubevirt.io/v1/namespaces/tenants/virtualmachineinstances/fw
        PUT /apis/subresources.kubevirt.io/v1/namespaces/tenants/virtualmachines/fw/stop application/json
    "#]]
    .assert_eq(&fake.take_log());
    for elsewhere in [instance_on("rack1compute02"), instance_on(""), refusal(404, "gone")] {
        let fake = found().on(INSTANCE, elsewhere).on("PUT", Reply::Answer(202, json!({})));
        let fault = fake.undercloud().request_vm_stop(&meant(), Shutdown::Skip, there).await.unwrap_err();
        let told = format!("{fault} [delivered: {:?}]", fault.delivery);
        assert_eq!(told, "missing: stop of virtual machine fw: it is not on node rack1compute01 any more [delivered: No]");
        assert!(!fake.take_log().contains("PUT"));
    }
    let fake = found().on(INSTANCE, refusal(503, "later"));
    assert!(fake.undercloud().request_vm_stop(&meant(), Shutdown::Skip, there).await.is_err(), "where it is has to be known");
    assert!(!fake.take_log().contains("PUT"));
}

#[tokio::test]
async fn a_deletion_names_the_uid() {
    let gone = json!({"kind": "Status", "apiVersion": "v1", "status": "Success"});
    let fake = found().on("DELETE", Reply::Answer(200, gone)).on("DELETE", refusal(404, "gone"));
    let undercloud = fake.undercloud();
    assert_eq!(undercloud.request_vm_delete(&meant()).await, Ok(()));
    assert_eq!(undercloud.request_vm_delete(&meant()).await, Ok(()), "what is gone is deleted");
    expect![[r#"
        DELETE /apis/kubevirt.io/v1/namespaces/tenants/virtualmachines/fw? application/json {"preconditions":{"uid":"u-1"}}
        DELETE /apis/kubevirt.io/v1/namespaces/tenants/virtualmachines/fw? application/json {"preconditions":{"uid":"u-1"}}
    "#]]
    .assert_eq(&fake.take_log());
}

#[tokio::test]
async fn a_disk_is_thrown_away_by_its_uid_in_one_call_that_waits_for_nothing() {
    let disk = DiskRef { name: "fw-os".to_owned(), uid: "d-1".to_owned() };
    let leaving = json!({"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": "DataVolume", "metadata": {"name": "fw-os", "uid": "d-1"}});
    let another = "Precondition failed: UID in precondition: d-1, UID in object meta: d-2";
    let fake = Fake::default()
        .on("DELETE", Reply::Answer(200, leaving))
        .on("DELETE", refusal(404, "gone"))
        .on("DELETE", refusal(409, another))
        .on("DELETE", refusal(409, "the object is being used"));
    let undercloud = fake.undercloud();
    assert_eq!(undercloud.request_disk_discard(&disk).await, Ok(()));
    expect![[r#"
        DELETE /apis/cdi.kubevirt.io/v1beta1/namespaces/tenants/datavolumes/fw-os? application/json {"propagationPolicy":"Foreground","preconditions":{"uid":"d-1"}}
    "#]].assert_eq(&fake.take_log());
    assert_eq!(undercloud.request_disk_discard(&disk).await, Ok(()), "what is gone is thrown away");
    assert_eq!(undercloud.request_disk_discard(&disk).await, Ok(()), "what has its name is another, and stays");
    assert!(undercloud.request_disk_discard(&disk).await.is_err());
}

fn described() -> VmSpec {
    VmSpec {
        cpu_cores: 2,
        memory_gb: 4,
        image: "fw:1".to_owned(),
        os_disk: OsDisk { size_gb: 10, storage: DiskStorage::Ephemeral },
        user_data: Some(SecretRef::new("u")),
        registry: Some(Registry { url: "registry.example".to_owned(), username: "bob".to_owned(), password: SecretRef::new("p") }),
        ..VmSpec::default()
    }
}

fn secrets() -> VmSecrets {
    let secret = |text: &str| Some(Zeroizing::new(text.as_bytes().to_vec()));
    VmSecrets { user_data: secret("#cloud-config\nhostname: fw\n"), network_data: None, registry_password: secret("hunter2") }
}

#[tokio::test]
async fn a_virtual_machine_is_made_after_its_secrets_and_its_passwords_are_told_nobody() {
    let ours = json!({"app.kubernetes.io/managed-by": "rackwright"});
    let Reply::Answer(_, made) = vm("u-1", &ours) else { unreachable!() };
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}});
    let fake = Fake::default()
        .on("POST /api/v1/namespaces/tenants/secrets", Reply::Answer(201, secret.clone()))
        .on("POST", Reply::Answer(201, made))
        .on("PATCH", Reply::Answer(200, secret));
    assert_eq!(fake.undercloud().request_vm(&meant().name, &described(), &secrets()).await, Ok(()));
    let log = fake.take_log();
    let asked: Vec<&str> = log.lines().map(|line| line.split_once('?').unwrap().0).collect();
    let made = "POST /apis/kubevirt.io/v1/namespaces/tenants/virtualmachines";
    assert_eq!(asked[..3], ["POST /api/v1/namespaces/tenants/secrets", "POST /api/v1/namespaces/tenants/secrets", made]);
    let rest: Vec<&str> = log.lines().skip(2).collect();
    assert!(!rest.concat().contains("hunter2"), "the object itself holds no secret");
    expect![[r#"
        PATCH /api/v1/namespaces/tenants/secrets/fw-cloud-init?&fieldManager=rackwright application/merge-patch+json {"metadata":{"ownerReferences":[{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","name":"fw","uid":"u-1"}]}}
        PATCH /api/v1/namespaces/tenants/secrets/fw-registry?&fieldManager=rackwright application/merge-patch+json {"metadata":{"ownerReferences":[{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","name":"fw","uid":"u-1"}]}}"#]].assert_eq(&rest[1..].join("\n"));
    assert!(!format!("{:?}", secrets()).contains("hunter2"));
}

#[tokio::test]
async fn a_name_that_somebody_else_has_taken_is_a_fault_and_our_own_is_not() {
    let there = json!({"kind": "Status", "status": "Failure", "reason": "AlreadyExists", "code": 409});
    let spec = VmSpec { user_data: None, registry: None, ..described() };
    let make = async |labels: Value| {
        let fake = Fake::default().on("POST", Reply::Answer(409, there.clone())).on("LIST", vm("u-9", &labels));
        fake.undercloud().request_vm(&meant().name, &spec, &VmSecrets::default()).await
    };
    assert_eq!(make(json!({"app.kubernetes.io/managed-by": "rackwright"})).await, Ok(()));
    expect!["unsupported: POST virtual machine fw: somebody else has made one of that name"]
        .assert_eq(&make(json!({})).await.unwrap_err().to_string());
}

#[tokio::test]
async fn a_machine_of_cluster_api_is_marked_and_unmarked_in_the_preferred_version() {
    let version = json!({"groupVersion": "cluster.x-k8s.io/v1beta2", "version": "v1beta2"});
    let groups =
        json!({"kind": "APIGroupList", "groups": [{"name": "cluster.x-k8s.io", "versions": [version], "preferredVersion": version}]});
    let fake = Fake::default()
        .on("LIST /apis", Reply::Answer(200, groups))
        .on("PATCH", Reply::Answer(200, json!({"apiVersion": "x/v1", "kind": "Machine", "metadata": {"name": "m"}})));
    assert_eq!(fake.undercloud().request_remediation_skip("m").await, Ok(()));
    assert_eq!(fake.undercloud().request_remediation_resume("m").await, Ok(()));
    expect![[r#"
        GET /apis
        PATCH /apis/cluster.x-k8s.io/v1beta2/namespaces/tenants/machines/m?&fieldManager=rackwright application/merge-patch+json {"metadata":{"annotations":{"cluster.x-k8s.io/skip-remediation":"rackwright"}}}
        GET /apis
        PATCH /apis/cluster.x-k8s.io/v1beta2/namespaces/tenants/machines/m?&fieldManager=rackwright application/merge-patch+json {"metadata":{"annotations":{"cluster.x-k8s.io/skip-remediation":null}}}
    "#]]
    .assert_eq(&fake.take_log());
}

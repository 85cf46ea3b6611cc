//! The OpenAPI document: as it is shipped, as others' validator reads it, and held against what is really answered.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use expect_test::{expect, expect_file};
use http::{Method, StatusCode};
use scenarios::{House, SUBSCRIPTION, machine_path, peer};
use serde_json::{Value, json};

async fn document(house: &House) -> Value {
    house.get("/rackwright/v1/openapi.json").await
}

#[tokio::test(start_paused = true)]
async fn the_document_is_the_one_in_docs() {
    let house = House::build(1, 4).await;
    let pretty = serde_json::to_string_pretty(&document(&house).await).expect("JSON prints");
    expect_file!["../../../docs/openapi.json"].assert_eq(&format!("{pretty}\n"));
    house.close().await;
}

#[test]
fn a_validator_that_others_wrote_finds_no_fault_with_it() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let checked = Command::new(peer("venv/bin/openapi-spec-validator")).arg(document).output().expect("the validator runs");
    assert!(checked.status.success(), "{}{}", String::from_utf8_lossy(&checked.stdout), String::from_utf8_lossy(&checked.stderr));
}

/// Holds values against the document's schemas, and remembers which fields it has met.
struct Inspector<'a> {
    schemas: &'a Value,
    met: BTreeSet<String>,
}

impl Inspector<'_> {
    /// What is wrong with a value, if anything is. `at` is where it was found.
    fn inspect(&mut self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        if let Some(name) = schema["$ref"].as_str().and_then(|link| link.strip_prefix("#/components/schemas/")) {
            return self.inspect_object(&self.schemas[name].clone(), value, name);
        }
        if let Some(choices) = schema["anyOf"].as_array() {
            let problems: Vec<String> = choices.iter().filter_map(|choice| self.inspect(choice, value, at).err()).collect();
            return if problems.len() < choices.len() { Ok(()) } else { Err(problems.join(" or ")) };
        }
        let kinds: Vec<&str> = match &schema["type"] {
            Value::String(kind) => vec![kind],
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => return Ok(()),
        };
        if !kinds.contains(&kind_of(value)) {
            return Err(format!("{at} is {value}, not {kinds:?}"));
        }
        if let Some(choices) = schema["enum"].as_array()
            && !choices.contains(value)
        {
            return Err(format!("{at} is {value}, none of {choices:?}"));
        }
        for item in value.as_array().into_iter().flatten() {
            self.inspect(&schema["items"], item, &format!("{at}[]"))?;
        }
        if schema.get("properties").is_some() { self.inspect_object(schema, value, at) } else { Ok(()) }
    }

    fn inspect_object(&mut self, schema: &Value, value: &Value, name: &str) -> Result<(), String> {
        let Some(object) = value.as_object() else { return Err(format!("{name} is {value}, not an object")) };
        for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(required) {
                return Err(format!("{name}.{required} is missing"));
            }
        }
        for (field, value) in object {
            let Some(schema) = schema["properties"].get(field) else { return Err(format!("{name}.{field} is not in the document")) };
            self.met.insert(format!("{name}.{field}"));
            self.inspect(schema, value, &format!("{name}.{field}"))?;
        }
        Ok(())
    }

    /// The fields of everything that was met which were never seen themselves.
    fn unmet(&self) -> Vec<String> {
        let met_models: BTreeSet<&str> = self.met.iter().filter_map(|field| field.split('.').next()).collect();
        let models = self.schemas.as_object().into_iter().flatten().filter(|(name, _)| met_models.contains(name.as_str()));
        let fields = models.flat_map(|(name, schema)| {
            schema["properties"].as_object().into_iter().flatten().map(move |(field, _)| format!("{name}.{field}"))
        });
        fields.filter(|field| !self.met.contains(field)).collect()
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A site on which much has happened: an operation that runs, one that was cancelled, machines that are held, broken and
/// out of management. Returns the id of the one that ran to its end.
async fn live_through_much(house: &House) -> String {
    let act = |machine: &'static str, verb: &'static str, body: &'static str| async move {
        let reply = house.call(Method::POST, &format!("{}/{verb}?api-version=1", machine_path(machine)), "alice", body).await;
        assert!(reply.status.is_success(), "{}", reply.body);
        reply.body["name"].as_str().unwrap_or_default().to_owned()
    };
    let note = json!({ "tags": { "row": "7" }, "properties": { "machineDetails": "slow fan" } }).to_string();
    house.call(Method::PATCH, &format!("{}?api-version=1", machine_path("rack1compute01")), "alice", &note).await;
    let cluster = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/site1/providers/Microsoft.NetworkCloud/clusters/site1");
    let inspected = house.call(Method::POST, &format!("{cluster}/inspect?api-version=1"), "alice", "").await;
    house.until_ended(inspected.body["name"].as_str().unwrap_or_else(|| panic!("{}", inspected.body))).await;
    let cancelled = act("rack1compute01", "restart", "").await;
    house.call(Method::POST, &format!("/rackwright/v1/operations/{cancelled}/cancel"), "bob", "").await;
    house.until_ended(&cancelled).await;
    let done = act("rack2compute01", "powerOff", "").await;
    house.until_ended(&done).await;
    act("rack3compute01", "unmanage", r#"{"reason":"new fan"}"#).await;
    act("rack4compute01", "unmanage", r#"{"reason":"new fan"}"#).await;
    act("rack4compute01", "manage", r#"{"reason":"fan replaced"}"#).await;
    for phrase in ["bmc-unreachable rack3compute01", "link-down rack4compute01"] {
        let orders = sim::parse_order(phrase, house.site.layout()).expect("the fault is understood");
        house.site.add_faults(&orders).await.expect("the fault is taken up");
    }
    tokio::time::sleep(std::time::Duration::from_secs(600)).await;
    act("rack1compute01", "restart", "").await;
    done
}

/// What tenants have on the site, written down as a keeper would that had seen it.
async fn let_tenants_in(house: &House) {
    let at = "2026-11-15T14:00:00.000Z";
    let written = json!({ "by": "alice", "at": at });
    let vm = json!({
        "name": "firewallvnf", "cluster": "site1", "createdAt": at, "edition": 2, "modified": written, "provisioning": "Succeeded",
        "uid": "u1", "machine": "rack1compute01", "tags": { "row": "7" },
        "spec": {
            "cpuCores": 4, "memoryGb": 8, "image": "registry/fw:1", "adminUsername": "azureuser", "osDisk": { "sizeGb": 20 },
            "bootMethod": "UEFI", "deviceModel": "T2", "virtioInterface": "Modern", "isolateEmulatorThread": true,
            "cloudServicesNetwork": { "networkId": "/csn", "ipAllocation": "Dynamic" },
            "networks": [{
                "networkId": "/l3", "ipAllocation": "Static", "defaultGateway": true, "ipv4Address": "10.0.0.9", "ipv6Address": "fd00::9",
                "name": "mgmt",
            }],
            "placementHints": [
                { "kind": "AntiAffinity", "execution": "Hard", "scope": "Rack", "target": { "kind": "rack", "name": "rack2" } },
            ],
            "sshPublicKeys": ["ssh-ed25519 AAAA"], "volumeAttachments": ["/volume"],
            "registry": { "url": "registry", "username": "u", "password": "vm/x/registryPassword" },
        },
        "lastSeen": { "at": at, "what": {
            "name": "firewallvnf", "uid": "u1", "run": "Always", "state": "Running", "cpuCores": 4, "memoryBytes": 8_u64 << 30, "grace": 1,
        } },
    });
    let node = json!({
        "role": "Worker", "pool": "agentpool1", "machine": "rack2compute01", "vm": "Running", "ready": "True", "isUnschedulable": false,
        "version": "v1.31.4", "cpuCores": 8, "memoryBytes": 32_u64 << 30, "since": at,
    });
    let tenant = json!({
        "name": "naks-01", "cluster": "site1", "createdAt": at, "nodes": { "naks-01-agentpool1-md-tjr8k-4qqx4": node },
        "settings": { "modified": written }, "pools": { "agentpool1": { "modified": written, "drainPolicy": "hold" } },
        "fault": { "at": at, "what": { "class": "unreachable", "delivery": "no", "detail": "x" } },
        "lastSeen": {
            "name": "naks-01", "uid": "u2", "phase": "Provisioned", "version": "v1.31.4", "machines": [],
            "pools": [{ "name": "agentpool1", "count": 1, "version": "v1.31.4" }],
        },
    });
    let written = store::Commit::default()
        .put("vms/site1/firewallvnf".to_owned(), vm.to_string().into_bytes())
        .put("tenantclusters/site1/naks-01".to_owned(), tenant.to_string().into_bytes());
    house.store.commit(written).await.expect("the store takes documents");
    house.settle().await;
}

/// One of each kind.
async fn write_key_sets(house: &House) {
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBvqyFZzF9gQZ7u0x3mRrT1yZ0Jb3uK7n2mR2uDk0l6J";
    let user =
        json!({ "azureUserName": "bob", "description": "on call", "sshPublicKey": { "keyData": key }, "userPrincipalName": "bob@x" });
    let expiration = house.clock.now() + model::Span::hours(24);
    let of_bmcs = json!({ "azureGroupId": "g", "expiration": expiration, "privilegeLevel": "ReadOnly", "userList": [user] });
    let mut of_machines = of_bmcs.clone();
    for (name, value) in [
        ("privilegeLevel", json!("Other")),
        ("privilegeLevelName", json!("x")),
        ("osGroupName", json!("x")),
        ("jumpHostsAllowed", json!(["10.0.0.1"])),
    ] {
        of_machines[name] = value;
    }
    for (kind, properties) in [("bareMetalMachineKeySets", of_machines), ("bmcKeySets", of_bmcs)] {
        let path = format!("{}/{kind}/ops?api-version=1", scenarios::resource_path("clusters", "site1"));
        let reply = house.call(Method::PUT, &path, "alice", &json!({ "properties": properties }).to_string()).await;
        assert_eq!(reply.status, StatusCode::CREATED, "{}", reply.body);
    }
}

/// What is administered at the root, a subscription, a group and a resource: each has a role assignment of its own, named by the number of levels.
fn scopes() -> [(String, String); 4] {
    let group = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/site1");
    let scopes = [String::new(), format!("/subscriptions/{SUBSCRIPTION}"), group, machine_path("rack1compute01")];
    scopes.map(|scope| {
        let id = format!("00000000-0000-4000-8000-{:012}", scope.split('/').count());
        (scope, id)
    })
}

/// One of each thing that is administered; returns a service principal's id.
async fn administer(house: &House) -> String {
    let put = async |method: Method, path: &str, body: Value| {
        let reply = house.call(method, &format!("{path}?api-version=1"), "alice", &body.to_string()).await;
        assert!(reply.status.is_success(), "{path}: {}", reply.body);
        reply.body
    };
    let made = put(Method::POST, "/rackwright/v1/principals", json!({ "displayName": "pipeline" })).await;
    let principal = made["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    put(Method::POST, &format!("/rackwright/v1/principals/{principal}/secrets"), json!({ "displayName": "first", "days": 1 })).await;
    let pem = include_str!("openapi/client.pem");
    put(Method::POST, &format!("/rackwright/v1/principals/{principal}/certificates"), json!({ "pem": pem })).await;
    let keys = house.call(Method::GET, "/adfs/discovery/keys", "alice", "").await.body;
    let issuer = json!({ "issuer": "https://login.example.com", "audiences": ["rackwright"], "keys": keys });
    put(Method::PUT, "/rackwright/v1/issuers/corporate", issuer).await;
    let limits = json!({ "limits": { "cores": 1_000, "virtualMachines": 100, "networks": 100 } });
    put(Method::PUT, &format!("/rackwright/v1/subscriptions/{SUBSCRIPTION}/quotas"), limits).await;
    for (scope, id) in scopes() {
        let collection = |name: &str| format!("{scope}/providers/Microsoft.Authorization/{name}");
        let lock = json!({ "properties": { "level": "CanNotDelete", "notes": "x" } });
        put(Method::PUT, &format!("{}/keep", collection("locks")), lock).await;
        let conditions = json!([
            { "field": "name", "like": "test*" }, { "field": "name", "notLike": "x*" }, { "field": "tags.a", "exists": false },
            { "field": "type", "equals": "x" }, { "field": "type", "notEquals": "y" },
            { "field": "location", "in": ["x"] }, { "field": "location", "notIn": ["y"] },
        ]);
        let policy = json!({ "properties": { "displayName": "x", "reason": "no tests", "conditions": conditions } });
        put(Method::PUT, &format!("{}/no-tests", collection("policyAssignments")), policy).await;
        let role = format!("{}/{READER}", collection("roleDefinitions"));
        let assignment =
            json!({ "properties": { "roleDefinitionId": role, "principalId": principal, "principalType": "ServicePrincipal" } });
        put(Method::PUT, &format!("{}/{id}", collection("roleAssignments")), assignment).await;
    }
    principal
}

/// Azure's id of the role Reader.
const READER: &str = "acdd72a7-3385-48ef-bd42-f606fba81ae7";

/// The id of the newest entry of the activity log.
async fn latest_entry(house: &House) -> String {
    let path = format!("/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Insights/eventtypes/management/values?api-version=1&$top=1");
    let reply = house.call(Method::GET, &path, "alice", "").await;
    reply.body["value"][0]["eventDataId"].as_str().unwrap_or_else(|| panic!("{}", reply.body)).to_owned()
}

#[tokio::test(start_paused = true)]
async fn what_every_read_answers_is_in_the_document() {
    let house = House::build(4, 3).await;
    let_tenants_in(&house).await;
    house.import_runtimes().await;
    write_key_sets(&house).await;
    let operation = live_through_much(&house).await;
    let entry = latest_entry(&house).await;
    let principal = administer(&house).await;
    let document = document(&house).await;
    let mut inspector = Inspector { schemas: &document["components"]["schemas"], met: BTreeSet::new() };
    let mut read = 0;
    for (path, methods) in document["paths"].as_object().expect("a document has paths") {
        let answers = &methods["get"]["responses"]["200"]["content"]["application/json"]["schema"];
        // What is no JSON has tests of its own.
        if answers.is_null() {
            continue;
        }
        for machine in ["rack1compute01", "rack2compute01", "rack3compute01", "rack4compute01", "rack4control01"] {
            let values = [
                ("{subscriptionId}", SUBSCRIPTION),
                ("{resourceGroupName}", "site1"),
                ("{clusterName}", "site1"),
                ("{rackName}", "rack1"),
                ("{bareMetalMachineName}", machine),
                ("{virtualMachineName}", "firewallvnf"),
                ("{kubernetesClusterName}", "naks-01"),
                ("{agentPoolName}", "agentpool1"),
                ("{version}", "4.9.2"),
                ("{keySetName}", "ops"),
                ("{namespace}", "Microsoft.NetworkCloud"),
                ("{location}", "local"),
                ("{operationId}", &operation),
                ("{eventDataId}", &entry),
            ];
            let [of_root, of_subscription, of_group, of_resource] = scopes().map(|(_, id)| id);
            let assignment = match path {
                path if path.contains("{resourceName}") => of_resource,
                path if path.contains("{resourceGroupName}") => of_group,
                path if path.contains("{subscriptionId}") => of_subscription,
                _ => of_root,
            };
            let administered = [
                ("{tenantId}", "adfs"),
                ("{principalId}", principal.as_str()),
                ("{lockName}", "keep"),
                ("{policyAssignmentName}", "no-tests"),
                ("{roleAssignmentName}", &assignment),
                ("{roleDefinitionId}", READER),
                ("{resourceProviderNamespace}", "Microsoft.NetworkCloud"),
                ("{resourceType}", "bareMetalMachines"),
                ("{resourceName}", "rack1compute01"),
            ];
            let address = values.iter().chain(&administered).fold(path.clone(), |path, (name, value)| path.replace(name, value));
            assert!(!address.contains('{'), "the test has no value for {address}");
            let reply = house.call(Method::GET, &format!("{address}?api-version=1&$top=3"), "alice", "").await;
            assert_eq!(reply.status, StatusCode::OK, "{address}: {}", reply.body);
            inspector.inspect(answers, &reply.body, path).unwrap_or_else(|problem| panic!("{address}: {problem}"));
            read += 1;
            if !path.contains("{bareMetalMachineName}") {
                break;
            }
        }
    }
    assert!(read > 20, "only {read} answers were read");
    // Each of these needs a site of another shape, or a moment that is hard to catch.
    expect![[r#"
        BareMetalMachineProperties.hardwareInventory
        ClusterProperties.aggregatorOrSingleRackDefinition
        ClusterStatus.siteFileRefused
        ImageRepositoryCredentials.password
        KeeperState.error
        Operation.inspection
        OperationStatusResult.properties
        OperationStatusResult.error
        OsImage.packed
        PolicyCondition.equals
        PolicyCondition.notEquals
        PostCheck.awaits
        Principal.disabledAt
        Resource.createdTime
        Resource.changedTime
        Resource.provisioningState
        RoleAssignmentProperties.condition
        VirtualMachineProperties.networkData
        VirtualMachineProperties.networkDataContent
        VirtualMachineProperties.userData
        VirtualMachineProperties.userDataContent"#]]
    .assert_eq(&inspector.unmet().join("\n"));
    house.close().await;
}

#[tokio::test(start_paused = true)]
async fn errors_are_as_the_document_says_and_come_with_the_statuses_it_names() {
    let house = House::build(1, 4).await;
    let document = document(&house).await;
    let mut inspector = Inspector { schemas: &document["components"]["schemas"], met: BTreeSet::new() };
    let path = "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Microsoft.NetworkCloud/bareMetalMachines/{bareMetalMachineName}";
    let cases = [
        (Method::PATCH, "", "rack1compute01", "[]", 400),
        (Method::PATCH, "", "nobody", "{}", 404),
        (Method::PUT, "", "nobody", "{}", 409),
        (Method::DELETE, "", "rack1compute01", "", 409),
        (Method::POST, "/restart", "rack1control01", "[]", 400),
        (Method::POST, "/start", "nobody", "", 404),
    ];
    for (method, verb, machine, body, status) in cases {
        let reply = house.call(method.clone(), &format!("{}{verb}?api-version=1", machine_path(machine)), "alice", body).await;
        assert_eq!(reply.status.as_u16(), status, "{}", reply.body);
        let described = &document["paths"][format!("{path}{verb}")][method.as_str().to_ascii_lowercase()];
        let named = described["responses"][status.to_string()]["$ref"].as_str();
        let named = named.unwrap_or_else(|| panic!("{method} {verb} does not name {status}"));
        let schema = &document.pointer(named.trim_start_matches('#')).expect("it leads somewhere")["content"]["application/json"]["schema"];
        inspector.inspect(schema, &reply.body, "error").unwrap_or_else(|problem| panic!("{method} {verb}: {problem}"));
    }
    house.close().await;
}

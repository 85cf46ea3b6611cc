//! What KubeVirt and Cluster API are asked for. Each call is harmless to repeat, and names exactly the object that is meant.

use std::collections::BTreeMap;
use std::fmt;

use http::Request;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Api;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams, Preconditions};
use model::{Delivery, DiskRef, DiskStorage, Fault, FaultClass, Shutdown, VmName, VmRef, VmSpec};
use serde_json::{Value, json};
use tokio::time::timeout;
use zeroize::Zeroizing;

use crate::capi::SKIP_REMEDIATION;
use crate::eviction::is_about_uid;
use crate::fault::{self, Purpose};
use crate::name;
use crate::os_disk::{DATA_VOLUME, DATA_VOLUME_VERSION};
use crate::secret::{SecretData, SecretWanted};
use crate::tenants::{INSTANCE, KUBEVIRT_VERSION, MACHINE, VIRTUAL_MACHINE};
use crate::undercloud::{CALL_TIMEOUT, FIELD_MANAGER, Undercloud, within};
use crate::vm_object::{self, MANAGED_BY};

/// The secrets of a virtual machine that is to be made, out of the vault. They show nothing of themselves.
#[derive(Clone, Default)]
pub struct VmSecrets {
    pub user_data: Option<Zeroizing<Vec<u8>>>,
    pub network_data: Option<Zeroizing<Vec<u8>>>,
    pub registry_password: Option<Zeroizing<Vec<u8>>>,
}

impl fmt::Debug for VmSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VmSecrets").finish_non_exhaustive()
    }
}

impl Undercloud {
    /// Shuts exactly this virtual machine down, or ends it at once. One that does not run is left as it is. Where a node is named,
    /// the virtual machine is stopped only if it is there.
    pub async fn request_vm_stop(&self, vm: &VmRef, shutdown: Shutdown, node: Option<&str>) -> Result<(), Fault> {
        let body = match shutdown {
            Shutdown::Graceful => Vec::new(),
            Shutdown::Skip => json!({"gracePeriod": 0}).to_string().into_bytes(),
        };
        self.request_run(vm, "stop", body, node).await
    }

    /// Starts exactly this virtual machine. One that runs is left as it is.
    pub async fn request_vm_start(&self, vm: &VmRef) -> Result<(), Fault> {
        self.request_run(vm, "start", Vec::new(), None).await
    }

    async fn request_run(&self, vm: &VmRef, verb: &str, body: Vec<u8>, node: Option<&str>) -> Result<(), Fault> {
        let asked = format!("{verb} of virtual machine {vm}");
        let vms = self.vms(&vm.name)?;
        let path =
            format!("/apis/subresources.kubevirt.io/v1/namespaces/{}/virtualmachines/{}/{verb}", self.tenant_namespace, vm.name.key());
        let call = async {
            // The subresource takes no precondition: what may be sent to it is a grace period and a dry run. So the object is looked
            // at first, and where it has to be on one node its instance too. What happens between the look and the request, in the
            // few milliseconds that takes, KubeVirt gives no way to exclude.
            if !is_meant(&vms.get(&vm.name.key()).await?, vm) {
                return Ok(Found::Another);
            }
            if let Some(node) = node
                && !self.is_on(vm, node).await?
            {
                return Ok(Found::Elsewhere);
            }
            let request = Request::put(path).header("content-type", "application/json").body(body).map_err(kube::Error::HttpError)?;
            match self.client.request_text(request).await {
                Err(kube::Error::Api(status)) if status.code == 409 && is_already_so(&status.message) => Ok(Found::Meant),
                answer => answer.map(|_| Found::Meant),
            }
        };
        match within(&asked, Purpose::Request, call).await? {
            Found::Meant => Ok(()),
            Found::Another => Err(missing(&asked, "it is gone, and another has its name")),
            Found::Elsewhere => Err(missing(&asked, &format!("it is not on node {} any more", node.unwrap_or_default()))),
        }
    }

    /// Whether the instance of a virtual machine is on this node. One that has none is on no node.
    async fn is_on(&self, vm: &VmRef, node: &str) -> kube::Result<bool> {
        let instances: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), &self.tenant_namespace, &INSTANCE.at(KUBEVIRT_VERSION));
        match instances.get(&vm.name.key()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
            found => Ok(found?.data["status"]["nodeName"] == node),
        }
    }

    /// Deletes exactly this virtual machine, and its disks with it. One that is gone is deleted.
    pub async fn request_vm_delete(&self, vm: &VmRef) -> Result<(), Fault> {
        let vms = self.vms(&vm.name)?;
        let name = vm.name.key();
        let call = request_end(&vms, &name, &vm.uid, DeleteParams::default());
        within(&format!("DELETE virtual machine {vm}"), Purpose::Request, call).await
    }

    /// Throws away exactly this disk. One that is gone, or is another by now, is thrown away; when it is gone is seen by watching.
    pub async fn request_disk_discard(&self, disk: &DiskRef) -> Result<(), Fault> {
        name::check("a disk", &disk.name)?;
        let disks: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), &self.tenant_namespace, &DATA_VOLUME.at(DATA_VOLUME_VERSION));
        // The claim behind the disk goes first, so that nothing of the old disk is left when the disk is seen to be gone.
        let call = request_end(&disks, &disk.name, &disk.uid, DeleteParams::foreground());
        within(&format!("DELETE disk {}", disk.name), Purpose::Request, call).await
    }

    /// Makes a virtual machine, its secrets first; they go with it when it is deleted. One of that name that we made is left as it is; anybody else's is a fault.
    pub async fn request_vm(&self, vm: &VmName, spec: &VmSpec, secrets: &VmSecrets) -> Result<(), Fault> {
        let asked = format!("POST virtual machine {vm}");
        let vms = self.vms(vm)?;
        let document = vm_object::vm_object(vm, spec, &self.tenant_namespace);
        let document: DynamicObject = serde_json::from_value(document)
            .map_err(|_| Fault::new(FaultClass::Unsupported, Delivery::No, format!("{asked}: it cannot be written down")))?;
        let whole = async {
            let secrets = secrets_of(vm, spec, secrets, &self.tenant_namespace);
            for secret in &secrets {
                self.request_secret(secret).await?;
            }
            let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
            let made = match vms.create(&params, &document).await {
                Err(kube::Error::Api(status)) if status.is_already_exists() => vms.get(&vm.key()).await,
                made => made,
            };
            let made = made.map_err(|error| fault::failed(&asked, Purpose::Request, &error))?;
            if !is_ours(&made) {
                let because = format!("{asked}: somebody else has made one of that name");
                return Err(Fault::new(FaultClass::Unsupported, Delivery::No, because));
            }
            for secret in &secrets {
                self.request_secret_owner(secret, &owner(vm, &made)).await?;
            }
            Ok(())
        };
        timeout(CALL_TIMEOUT.to_std(), whole).await.map_err(|_| fault::silent(&asked, Purpose::Request, CALL_TIMEOUT))?
    }

    /// Tells Cluster API to leave a Machine alone although its node is down.
    pub async fn request_remediation_skip(&self, machine: &str) -> Result<(), Fault> {
        self.request_machine_patch(machine, &json!({"metadata": {"annotations": {SKIP_REMEDIATION: "rackwright"}}})).await
    }

    pub async fn request_remediation_resume(&self, machine: &str) -> Result<(), Fault> {
        self.request_machine_patch(machine, &json!({"metadata": {"annotations": {SKIP_REMEDIATION: null}}})).await
    }

    async fn request_machine_patch(&self, machine: &str, patch: &Value) -> Result<(), Fault> {
        name::check("a machine", machine)?;
        let asked = format!("PATCH machine {machine}");
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        let call = async {
            let Some(resource) = MACHINE.preferred(&self.client).await? else { return Ok(None) };
            let machines: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), &self.tenant_namespace, &resource);
            machines.patch(machine, &params, &Patch::Merge(patch)).await.map(Some)
        };
        let absent = || Fault::new(FaultClass::Missing, Delivery::No, format!("{asked}: there is no Cluster API"));
        within(&asked, Purpose::Request, call).await?.ok_or_else(absent).map(drop)
    }

    fn vms(&self, vm: &VmName) -> Result<Api<DynamicObject>, Fault> {
        name::check("a virtual machine", &vm.key())?;
        Ok(Api::namespaced_with(self.client.clone(), &self.tenant_namespace, &VIRTUAL_MACHINE.at("v1")))
    }
}

fn is_ours(made: &DynamicObject) -> bool {
    let labels = made.metadata.labels.as_ref();
    labels.and_then(|labels| labels.get(MANAGED_BY.0)).map(String::as_str) == Some(MANAGED_BY.1)
}

fn owner(vm: &VmName, made: &DynamicObject) -> OwnerReference {
    OwnerReference {
        api_version: "kubevirt.io/v1".to_owned(),
        kind: VIRTUAL_MACHINE.kind.to_owned(),
        name: vm.key(),
        uid: made.metadata.uid.clone().unwrap_or_default(),
        ..OwnerReference::default()
    }
}

/// Whether the object of a name is the one that was meant, where it was meant to be.
enum Found {
    Meant,
    Another,
    Elsewhere,
}

/// Deletes exactly the object that has this uid. It is as good as deleted if it is gone, or another has its name.
async fn request_end(objects: &Api<DynamicObject>, name: &str, uid: &str, params: DeleteParams) -> kube::Result<()> {
    let preconditions = Some(Preconditions { uid: Some(uid.to_owned()), resource_version: None });
    match objects.delete(name, &DeleteParams { preconditions, ..params }).await {
        Err(kube::Error::Api(status)) if status.code == 404 || status.code == 409 && is_about_uid(&status.message) => Ok(()),
        answer => answer.map(drop),
    }
}

fn is_meant(found: &DynamicObject, vm: &VmRef) -> bool {
    found.metadata.uid.as_deref() == Some(vm.uid.as_str())
}

fn missing(asked: &str, because: &str) -> Fault {
    Fault::new(FaultClass::Missing, Delivery::No, format!("{asked}: {because}"))
}

/// The words with which KubeVirt refuses what is so already. It gives no other sign.
fn is_already_so(message: &str) -> bool {
    ["already running", "not running", "does not support manual", "only supports manual"].iter().any(|words| message.contains(words))
}

/// A login as container tools read it, written from borrowed texts into a buffer that does not grow: neither leaves a copy behind.
fn docker_config(url: &str, username: &str, password: &str) -> Vec<u8> {
    let login = BTreeMap::from([("password", password), ("username", username)]);
    // A character becomes six at most, and the words around them are few.
    let mut document = Vec::with_capacity(6 * (url.len() + username.len() + password.len()) + 128);
    // Texts always have a JSON form, and a Vec takes any number of bytes.
    if let Err(error) = serde_json::to_writer(&mut document, &BTreeMap::from([("auths", BTreeMap::from([(url, login)]))])) {
        tracing::error!(%error, "a registry's login has no JSON form");
    }
    document
}

fn secrets_of(vm: &VmName, spec: &VmSpec, secrets: &VmSecrets, namespace: &str) -> Vec<SecretWanted> {
    let labels: BTreeMap<String, String> = [(MANAGED_BY.0.to_owned(), MANAGED_BY.1.to_owned())].into();
    let wanted = |name: String, kind: &str, data| SecretWanted {
        namespace: namespace.to_owned(),
        name,
        kind: kind.to_owned(),
        labels: labels.clone(),
        data,
    };
    let mut all = Vec::new();
    if vm_object::has_cloud_init(spec) {
        // KubeVirt puts keys into user data only where there is some.
        let user_data = secrets.user_data.as_ref().map_or_else(|| b"#cloud-config\n".to_vec(), |data| data.to_vec());
        let mut data = SecretData::default().with("userdata", user_data);
        if let Some(network) = &secrets.network_data {
            data = data.with("networkdata", network.to_vec());
        }
        all.push(wanted(vm_object::cloud_init_name(vm), "Opaque", data));
    }
    if !spec.ssh_public_keys.is_empty() {
        let keys = spec.ssh_public_keys.iter().enumerate();
        let data = keys.fold(SecretData::default(), |data, (index, key)| data.with(format!("key{index}"), key.as_bytes()));
        all.push(wanted(vm_object::ssh_keys_name(vm), "Opaque", data));
    }
    if let (Some(registry), Some(password)) = (&spec.registry, &secrets.registry_password) {
        all.push(match spec.os_disk.storage {
            DiskStorage::Persistent => {
                let data = SecretData::default().with("accessKeyId", registry.username.as_bytes()).with("secretKey", password.to_vec());
                wanted(vm_object::registry_name(vm), "Opaque", data)
            }
            DiskStorage::Ephemeral => {
                let password = Zeroizing::new(String::from_utf8_lossy(password).into_owned());
                let data = SecretData::default().with(".dockerconfigjson", docker_config(&registry.url, &registry.username, &password));
                wanted(vm_object::registry_name(vm), "kubernetes.io/dockerconfigjson", data)
            }
        });
    }
    all
}

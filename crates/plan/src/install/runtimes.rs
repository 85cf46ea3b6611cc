//! The runtimes that a cluster knows: made known, replaced while nobody uses them, forgotten.

use model::{Bundle, Refusal, Rule, RuntimeVersion};

use super::attempt::current;
use crate::draft::Draft;
use crate::snapshot::Snapshot;

/// The same bundle twice is the same as once. Another one of that version may take its place only while it is installed nowhere: until
/// then a slip can be mended. Where images are fetched from may change at any time, since their digests say what they are.
pub(crate) fn import_runtime(draft: &mut Draft, bundle: &Bundle) -> Result<(), Refusal> {
    let known = draft.after.runtimes.get(&bundle.version);
    if known.is_some_and(|known| !is_moved(known, bundle))
        && let Some(evidence) = installed_on(&draft.after, bundle.version)
    {
        return Err(Refusal {
            rule: Rule::RuntimeImmutable,
            message: format!("runtime {} cannot be replaced by another one", bundle.version),
            evidence: vec![evidence],
            remedy: "only the URLs of its images may change; give what is new a version of its own".into(),
        });
    }
    draft.save_runtime(bundle.clone());
    Ok(())
}

pub(crate) fn forget_runtime(draft: &mut Draft, version: RuntimeVersion) -> Result<(), Refusal> {
    if !draft.after.runtimes.contains_key(&version) {
        return Err(Refusal {
            rule: Rule::RuntimeExists,
            message: format!("there is no runtime {version}"),
            evidence: vec![format!("the cluster knows {}", known(&draft.after))],
            remedy: "`rackwright runtime list` names them".into(),
        });
    }
    if let Some(evidence) = use_of(&draft.after, version) {
        return Err(Refusal {
            rule: Rule::RuntimeInUse,
            message: format!("runtime {version} cannot be removed"),
            evidence: vec![evidence],
            remedy: "keep it until nothing runs it any more".into(),
        });
    }
    draft.forget_runtime(version);
    Ok(())
}

/// Whether a bundle is the known one, but for where its images are fetched from.
fn is_moved(known: &Bundle, bundle: &Bundle) -> bool {
    let mut moved = known.clone();
    moved.os_image.url.clone_from(&bundle.os_image.url);
    moved.boot.agent_image.url.clone_from(&bundle.boot.agent_image.url);
    let optional = [(&mut moved.boot.http, &bundle.boot.http), (&mut moved.boot.pxe, &bundle.boot.pxe)];
    for (artefact, there) in optional {
        if let (Some(artefact), Some(there)) = (artefact, there) {
            artefact.url.clone_from(&there.url);
        }
    }
    moved == *bundle
}

/// What needs this runtime to stay.
fn use_of(snapshot: &Snapshot, version: RuntimeVersion) -> Option<String> {
    if snapshot.cluster.version == version.to_string() {
        return Some(format!("it is the runtime of cluster `{}`", snapshot.cluster.name));
    }
    installed_on(snapshot, version)
}

/// What needs this runtime to stay as it is.
fn installed_on(snapshot: &Snapshot, version: RuntimeVersion) -> Option<String> {
    let mut running = snapshot.running().filter_map(|(_, id)| snapshot.operations.get(id));
    if let Some(operation) = running.find(|operation| current(operation).is_some_and(|round| round.version == version)) {
        return Some(format!("operation {} installs it on `{}`", operation.id.short(), operation.target));
    }
    let on = snapshot.machines.values().filter(|machine| machine.installed.as_ref().is_some_and(|installed| installed.version == version));
    let mut on = on.map(|machine| &machine.name);
    let first = on.next()?;
    Some(match on.count() {
        0 => format!("it is installed on `{first}`"),
        more => format!("it is installed on `{first}` and {more} more"),
    })
}

/// The versions that the cluster knows, as a list.
pub(crate) fn known(snapshot: &Snapshot) -> String {
    let versions: Vec<String> = snapshot.runtimes.keys().map(ToString::to_string).collect();
    if versions.is_empty() { "none".to_owned() } else { versions.join(", ") }
}

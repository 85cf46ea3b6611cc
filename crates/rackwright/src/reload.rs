//! Site files while they are kept: looked at every few seconds, and taken over when they have changed and are right.
//!
//! What may change is decided by `plan::redescribe`; the keeper writes the documents. A file that cannot be used changes
//! nothing: the site is kept as it was described before.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use keeper::{Equipment, Refitted};
use plan::Unchangeable;
use store::Vault;
use tokio::signal::unix::Signal;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::cli::screen::Screen;
use crate::cli::trouble::Trouble;
use crate::equip::{self, Before};
use crate::places;
use crate::site_file::{Loaded, Place, secret_of};

/// How often the files are looked at. A change is taken over when it has been there for two looks, so that a file that an
/// editor is still writing is not read by half.
pub const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A site that is kept, and the file that describes it.
#[derive(Debug)]
pub struct KeptSite {
    pub loaded: Loaded,
    pub equipment: watch::Sender<Option<Arc<Equipment>>>,
    marks: Marks,
    seen: Marks,
    /// What was last said to be wrong. The cure may be in a file that is not known yet, so it is tried again and again.
    failing: Option<Trouble>,
}

/// The contents of files, told apart by a hash; `None` for one that cannot be read.
type Marks = BTreeMap<PathBuf, Option<u64>>;

/// Whether a change must have been there for two looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    Settled,
    /// Somebody said that it is ready.
    None,
}

impl KeptSite {
    pub fn new(loaded: Loaded, equipment: watch::Sender<Option<Arc<Equipment>>>) -> KeptSite {
        let marks = marks_of(&loaded.sources);
        KeptSite { loaded, equipment, seen: marks.clone(), marks, failing: None }
    }

    /// Takes the file over if it has changed.
    async fn look(&mut self, patience: Patience, vault: &Arc<Vault>, screen: &mut Screen) {
        let now = marks_of(&self.loaded.sources);
        let is_settled = now == self.seen || patience == Patience::None;
        self.seen = now.clone();
        let is_due = now != self.marks || self.failing.is_some();
        if !is_due && patience == Patience::None {
            places::announce(&[format!("{} says what it said before", self.loaded.described.path().display())]);
        }
        if !is_due || !is_settled {
            return;
        }
        match self.take_over(vault).await {
            Ok(differences) => {
                self.failing = None;
                self.announce(&differences);
            }
            Err(trouble) => {
                let trouble = trouble.hint(format!("`{}` is kept as it was described before", self.loaded.site().cluster));
                if self.failing.as_ref() != Some(&trouble) || patience == Patience::None {
                    screen.trouble(&trouble);
                }
                self.failing = Some(trouble);
            }
        }
        // A file that changed while it was read is read again; one that was not known before is known from now on.
        let after = marks_of(&self.loaded.sources);
        self.marks = after.into_iter().map(|(path, mark)| (path.clone(), now.get(&path).copied().unwrap_or(mark))).collect();
    }

    fn announce(&self, differences: &[String]) {
        let path = self.loaded.described.path().display();
        for difference in differences {
            tracing::info!(file = %path, %difference, "the site was described anew");
        }
        let heading = match differences.len() {
            0 => format!("{path} was written anew and says the same"),
            1 => format!("{path} changed; 1 difference was taken over:"),
            count => format!("{path} changed; {count} differences were taken over:"),
        };
        let lines = differences.iter().map(|difference| format!("  {difference}"));
        places::announce(&std::iter::once(heading).chain(lines).collect::<Vec<String>>());
    }

    /// Reads the file, and hands what it says to the keeper. Returns the differences in words.
    async fn take_over(&mut self, vault: &Arc<Vault>) -> Result<Vec<String>, Trouble> {
        let loaded = Loaded::read(self.loaded.described.path())?;
        let change = plan::redescribe(self.loaded.site(), loaded.site());
        if !change.refused.is_empty() {
            let mut trouble = Trouble::failed(format!("{} changes what cannot change", loaded.described.path().display()));
            for refused in &change.refused {
                trouble = trouble.detail(format!("{}: {refused}", loaded.described.locate(place_of(refused))));
            }
            return Err(trouble);
        }
        let mut differences: Vec<String> = change.differences.iter().map(ToString::to_string).collect();
        differences.extend(access_differences(&self.loaded, &loaded));
        if differences.is_empty() {
            self.loaded = loaded;
            return Ok(differences);
        }
        let before = self.equipment.borrow().clone();
        let Some(before) = before else { return Err(Trouble::failed("the site is not kept")) };
        let known = Before { loaded: &self.loaded, equipment: &before };
        let equipment = equip::equip(&loaded, Some(known), vault, before.refitted.clone()).await?;
        self.equipment.send_replace(Some(Arc::new(equipment)));
        self.loaded = loaded;
        Ok(differences)
    }
}

fn place_of(refused: &Unchangeable) -> Place<'_> {
    match refused {
        Unchangeable::ClusterName { .. } => Place::Cluster,
        Unchangeable::Subscription { .. } => Place::Subscription,
        Unchangeable::ResourceGroup { .. } => Place::ResourceGroup,
        Unchangeable::Role { machine, .. } => Place::Role(machine),
        Unchangeable::ControlPlaneMachine { machine } => Place::Machine(machine),
    }
}

/// How devices are reached, where that is not part of the site's description. It may always change.
fn access_differences(before: &Loaded, after: &Loaded) -> Vec<String> {
    let mut differences = Vec::new();
    for (machine, login) in &after.logins {
        let Some(known) = before.logins.get(machine) else { continue };
        if known.user != login.user {
            differences.push(format!("~ machine {machine}: BMC user {} → {}", known.user, login.user));
        } else if !equip::is_same_login(known, login) {
            differences.push(format!("~ machine {machine}: BMC password"));
        }
    }
    for (machine, trust) in &after.trusts {
        if let Some(known) = before.trusts.get(machine).filter(|known| *known != trust) {
            differences.push(match known.to_string() == trust.to_string() {
                true => format!("~ machine {machine}: the certificates of {trust}"),
                false => format!("~ machine {machine}: {known} → {trust}"),
            });
        }
    }
    if !equip::is_same_undercloud(before, after) {
        differences.push("~ kubeconfig".to_owned());
    }
    differences
}

fn marks_of(paths: &[PathBuf]) -> Marks {
    let mark = |path: &PathBuf| {
        let bytes = std::fs::read(path).ok()?;
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        // Whether others may read a file decides whether it is used.
        std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(path).ok()?).hash(&mut hasher);
        Some(hasher.finish())
    };
    paths.iter().map(|path| (path.clone(), mark(path))).collect()
}

/// Looks at the files until `shutdown`; at once and without patience when `hangup` comes.
pub async fn watch_files(
    mut sites: Vec<KeptSite>,
    vault: Arc<Vault>,
    mut hangup: Signal,
    mut refitted: mpsc::UnboundedReceiver<Refitted>,
    shutdown: CancellationToken,
) {
    let mut screen = Screen::of_process();
    loop {
        let patience = tokio::select! {
            () = shutdown.cancelled() => return,
            Some(outcome) = refitted.recv() => {
                tell(&outcome, &vault).await;
                continue;
            }
            Some(()) = hangup.recv() => Patience::None,
            () = tokio::time::sleep(LOOK_EVERY) => Patience::Settled,
        };
        for site in &mut sites {
            site.look(patience, &vault, &mut screen).await;
        }
    }
}

/// Says what became of machines that are no longer described. Their secrets go with them.
pub async fn tell(outcome: &Refitted, vault: &Arc<Vault>) {
    let cluster = &outcome.cluster;
    let mut lines = Vec::new();
    for machine in &outcome.forgotten {
        if let Err(error) = vault.remove(&secret_of(cluster, machine)).await {
            tracing::warn!(%machine, %error, "the login of a machine that is gone cannot be removed");
        }
        lines.push(format!("{cluster}: machine {machine} is gone"));
    }
    lines.extend(outcome.kept.iter().map(|(machine, why)| format!("{cluster}: machine {machine} stays for now: {why}")));
    for line in &lines {
        tracing::info!("{line}");
    }
    places::announce(&lines);
}

//! Site files while they are kept: looked at every few seconds, and offered to the keeper when they have changed and are
//! right.
//!
//! Whether a description is taken over is decided by `plan` and carried out by the keeper; its verdict is waited for and
//! said. A file that cannot be used, or that is refused, changes nothing: the site is kept as it was described before.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use keeper::{Equipment, Offer, Verdict};
use model::{Clock, MachineName, Site, SiteFileRefused};
use plan::Objection;
use store::{SystemClock, Vault};
use tokio::signal::unix::Signal;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::cli::screen::Screen;
use crate::cli::trouble::Trouble;
use crate::equip::{self, Before};
use crate::logging::LogFormat;
use crate::notify::{self, Word};
use crate::site_file::{Described, Loaded, Place, neighbours};
use crate::{places, safekeeping};

/// How often the files are looked at. A change is taken over when it has been there for two looks, so that a file that an
/// editor is still writing is not read by half.
pub const LOOK_EVERY: Duration = Duration::from_secs(2);

/// How long a description that the keeper refused rests before it is offered again, in case what spoke against it is over.
/// Each offer puts its logins into the vault for a moment, and a driver that logs in just then would use them.
const OFFER_AGAIN_AFTER: Duration = Duration::from_secs(10);

/// How long the keeper's verdict is waited for before that is said. It plans within milliseconds and commits within
/// seconds; only one that waits for its lease takes longer.
const VERDICT_PATIENCE: Duration = Duration::from_secs(10);

/// A site that is kept, and the file that describes it.
#[derive(Debug)]
pub struct KeptSite {
    loaded: Loaded,
    equipment: Arc<Equipment>,
    offers: watch::Sender<Option<Arc<Offer>>>,
    /// Descriptions without a verdict, the newest last. A newer one makes those before it void, unless the keeper has
    /// judged them already.
    pending: Vec<Pending>,
    marks: Marks,
    seen: Marks,
    /// What was last said to be wrong. The cure may be in a file that is not known yet, or in the site, so it is tried
    /// again and again.
    failing: Option<Trouble>,
    /// The same for whoever asks the API.
    refused: watch::Sender<Option<SiteFileRefused>>,
    refused_at: Option<Instant>,
}

/// A description that was offered.
#[derive(Debug)]
struct Pending {
    loaded: Loaded,
    equipment: Arc<Equipment>,
    differences: Vec<String>,
    verdict: watch::Receiver<Option<Verdict>>,
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
    /// `refused` is told what is wrong with the file while something is.
    pub fn new(
        loaded: Loaded,
        equipment: Arc<Equipment>,
        offers: watch::Sender<Option<Arc<Offer>>>,
        refused: watch::Sender<Option<SiteFileRefused>>,
    ) -> KeptSite {
        let marks = marks_of(&loaded.sources);
        let (pending, seen) = (Vec::new(), marks.clone());
        KeptSite { loaded, equipment, offers, pending, seen, marks, failing: None, refused, refused_at: None }
    }

    /// What may be taken over already.
    fn descriptions(&self) -> impl Iterator<Item = &Loaded> {
        std::iter::once(&self.loaded).chain(self.pending.iter().map(|pending| &pending.loaded))
    }

    /// Offers the file to the keeper if it has changed.
    async fn look(&mut self, patience: Patience, others: &[&Loaded], vault: &Arc<Vault>, mut screen: Option<&mut Screen>) {
        if self.pending.last().is_some_and(|newest| newest.verdict.borrow().is_some()) {
            self.conclude(patience, vault, screen.as_deref_mut()).await;
        }
        let now = marks_of(&self.newest().sources);
        let is_settled = now == self.seen || patience == Patience::None;
        self.seen = now.clone();
        let is_rested = self.refused_at.is_none_or(|at| at.elapsed() >= OFFER_AGAIN_AFTER) || patience == Patience::None;
        let is_due = now != self.marks || (self.failing.is_some() && self.pending.is_empty() && is_rested);
        if !is_due && patience == Patience::None {
            places::announce(&[format!("{} says what it said before", self.path())]);
        }
        if !is_due || !is_settled {
            return;
        }
        self.refused_at = None;
        match self.offer(others, vault).await {
            Ok(()) if self.pending.is_empty() => {
                self.succeed();
                self.announce(&[]);
            }
            Ok(()) => self.await_verdict(patience, vault, screen).await,
            Err(trouble) => self.fail(trouble, patience, screen),
        }
        // A file that changed while it was read is read again; one that was not known before is known from now on.
        let after = marks_of(&self.newest().sources);
        self.marks = after.into_iter().map(|(path, mark)| (path.clone(), now.get(&path).copied().unwrap_or(mark))).collect();
    }

    fn newest(&self) -> &Loaded {
        self.pending.last().map_or(&self.loaded, |pending| &pending.loaded)
    }

    fn path(&self) -> String {
        self.loaded.described.path().display().to_string()
    }

    /// Reads the file, and offers what it says to the keeper, unless it says the same as what is kept.
    async fn offer(&mut self, others: &[&Loaded], vault: &Arc<Vault>) -> Result<(), Trouble> {
        let loaded = Loaded::read(self.loaded.described.path())?;
        neighbours::check(others, &loaded)?;
        let mut differences: Vec<String> = plan::redescribe(self.loaded.site(), loaded.site()).iter().map(ToString::to_string).collect();
        differences.extend(access_differences(&self.loaded, &loaded));
        if differences.is_empty() && self.pending.is_empty() {
            self.loaded = loaded;
            return Ok(());
        }
        let known = Before { loaded: &self.loaded, equipment: &self.equipment };
        let equipment = Arc::new(equip::equip(&loaded, Some(known), vault).await?);
        safekeeping::save(&loaded, Some(&self.loaded).filter(|_| self.pending.is_empty()), vault).await?;
        let site = Site { new_logins: safekeeping::changed_since(&self.loaded, &loaded), ..loaded.site().clone() };
        let (offer, verdict) = Offer::new(site, equipment.clone());
        self.pending.push(Pending { loaded, equipment, differences, verdict });
        self.offers.send_replace(Some(Arc::new(offer)));
        Ok(())
    }

    async fn await_verdict(&mut self, patience: Patience, vault: &Arc<Vault>, screen: Option<&mut Screen>) {
        let Some(newest) = self.pending.last_mut() else { return };
        match tokio::time::timeout(VERDICT_PATIENCE, newest.verdict.wait_for(Option::is_some)).await.map(|judged| judged.is_ok()) {
            Ok(true) => self.conclude(patience, vault, screen).await,
            _ => places::announce(&[format!(
                "{} changed; the keeper of `{}` has not judged it within {} s, so it is still pending",
                self.path(),
                self.loaded.site().cluster,
                VERDICT_PATIENCE.as_secs()
            )]),
        }
    }

    /// Follows the verdicts. Those of earlier descriptions are final once the newest has one.
    async fn conclude(&mut self, patience: Patience, vault: &Arc<Vault>, mut screen: Option<&mut Screen>) {
        let mut void = Vec::new();
        for pending in std::mem::take(&mut self.pending) {
            let Pending { loaded, equipment, differences, verdict } = pending;
            let verdict = verdict.borrow().clone();
            match verdict {
                Some(Verdict::TakenOver { forgotten }) => {
                    let mut differences = differences;
                    let was_described = |name: &MachineName| self.loaded.site().machines.iter().any(|machine| machine.name == *name);
                    let leftovers = forgotten.iter().filter(|name| !was_described(name));
                    differences.extend(leftovers.map(|name| format!("- machine {name}, which no description named any more")));
                    self.succeed();
                    self.equipment = equipment;
                    void.push(std::mem::replace(&mut self.loaded, loaded));
                    safekeeping::forget(&self.loaded.site().cluster, &forgotten, vault).await;
                    self.announce(&differences);
                }
                Some(Verdict::Refused(objections)) => {
                    let trouble = refusal(&loaded.described, &objections);
                    void.push(loaded);
                    self.refused_at = Some(Instant::now());
                    self.fail(trouble, patience, screen.as_deref_mut());
                }
                None => void.push(loaded),
            }
        }
        safekeeping::tidy(&self.loaded, &void, vault).await;
    }

    fn succeed(&mut self) {
        self.failing = None;
        self.refused.send_replace(None);
    }

    fn fail(&mut self, trouble: Trouble, patience: Patience, screen: Option<&mut Screen>) {
        let trouble = trouble.hint(format!("`{}` is kept as it was described before", self.loaded.site().cluster));
        if self.failing.as_ref() != Some(&trouble) || patience == Patience::None {
            tracing::warn!(cluster = %self.loaded.site().cluster, file = %self.path(), why = one_line(&trouble), "a change of the site file was not taken over");
            if let Some(screen) = screen {
                screen.trouble(&trouble);
            }
        }
        self.refused.send_modify(|refused| {
            let since = refused.as_ref().map_or_else(|| SystemClock.now(), |known| known.since);
            *refused = Some(SiteFileRefused { since, problem: one_line(&trouble) });
        });
        self.failing = Some(trouble);
    }

    fn announce(&self, differences: &[String]) {
        let path = self.path();
        for difference in differences {
            tracing::info!(cluster = %self.loaded.site().cluster, file = %path, %difference, "the site was described anew");
        }
        let heading = match differences.len() {
            0 => format!("{path} was written anew and says the same"),
            1 => format!("{path} changed; 1 difference was taken over:"),
            count => format!("{path} changed; {count} differences were taken over:"),
        };
        let lines = differences.iter().map(|difference| format!("  {difference}"));
        places::announce(&std::iter::once(heading).chain(lines).collect::<Vec<String>>());
    }
}

/// A trouble without its hint, as one line.
fn one_line(trouble: &Trouble) -> String {
    let details = trouble.details.iter().map(|detail| detail.trim());
    model::shortened(&std::iter::once(trouble.message.as_str()).chain(details).collect::<Vec<_>>().join("; "))
}

/// What speaks against a description, with the lines of the file. A machine that is left out has none.
pub fn refusal(described: &Described, objections: &[Objection]) -> Trouble {
    let path = described.path().display();
    let mut trouble = Trouble::failed(format!("{path} changes what cannot change"));
    for objection in objections {
        let place = place_of(objection).map_or_else(|| path.to_string(), |place| described.locate(place));
        trouble = trouble.detail(format!("{place}: {objection}"));
    }
    trouble
}

fn place_of(objection: &Objection) -> Option<Place<'_>> {
    Some(match objection {
        Objection::ClusterName { .. } => Place::Cluster,
        Objection::Subscription { .. } => Place::Subscription,
        Objection::ResourceGroup { .. } => Place::ResourceGroup,
        Objection::Role { machine, .. } => Place::Role(machine),
        Objection::Readdressed { machine, .. } | Objection::BmcTaken { machine, .. } | Objection::TakenByUndescribed { machine, .. } => {
            Place::Machine(machine)
        }
        Objection::LeftOut { .. } => return None,
    })
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
    if before.etcd != after.etcd {
        differences.push("~ etcd".to_owned());
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
///
/// What is wrong with a file is told on the terminal too, unless the log is for programs, which take every line for JSON.
pub async fn watch_files(mut sites: Vec<KeptSite>, vault: Arc<Vault>, mut hangup: Signal, log: LogFormat, shutdown: CancellationToken) {
    let mut screen = (log == LogFormat::Text).then(Screen::of_process);
    loop {
        let patience = tokio::select! {
            () = shutdown.cancelled() => return,
            Some(()) = hangup.recv() => Patience::None,
            () = tokio::time::sleep(LOOK_EVERY) => Patience::Settled,
        };
        if patience == Patience::None {
            notify::tell(Word::Reloading);
        }
        for place in 0..sites.len() {
            let (before, rest) = sites.split_at_mut(place);
            let Some((site, after)) = rest.split_first_mut() else { continue };
            let others: Vec<&Loaded> = before.iter().chain(after.iter()).flat_map(KeptSite::descriptions).collect();
            site.look(patience, &others, &vault, screen.as_mut()).await;
        }
        if patience == Patience::None {
            notify::tell(Word::Ready);
        }
    }
}

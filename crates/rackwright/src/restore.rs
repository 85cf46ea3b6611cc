//! `rackwright restore`: a backup becomes a data directory, while no server runs on it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use model::{Clock, Operation, keys};
use serde_json::{Value, json};
use store::{KeyFit, MasterKeySource, Restoration, StoreError, SystemClock, Vault};
use zeroize::Zeroizing;

use crate::cli::output::Showing;
use crate::cli::render::Table;
use crate::cli::screen::{Screen, Sheet, Tone};
use crate::cli::trouble::{Exit, Trouble};
use crate::master_key::{self, MasterKeyArgs};
use crate::private_file;
use crate::up::CONTROL;

#[derive(Args, Clone, Debug)]
pub struct RestoreArgs {
    /// The backup
    pub file: PathBuf,
    /// The data directory to restore into; for `rackwright up` it is `control` in its data directory
    #[arg(long, value_name = "DIR")]
    pub data_dir: PathBuf,
    /// The file with the key that opens the backup's BMC logins, if it is not in the data directory yet
    #[arg(long, value_name = "FILE", conflicts_with_all = ["without_secrets", "key_file", "key_command"])]
    pub key: Option<PathBuf>,
    /// Leave the BMC logins out, if their key is lost; `rackwright serve` takes them from the site files again
    #[arg(long)]
    pub without_secrets: bool,
    /// Restore into a directory that has a store already, which is kept there under another name
    #[arg(long)]
    pub replace: bool,
    #[command(flatten)]
    pub master_key: MasterKeyArgs,
}

pub async fn run(args: &RestoreArgs, showing: &Showing, screen: &mut Screen) -> Result<(), Trouble> {
    let failed = |error: StoreError| Trouble::caused(&format!("{} cannot be restored", args.file.display()), &error);
    judge_places(args)?;
    let mut restoration = Restoration::prepare(&args.file, &args.data_dir).map_err(failed)?;
    if let Some(occupant) = restoration.occupant().filter(|_| !args.replace) {
        return Err(Trouble::failed(format!("{} is there already", occupant.display()))
            .hint("restore into another directory, or set it aside with `--replace`"));
    }
    if args.without_secrets {
        restoration.discard_secrets().map_err(failed)?;
    }
    let told = Told::of(&restoration, args)?;
    let key = judge_key(&restoration, args).await?;
    let aside = format!("before-{}", SystemClock.now().as_millis());
    // The key first: a store whose key could not be put beside it would have to be restored again.
    let given = args.key.as_ref().filter(|_| key == KeyFit::Fits);
    if let Some(given) = given {
        copy_key(given, &key_place(args))?;
    }
    let kept = restoration.finish(Some(aside.as_str()).filter(|_| args.replace)).map_err(|error| {
        if given.is_some() {
            // Nothing was restored, and what we put there ourselves must not stand in the way of the next try.
            let _ = fs::remove_file(key_place(args));
        }
        failed(error)
    })?;
    show(&told, key, kept.as_deref(), args, showing, screen)
}

/// Whether both ends are what they must be, before anything is made.
fn judge_places(args: &RestoreArgs) -> Result<(), Trouble> {
    match fs::metadata(&args.file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Trouble::new(Exit::NotFound, format!("there is no file {}; nothing was restored", args.file.display())));
        }
        Ok(found) if found.is_dir() => {
            return Err(Trouble::failed(format!("{} is a directory, and a backup is a file", args.file.display())));
        }
        _ => {}
    }
    let control = args.data_dir.join(CONTROL);
    if control.is_dir() {
        return Err(Trouble::failed(format!("{} is the data directory of `rackwright up`; nothing was restored", args.data_dir.display()))
            .detail(format!("its control plane is kept in {}", control.display()))
            .hint(format!("restore with `--data-dir {}`", control.display())));
    }
    Ok(())
}

/// What is in a backup.
struct Told {
    clusters: Vec<String>,
    machines: usize,
    in_flight: Vec<String>,
    revision: u64,
    latest_at: Option<model::Timestamp>,
}

impl Told {
    fn of(restoration: &Restoration, args: &RestoreArgs) -> Result<Told, Trouble> {
        let under = |prefix: &'static str| restoration.documents.iter().filter(move |document| document.key.starts_with(prefix));
        let clusters: Vec<String> = under(keys::CLUSTERS).map(|document| document.key[keys::CLUSTERS.len()..].to_owned()).collect();
        if clusters.is_empty() {
            return Err(Trouble::failed(format!("{} holds no cluster, so it is no backup of a control plane", args.file.display()))
                .hint("a simulated world has a file of the same kind; it is copied while it is stopped, and needs no restore"));
        }
        let running = under(keys::OPERATIONS).filter_map(|document| serde_json::from_slice::<Operation>(&document.value).ok());
        let in_flight = running.filter(Operation::is_running).map(|operation| {
            let id = operation.id.as_str();
            format!("{} of {} ({})", operation.action.command(), operation.target, id.get(..8).unwrap_or(id))
        });
        Ok(Told {
            clusters,
            machines: under(keys::MACHINES).count(),
            in_flight: in_flight.collect(),
            revision: restoration.revision.0,
            latest_at: restoration.latest_at,
        })
    }
}

fn key_place(args: &RestoreArgs) -> PathBuf {
    master_key::default_file(&args.data_dir)
}

/// Whether the key that is given, or the one that is there, opens what is restored.
async fn judge_key(restoration: &Restoration, args: &RestoreArgs) -> Result<KeyFit, Trouble> {
    let place = key_place(args);
    let source = match &args.key {
        Some(given) => MasterKeySource::File(given.clone()),
        None => args.master_key.source(&args.data_dir)?,
    };
    let fit = Vault::fit(&restoration.secrets(), &source).await.map_err(|error| Trouble::caused("the key cannot be used", &error))?;
    match fit {
        KeyFit::OtherKey => Err(Trouble::failed(format!("{source} is not the key of this backup"))
            .detail("the BMC logins in the backup cannot be opened with it; nothing was restored")
            .hint("give the right one with `--key`, or leave the logins out with `--without-secrets`")),
        KeyFit::NoKeyFile if source != MasterKeySource::File(place.clone()) => {
            Err(Trouble::failed(format!("there is no key file {source}")))
        }
        KeyFit::Fits if args.key.as_ref().is_some_and(|given| *given != place) && place.exists() => {
            Err(Trouble::failed(format!("{} is there already; nothing was restored", place.display()))
                .hint("leave `--key` out if it is the right one, or move it away"))
        }
        fit => Ok(fit),
    }
}

fn copy_key(from: &Path, to: &Path) -> Result<(), Trouble> {
    let copied = fs::read(from).map(Zeroizing::new).and_then(|key| {
        let mut file = private_file::private(OpenOptions::new().write(true).create_new(true)).open(to)?;
        file.write_all(&key)?;
        file.sync_all()
    });
    copied.map_err(|error| Trouble::caused(&format!("the key cannot be put to {}", to.display()), &error))
}

fn show(told: &Told, key: KeyFit, kept: Option<&Path>, args: &RestoreArgs, showing: &Showing, screen: &mut Screen) -> Result<(), Trouble> {
    let body: Value = json!({
        "dataDir": args.data_dir.display().to_string(),
        "revision": told.revision,
        "latestAt": told.latest_at,
        "clusters": told.clusters,
        "machines": told.machines,
        "operationsInFlight": told.in_flight,
        "keyFits": key == KeyFit::Fits,
        "setAside": kept.map(|path| path.display().to_string()),
    });
    showing.one(screen, &body, || sheet(told, key, kept, args), || row(told, args))?;
    if key == KeyFit::NoKeyFile {
        // Also for scripts: without the key every BMC is out of reach.
        screen.warn(&format!("the key of the BMC logins is not in {}: no login can be opened without it", args.data_dir.display()));
        screen.hint("put the old server's `vault.key` there before it starts; or restore again with `--replace`, and `--key FILE`, or `--without-secrets` if the key is lost");
    }
    if showing.is_for_people() {
        screen.hint(&how_to_start(&args.data_dir));
    }
    Ok(())
}

/// `up` keeps its control plane in a directory below its own, by which it is told from a `serve`.
fn how_to_start(dir: &Path) -> String {
    match dir.parent().filter(|_| dir.file_name().is_some_and(|name| name == CONTROL)) {
        Some(parent) => {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            format!("start it as before: `rackwright up --data-dir {}`", parent.display())
        }
        None => format!("start it with `rackwright serve --config FILE --data-dir {}`", dir.display()),
    }
}

fn row(told: &Told, args: &RestoreArgs) -> Table {
    let mut table = Table::new(&["DATA DIR", "REVISION", "CLUSTERS", "MACHINES", "IN FLIGHT"]);
    let counts = [told.machines, told.in_flight.len()].map(|count| count.to_string());
    let cells = [args.data_dir.display().to_string(), told.revision.to_string(), told.clusters.join(",")];
    table.row(Tone::Plain, cells.into_iter().chain(counts));
    table
}

fn sheet(told: &Told, key: KeyFit, kept: Option<&Path>, args: &RestoreArgs) -> Sheet {
    let mut sheet = Sheet::default();
    let as_of = told.latest_at.map_or_else(|| "an unknown time".to_owned(), |at| at.to_string());
    sheet.line(Tone::Strong, format!("restored {} into {}", args.file.display(), args.data_dir.display()));
    sheet.line(Tone::Plain, format!("  as of       {as_of}, revision {}", told.revision));
    sheet.line(Tone::Plain, format!("  clusters    {}, {} machines", told.clusters.join(", "), told.machines));
    let in_flight =
        if told.in_flight.is_empty() { "none in flight".to_owned() } else { format!("in flight: {}", told.in_flight.join(", ")) };
    sheet.line(Tone::Plain, format!("  operations  {in_flight}"));
    sheet.line(Tone::Plain, format!("  key         {}", key_words(key, &args.data_dir)));
    if let Some(kept) = kept {
        sheet.line(Tone::Plain, format!("  set aside   {}", kept.display()));
    }
    sheet
}

fn key_words(key: KeyFit, dir: &Path) -> String {
    match key {
        KeyFit::Fits => "fits: BMC logins can be opened".to_owned(),
        KeyFit::NoSecrets => "not needed: there are no BMC logins inside".to_owned(),
        KeyFit::NoKeyFile | KeyFit::OtherKey => {
            format!("missing: put the server's `vault.key` to {} before it starts", dir.join("vault.key").display())
        }
    }
}

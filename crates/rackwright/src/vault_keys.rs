//! `rackwright vault …`: the keys of a data directory's secrets, while no server runs on it. No secret is ever shown.

mod show;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use store::{MasterKeyRotation, SharedStore, SqliteStore, StoreError, SystemClock, Vault};

use crate::cli::output::Showing;
use crate::cli::screen::Screen;
use crate::cli::trouble::{Exit, Trouble};
use crate::master_key::{MasterKeyArgs, NewMasterKeyArgs};
use crate::up::CONTROL;
use show::Told;

#[derive(Debug, Subcommand)]
pub enum VaultCommand {
    /// Which keys a stopped server's secrets have, and whether the master key is there.
    ///
    /// Keys are told by their ids, and secrets are counted; none is shown. Changes nothing.
    ///
    /// Example: rackwright vault status --data-dir /var/lib/rackwright
    Status(VaultArgs),
    /// Give a stopped server's secrets a new master key.
    ///
    /// The data keys are wrapped under the new key in one step, and the old key opens the vault no more. Backups keep the key that they
    /// were made with. It may be repeated if it was interrupted.
    ///
    /// Example: rackwright vault rotate-key --data-dir /var/lib/rackwright --new-key-file /etc/rackwright/master-2.key
    RotateKey(RotateKeyArgs),
    /// Encrypt a stopped server's secrets anew, with a new data key.
    ///
    /// The master key stays. If it is interrupted, the secrets are readable all the same, and the server's next start finishes it.
    ///
    /// Example: rackwright vault rotate-data-key --data-dir /var/lib/rackwright
    RotateDataKey(VaultArgs),
}

#[derive(Args, Clone, Debug)]
pub struct VaultArgs {
    /// The data directory; for `rackwright up` it is `control` in its data directory
    #[arg(long, value_name = "DIR")]
    pub data_dir: PathBuf,
    #[command(flatten)]
    pub key: MasterKeyArgs,
}

#[derive(Args, Clone, Debug)]
pub struct RotateKeyArgs {
    #[command(flatten)]
    pub vault: VaultArgs,
    #[command(flatten)]
    pub new: NewMasterKeyArgs,
}

pub async fn run(command: &VaultCommand, showing: &Showing, screen: &mut Screen) -> Result<(), Trouble> {
    match command {
        VaultCommand::Status(args) => {
            let (source, store) = (args.key.source(&args.data_dir)?, open(&args.data_dir)?);
            Told::of(&store, &source, &args.data_dir).await?.show(showing, screen)
        }
        VaultCommand::RotateKey(args) => rotate_key(args, showing, screen).await,
        VaultCommand::RotateDataKey(args) => {
            let (source, store) = (args.key.source(&args.data_dir)?, open(&args.data_dir)?);
            let rotated = Vault::rotate_data_key(&store, &source).await;
            rotated.map_err(|error| Trouble::caused("the data key cannot be rotated", &error))?;
            Told::of(&store, &source, &args.data_dir).await?.show(showing, screen)
        }
    }
}

async fn rotate_key(args: &RotateKeyArgs, showing: &Showing, screen: &mut Screen) -> Result<(), Trouble> {
    let VaultArgs { data_dir, key } = &args.vault;
    let (current, new) = (key.source(data_dir)?, args.new.source()?);
    let store = open(data_dir)?;
    let rotated = Vault::rotate_master_key(&store, &current, &new).await;
    let rotation = rotated.map_err(|error| Trouble::caused("the master key cannot be rotated", &error))?;
    Told::of(&store, &new, data_dir).await?.show(showing, screen)?;
    if showing.is_for_people() {
        if rotation == MasterKeyRotation::DoneBefore {
            screen.hint("it was rotated to this key before; nothing was changed");
        }
        screen.hint(&show::how_to_go_on(&new, data_dir));
        screen.hint("keep the old key as long as there are backups that were made with it");
    }
    Ok(())
}

/// The store of a stopped server. None is made.
fn open(dir: &Path) -> Result<SharedStore, Trouble> {
    let control = dir.join(CONTROL);
    if control.is_dir() {
        return Err(Trouble::failed(format!("{} is the data directory of `rackwright up`", dir.display()))
            .hint(format!("its secrets are in `--data-dir {}`", control.display())));
    }
    if !SqliteStore::is_in(dir) {
        return Err(Trouble::new(Exit::NotFound, format!("there is no store in {}", dir.display())));
    }
    let store = SqliteStore::open(dir, Arc::new(SystemClock)).map_err(|error| {
        let trouble = Trouble::caused("the store cannot be opened", &error);
        if matches!(error, StoreError::InUse { .. }) {
            trouble.hint("stop the server for it: keys are read when it starts")
        } else {
            trouble
        }
    })?;
    Ok(Arc::new(store))
}

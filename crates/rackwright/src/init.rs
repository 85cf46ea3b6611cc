//! `rackwright init`: a data directory with its first administrator, before a server is started on it.

use std::path::PathBuf;
use std::sync::Arc;

use access::principal::{ClientSecret, ServicePrincipal};
use clap::Args;
use gate::Gate;
use model::Clock;
use serde_json::json;
use store::{SharedStore, SqliteStore, SystemClock, Vault};

use crate::authority::Authority;
use crate::cli::output::Showing;
use crate::cli::render::{Table, facts};
use crate::cli::screen::{Screen, Tone};
use crate::cli::trouble::{Exit, Trouble};
use crate::master_key::MasterKeyArgs;
use crate::private_file;

#[derive(Args, Clone, Debug)]
pub struct InitArgs {
    /// The data directory, made if it is absent; for `rackwright up` it is `control` in its data directory
    #[arg(long, value_name = "DIR")]
    pub data_dir: PathBuf,
    /// Give the administrator of a directory that has one a new secret; the old ones are good no more
    #[arg(long)]
    pub new_secret: bool,
    #[command(flatten)]
    pub key: MasterKeyArgs,
}

pub async fn run(args: &InitArgs, showing: &Showing, screen: &mut Screen) -> Result<(), Trouble> {
    let dir = &args.data_dir;
    private_file::create_directory(dir).map_err(|error| Trouble::caused(&format!("{} cannot be made", dir.display()), &error))?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let store =
        SqliteStore::open(dir, clock.clone()).map_err(|error| Trouble::caused(&format!("{} cannot be opened", dir.display()), &error))?;
    let store: SharedStore = Arc::new(store);
    let vault = Vault::open(store.clone(), &args.key.source(dir)?).await;
    let vault = Arc::new(vault.map_err(|error| Trouble::caused("the secret vault cannot be opened", &error))?);
    let cannot = |error: &dyn std::error::Error| Trouble::caused("there can be no administrator", error);
    Authority::open(&vault).await.map_err(|error| cannot(&error))?;
    let gate = Gate::open(store, vault, clock).await.map_err(|error| cannot(&error))?;
    let (principal, secret) = match gate.make_administrator().await.map_err(|error| cannot(&error))? {
        Some(made) => made,
        None if args.new_secret => gate.renew_administrator().await.map_err(|error| cannot(&error))?,
        None => {
            return Err(Trouble::new(Exit::Refused, format!("{} has an administrator already", dir.display()))
                .hint("with --new-secret it is given another secret"));
        }
    };
    tell(&principal, &secret, showing, screen)
}

fn tell(principal: &ServicePrincipal, secret: &ClientSecret, showing: &Showing, screen: &mut Screen) -> Result<(), Trouble> {
    let (client, name) = (principal.client_id.to_string(), principal.display_name.as_str());
    let told = json!({ "displayName": name, "clientId": client, "clientSecret": secret.text(), "tenantId": principal.tenant });
    let sheet = || {
        facts(&[
            (Tone::Strong, name, "may do everything; keep its secret well, it is shown this once".to_owned()),
            (Tone::Plain, "client id", client.clone()),
            (Tone::Plain, "secret", secret.text().to_owned()),
        ])
    };
    let table = || {
        let mut table = Table::new(&["NAME", "CLIENT ID", "SECRET"]);
        table.row(Tone::Plain, [name.to_owned(), client.clone(), secret.text().to_owned()]);
        table
    };
    showing.one(screen, &told, sheet, table)
}

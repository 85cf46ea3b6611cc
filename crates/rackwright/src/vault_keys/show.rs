//! What is told of a vault: key ids, where the master key is, and how many secrets there are.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use store::{KeyFit, MasterKeyId, MasterKeySource, SharedStore, Vault, VaultSurvey};

use crate::cli::output::Showing;
use crate::cli::render::Table;
use crate::cli::screen::{Screen, Sheet, Tone};
use crate::cli::trouble::Trouble;
use crate::master_key;

pub struct Told {
    data_dir: PathBuf,
    survey: VaultSurvey,
    source: String,
    fit: Result<KeyFit, Trouble>,
}

impl Told {
    pub async fn of(store: &SharedStore, source: &MasterKeySource, data_dir: &Path) -> Result<Told, Trouble> {
        let survey = Vault::survey(store).await.map_err(|error| Trouble::caused("the vault cannot be read", &error))?;
        // A key that cannot be had is told of, and hides nothing else.
        let fit = Vault::fit_store(store, source).await.map_err(|error| Trouble::caused("the master key cannot be used", &error));
        Ok(Told { data_dir: data_dir.to_owned(), survey, source: source.to_string(), fit })
    }

    pub fn show(&self, showing: &Showing, screen: &mut Screen) -> Result<(), Trouble> {
        showing.one(screen, &self.body(), || self.sheet(), || self.row())?;
        match &self.fit {
            Err(trouble) => screen.warn(
                &[trouble.message.as_str()].into_iter().chain(trouble.details.iter().map(String::as_str)).collect::<Vec<_>>().join(": "),
            ),
            Ok(KeyFit::OtherKey) => screen.warn(&format!("{} is another key than the one that these secrets need", self.source)),
            Ok(KeyFit::NoKeyFile) => screen.warn(&format!("there is no key file {}", self.source)),
            Ok(KeyFit::Fits | KeyFit::NoSecrets) => {}
        }
        Ok(())
    }

    fn body(&self) -> Value {
        let data_keys = self
            .survey
            .data_keys
            .iter()
            .map(|key| json!({ "id": key.id.number(), "secrets": key.secrets, "wrappedBy": name_of(key.wrapped_by) }));
        json!({
            "dataDir": self.data_dir.display().to_string(),
            "masterKeyId": self.survey.master_key().map(name_of),
            "masterKeySource": self.source,
            "masterKeyFits": matches!(self.fit, Ok(KeyFit::Fits)),
            "dataKeys": data_keys.collect::<Vec<_>>(),
            "secrets": self.survey.secrets,
            "secretsWithoutDataKey": self.survey.direct_secrets,
        })
    }

    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        sheet.line(Tone::Strong, format!("vault of {}", self.data_dir.display()));
        let needed = self.survey.master_key().map_or_else(|| "none yet".to_owned(), name_of);
        sheet.line(Tone::Plain, format!("  master key  {needed}"));
        sheet.line(Tone::Plain, format!("  from        {}: {}", self.source, fit_words(self.fit.as_ref().ok())));
        for key in &self.survey.data_keys {
            sheet.line(Tone::Plain, format!("  data key    {}, with {} secrets", key.id, key.secrets));
        }
        sheet.line(Tone::Plain, format!("  secrets     {}", self.survey.secrets));
        if self.survey.direct_secrets > 0 {
            let words = format!(
                "  older       {} secrets have no data key yet; the server's next start gives them one",
                self.survey.direct_secrets
            );
            sheet.line(Tone::Plain, words);
        }
        sheet
    }

    fn row(&self) -> Table {
        let mut table = Table::new(&["DATA DIR", "MASTER KEY", "FITS", "DATA KEYS", "SECRETS"]);
        let ids: Vec<String> = self.survey.data_keys.iter().map(|key| key.id.to_string()).collect();
        let master = self.survey.master_key().map_or_else(String::new, name_of);
        let fits = if matches!(self.fit, Ok(KeyFit::Fits)) { "True" } else { "False" };
        let cells = [self.data_dir.display().to_string(), master, fits.to_owned(), ids.join(","), self.survey.secrets.to_string()];
        table.row(Tone::Plain, cells);
        table
    }
}

/// Scripts compare it.
fn name_of(id: MasterKeyId) -> String {
    match id {
        MasterKeyId::Held(fingerprint) => fingerprint.to_string(),
        MasterKeyId::Command => "command".to_owned(),
    }
}

fn fit_words(fit: Option<&KeyFit>) -> &'static str {
    match fit {
        Some(KeyFit::Fits) => "fits",
        Some(KeyFit::NoSecrets) => "there is nothing to open",
        Some(KeyFit::NoKeyFile) => "missing",
        Some(KeyFit::OtherKey) => "another key",
        None => "cannot be used",
    }
}

/// What the server must be told after its key has changed.
pub fn how_to_go_on(new: &MasterKeySource, data_dir: &Path) -> String {
    match new {
        MasterKeySource::File(path) if *path == master_key::default_file(data_dir) => "start the server as before".to_owned(),
        MasterKeySource::File(path) => {
            format!("start the server with `--key-file {}`, or move that file to where the old key was", path.display())
        }
        MasterKeySource::Variable(_) => "start the server with the new key in RACKWRIGHT_MASTER_KEY, and no `--key-file`".to_owned(),
        MasterKeySource::Command(_) => "start the server with the new command as its `--key-command`".to_owned(),
    }
}

//! Where the master key of the vault comes from, as options and the environment say it.

use std::path::{Path, PathBuf};

use clap::Args;
use store::{KeyCommand, MASTER_KEY_VARIABLE, MasterKeySource, NEW_MASTER_KEY_VARIABLE};

use crate::cli::trouble::{Exit, Trouble};

/// The key file of a data directory, unless another source is named.
const KEY_FILE: &str = "vault.key";

pub fn default_file(data_dir: &Path) -> PathBuf {
    data_dir.join(KEY_FILE)
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Master key of the secrets")]
pub struct MasterKeyArgs {
    /// The file with the master key; a server makes it if there are no secrets yet. Without it, and unless RACKWRIGHT_MASTER_KEY has
    /// the key in base64: `vault.key` in the data directory
    #[arg(long, value_name = "FILE", env = "RACKWRIGHT_KEY_FILE")]
    pub key_file: Option<PathBuf>,
    /// A command that keeps the master key, such as a client of a KMS: it is run with `wrap` or `unwrap` as its last argument, gets a
    /// key in base64 on stdin, and answers in base64 on stdout. Its words are split at blanks; there is no shell
    #[arg(long, value_name = "COMMAND", env = "RACKWRIGHT_KEY_COMMAND", hide_env_values = true, conflicts_with = "key_file")]
    pub key_command: Option<KeyCommand>,
}

impl MasterKeyArgs {
    pub fn source(&self, data_dir: &Path) -> Result<MasterKeySource, Trouble> {
        let named = choose(
            "--key-file or --key-command",
            self.key_file.as_deref(),
            self.key_command.as_ref(),
            Variable::of_process(MASTER_KEY_VARIABLE),
        )?;
        Ok(named.unwrap_or_else(|| MasterKeySource::File(default_file(data_dir))))
    }
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "New master key")]
pub struct NewMasterKeyArgs {
    /// The file with the new master key; it is made if it is absent. Instead of it, RACKWRIGHT_NEW_MASTER_KEY may have the key in base64
    #[arg(long, value_name = "FILE")]
    pub new_key_file: Option<PathBuf>,
    /// A command that keeps the new master key, as `--key-command` is one for the current key
    #[arg(long, value_name = "COMMAND", conflicts_with = "new_key_file")]
    pub new_key_command: Option<KeyCommand>,
}

impl NewMasterKeyArgs {
    pub fn source(&self) -> Result<MasterKeySource, Trouble> {
        let variable = Variable::of_process(NEW_MASTER_KEY_VARIABLE);
        let named = choose("--new-key-file or --new-key-command", self.new_key_file.as_deref(), self.new_key_command.as_ref(), variable)?;
        named.ok_or_else(|| {
            Trouble::new(Exit::Usage, "it is not said where the new master key is")
                .hint(format!("give `--new-key-file FILE` or `--new-key-command COMMAND`, or set {NEW_MASTER_KEY_VARIABLE}"))
        })
    }
}

/// A variable that may hold a key, and whether it is set.
#[derive(Clone, Copy, Debug)]
enum Variable {
    Set(&'static str),
    Unset,
}

impl Variable {
    fn of_process(name: &'static str) -> Variable {
        if std::env::var_os(name).is_some() { Variable::Set(name) } else { Variable::Unset }
    }
}

/// The one source that is named; none if none is. Two could disagree, and nobody would know which one locked the vault.
fn choose(
    options: &str,
    file: Option<&Path>,
    command: Option<&KeyCommand>,
    variable: Variable,
) -> Result<Option<MasterKeySource>, Trouble> {
    let file = file.map(|path| MasterKeySource::File(path.to_owned()));
    let option = file.or_else(|| command.cloned().map(MasterKeySource::Command));
    match (option, variable) {
        (Some(source), Variable::Set(name)) => Err(Trouble::new(Exit::Usage, "the master key comes from one place, and two are named")
            .detail(format!("by option, or by its variable: {source}"))
            .detail(format!("by the environment: {name}"))
            .hint(format!("leave {options} out, or unset {name}"))),
        (None, Variable::Set(name)) => Ok(Some(MasterKeySource::Variable(name))),
        (option, Variable::Unset) => Ok(option),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_of_a_command_are_documented_as_they_are() {
        let page = include_str!("../../../docs/operating.md");
        let bytes = store::KEY_COMMAND_ANSWER_BYTES;
        let words = format!(
            "has {} seconds, and its answer at most {},{:03} bytes",
            store::KEY_COMMAND_TIMEOUT.as_secs(),
            bytes / 1_000,
            bytes % 1_000
        );
        assert!(page.contains(&words), "{words}");
    }

    #[test]
    fn one_source_is_taken_and_two_are_refused() {
        let file = Some(Path::new("/k"));
        let command: KeyCommand = "kms --ring a".parse().unwrap();
        let set = Variable::Set(MASTER_KEY_VARIABLE);
        assert_eq!(choose("x", None, None, Variable::Unset).unwrap(), None);
        assert_eq!(choose("x", file, None, Variable::Unset).unwrap(), Some(MasterKeySource::File("/k".into())));
        assert_eq!(choose("x", None, Some(&command), Variable::Unset).unwrap(), Some(MasterKeySource::Command(command.clone())));
        assert_eq!(choose("x", None, None, set).unwrap(), Some(MasterKeySource::Variable(MASTER_KEY_VARIABLE)));
        for (file, command) in [(file, None), (None, Some(&command))] {
            let trouble = choose("--key-file or --key-command", file, command, set).unwrap_err();
            assert_eq!(trouble.exit, Exit::Usage);
            assert_eq!(trouble.hint.as_deref(), Some("leave --key-file or --key-command out, or unset RACKWRIGHT_MASTER_KEY"));
        }
    }
}

//! `rackwright bmm replace`: what is said of the hardware that stands in a machine's slot now.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value, json};

use super::act::Action;
use super::args::{NameArgs, parse_name};
use super::bmm::{OutageArgs, SafeguardArgs};
use super::preview::ActArgs;
use super::screen::Screen;
use super::shorthand;
use super::trouble::{Exit, Trouble};

/// Bytes that are read of a file with a password: more than any password has, so that a wrong file is noticed.
const PASSWORD_FILE_MAX: u64 = 4_096;

#[derive(Args, Clone, Debug)]
pub struct ReplaceArgs {
    #[command(flatten)]
    name: NameArgs,

    /// The login of the BMC, if it is a new one: `username=NAME password=TEXT`, or JSON. Without a password it is asked for on the
    /// terminal, or read from `--bmc-password-file`; typed here, others on this computer may see it.
    #[arg(long, value_name = "NAME=TEXT", num_args = 1..=2)]
    bmc_credentials: Vec<String>,

    /// The file whose first line is the BMC's new password.
    #[arg(long, value_name = "FILE", requires = "bmc_credentials")]
    bmc_password_file: Option<PathBuf>,

    /// The MAC address of the BMC, if it is a new one.
    #[arg(long, value_name = "MAC")]
    bmc_mac_address: Option<String>,

    /// The MAC address of the port that the machine boots from, if it is a new one.
    #[arg(long, value_name = "MAC")]
    boot_mac_address: Option<String>,

    /// The name of the machine, as `az` wants it. It keeps the one that it has.
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    machine_name: Option<String>,

    /// The serial number, if it is a new one.
    #[arg(long, value_name = "SERIAL")]
    serial_number: Option<String>,

    /// What becomes of its volumes: all are deleted, or all are left as they are. `bmm advise` tells which is safe.
    #[arg(long, value_name = "DiscardAll|Preserve", value_parser = ["DiscardAll", "Preserve"], default_value = "DiscardAll")]
    storage_policy: String,

    #[command(flatten)]
    safeguard: SafeguardArgs,

    #[command(flatten)]
    outage: OutageArgs,

    #[command(flatten)]
    pub act: ActArgs,
}

impl ReplaceArgs {
    pub fn action(&self, screen: &mut Screen) -> Result<Action, Trouble> {
        let machine = self.name.get();
        let fate = if self.storage_policy == "Preserve" { "Its volumes stay." } else { "All of its volumes are deleted." };
        Ok(Action {
            machine: machine.to_owned(),
            verb: "replace",
            body: self.body(screen)?,
            question: Some(format!("Replace {machine}? {fate}")),
            accepts_outage: self.outage.is_accepted(),
        })
    }

    fn body(&self, screen: &mut Screen) -> Result<Value, Trouble> {
        let mut body = json!({ "storagePolicy": self.storage_policy, "safeguardMode": self.safeguard.mode() });
        let optional = [
            ("bmcMacAddress", &self.bmc_mac_address),
            ("bootMacAddress", &self.boot_mac_address),
            ("machineName", &self.machine_name),
            ("serialNumber", &self.serial_number),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                body[name] = json!(value);
            }
        }
        if let Some(credentials) = self.credentials(screen)? {
            body["bmcCredentials"] = credentials;
        }
        Ok(body)
    }

    fn credentials(&self, screen: &mut Screen) -> Result<Option<Value>, Trouble> {
        let wrong = |why: String| Trouble::new(Exit::Usage, format!("`--bmc-credentials`: {why}"));
        let mut login = match self.bmc_credentials.as_slice() {
            [] => return Ok(None),
            [whole] if whole.starts_with('{') => match shorthand::parse(whole).map_err(wrong)? {
                Value::Object(fields) => fields,
                _ => return Err(wrong("NAME=TEXT is meant".to_owned())),
            },
            pairs => pairs.iter().map(|pair| parse_pair(pair)).collect::<Result<Map<_, _>, _>>().map_err(wrong)?,
        };
        if let Some(unknown) = login.keys().find(|name| !["username", "password"].contains(&name.as_str())) {
            return Err(wrong(format!("there is no `{unknown}`; username and password are")));
        }
        if !login.contains_key("username") {
            return Err(wrong("`username` is missing".to_owned()));
        }
        match (&self.bmc_password_file, login.contains_key("password")) {
            (Some(_), true) => return Err(wrong("the password is given twice, here and in the file".to_owned())),
            (Some(file), false) => drop(login.insert("password".to_owned(), json!(read_password(file)?))),
            (None, true) => {}
            (None, false) => match screen.ask_secret(&format!("Password of {} at the BMC of {}: ", login["username"], self.name.get())) {
                Some(password) => drop(login.insert("password".to_owned(), json!(password))),
                None => {
                    return Err(wrong("`password` is missing, and there is nobody to ask".to_owned())
                        .hint("give it in a file, with `--bmc-password-file`"));
                }
            },
        }
        Ok(Some(Value::Object(login)))
    }
}

fn parse_pair(text: &str) -> Result<(String, Value), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), json!(value))),
        // It may be a password: it is not repeated.
        _ => Err("NAME=TEXT is meant, as in `username=root`".to_owned()),
    }
}

fn read_password(file: &Path) -> Result<String, Trouble> {
    let unreadable = |problem: std::io::Error| Trouble::new(Exit::Usage, format!("`{}` cannot be read: {problem}", file.display()));
    let mut text = String::new();
    std::fs::File::open(file).and_then(|file| file.take(PASSWORD_FILE_MAX).read_to_string(&mut text)).map_err(unreadable)?;
    match text.lines().next().filter(|line| !line.is_empty()) {
        Some(password) => Ok(password.to_owned()),
        None => Err(Trouble::new(Exit::Usage, format!("`{}` has no password on its first line", file.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::args::{Cli, Command};
    use super::super::bmm::BmmCommand;
    use super::super::screen::tests::captured;
    use super::*;
    use clap::Parser;

    fn args(words: &str) -> ReplaceArgs {
        match Cli::try_parse_from(format!("rackwright bmm replace m1 {words}").split_whitespace()).unwrap().command {
            Some(Command::Bmm(BmmCommand::Replace(args))) => *args,
            other => panic!("{other:?}"),
        }
    }

    fn body(words: &str) -> Result<Value, String> {
        args(words).body(&mut captured().0).map_err(|trouble| trouble.message)
    }

    #[test]
    fn what_is_typed_as_in_az_is_what_is_asked() {
        assert_eq!(body("").unwrap(), json!({ "storagePolicy": "DiscardAll", "safeguardMode": "All" }));
        let full = body(
            "--bmc-credentials password=pass=word username=root --bmc-mac-address 00:00:4f:00:57:ad --boot-mac-address 00:00:4e:00:58:af \
             --machine-name m1 --serial-number BM1219XXX --storage-policy Preserve --safeguard-mode None",
        );
        let expected = json!({
            "bmcCredentials": { "username": "root", "password": "pass=word" }, "bmcMacAddress": "00:00:4f:00:57:ad",
            "bootMacAddress": "00:00:4e:00:58:af", "machineName": "m1", "serialNumber": "BM1219XXX", "storagePolicy": "Preserve",
            "safeguardMode": "None",
        });
        assert_eq!(full.unwrap(), expected);
        let json = body("--bmc-credentials {username:root,password:x}").unwrap();
        assert_eq!(json["bmcCredentials"], json!({ "username": "root", "password": "x" }));
    }

    #[test]
    fn a_password_comes_from_a_file_or_from_the_terminal() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("password");
        std::fs::write(&file, "s3cret\nand more\n").unwrap();
        let words = format!("--bmc-credentials username=root --bmc-password-file {}", file.display());
        assert_eq!(body(&words).unwrap()["bmcCredentials"]["password"], "s3cret");
        let (screen, out, err) = captured();
        let asked = args("--bmc-credentials username=root").body(&mut screen.with_person("typed\n")).unwrap();
        assert_eq!(asked["bmcCredentials"]["password"], "typed");
        assert_eq!((out.text().as_str(), err.text().as_str()), ("", "Password of \"root\" at the BMC of m1: \n"));
    }

    #[test]
    fn a_login_that_is_none_is_refused_and_never_repeated() {
        let cases = [
            ("username=root", "`password` is missing, and there is nobody to ask"),
            ("password=x", "`username` is missing"),
            ("username=root passwort=x", "there is no `passwort`; username and password are"),
            ("s3cret", "NAME=TEXT is meant, as in `username=root`"),
        ];
        for (words, why) in cases {
            assert_eq!(body(&format!("--bmc-credentials {words}")).unwrap_err(), format!("`--bmc-credentials`: {why}"));
        }
        assert!(body("--bmc-credentials username=root --bmc-password-file /nowhere").unwrap_err().starts_with("`/nowhere` cannot be read"));
        assert!(Cli::try_parse_from(["rackwright", "bmm", "replace", "m1", "--bmc-password-file", "f"]).is_err());
    }
}

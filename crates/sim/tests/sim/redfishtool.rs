//! redfishtool and DMTF's other command-line tools, used as a person would.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use sim::{Pace, Vendor};

use crate::peers::{Served, VENDORS, peer, printed, run};

/// How long a condition may take to come true over sockets, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

impl Served {
    /// Runs redfishtool and returns the document that it prints, if it prints one.
    async fn redfishtool(&self, arguments: &[&str]) -> Value {
        let mut command = Command::new(peer("venv/bin/redfishtool"));
        command.args(["-r", &self.address.to_string(), "-S", "Never", "-u", &self.machine.bmc_user, "-p", &self.machine.bmc_password]);
        command.args(arguments);
        let output = run(command).await;
        assert!(output.status.success(), "{:?} {arguments:?}\n{}", self.machine.vendor, printed(&output));
        serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
    }

    /// Runs another of DMTF's tools and returns what it prints.
    async fn tool(&self, name: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(peer(&format!("venv/bin/{name}")));
        command.args(["-u", &self.machine.bmc_user, "-p", &self.machine.bmc_password, "-r", &self.url()]).args(arguments);
        let output = run(command).await;
        assert!(output.status.success(), "{:?} {name} {arguments:?}\n{}", self.machine.vendor, printed(&output));
        printed(&output)
    }

    async fn wait_for_power(&self, wanted: &str) {
        let began = Instant::now();
        loop {
            let shown = self.redfishtool(&["Systems", "get", "-P", "PowerState"]).await;
            if shown["PowerState"] == wanted {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{:?} shows {shown}, not {wanted}", self.machine.vendor);
        }
    }
}

async fn a_persons_session(vendor: Vendor) {
    let served = Served::start(vendor, Pace::REAL.scaled(20.0)).await;
    let systems = served.redfishtool(&["Systems", "list"]).await;
    let system = systems["Members"][0]["@odata.id"].as_str().unwrap().to_owned();
    assert_eq!(served.redfishtool(&["Systems", "get"]).await["SerialNumber"], served.machine.serial_number);

    served.redfishtool(&["Systems", "reset", "ForceOff"]).await;
    served.wait_for_power("Off").await;
    served.redfishtool(&["Systems", "reset", "On"]).await;
    served.wait_for_power("On").await;

    let patch = r#"--data={"Boot":{"BootSourceOverrideEnabled":"Continuous","BootSourceOverrideTarget":"Pxe"}}"#;
    served.redfishtool(&["raw", "PATCH", &system, patch]).await;
    assert_eq!(served.redfishtool(&["raw", "GET", &system]).await["Boot"]["BootSourceOverrideTarget"], "Pxe");

    let login = served.redfishtool(&["SessionService", "login"]).await;
    let location = login["SessionLocation"].as_str().unwrap().to_owned();
    let session = served.redfishtool(&["raw", "GET", &location]).await;
    assert_eq!(session["UserName"], served.machine.bmc_user);
    served.redfishtool(&["raw", "DELETE", &location]).await;

    served.redfishtool(&["AccountService", "adduser", "bob", "passw0rd1", "ReadOnly"]).await;
    assert_eq!(served.redfishtool(&["AccountService", "Accounts", "list"]).await["Members@odata.count"], 2);
    served.redfishtool(&["AccountService", "deleteuser", "bob"]).await;
    assert_eq!(served.redfishtool(&["AccountService", "Accounts", "list"]).await["Members@odata.count"], 1);

    served.tool("rf_virtual_media.py", &["insert", "-image", "http://images/agent.iso"]).await;
    let shown = served.tool("rf_virtual_media.py", &["info"]).await;
    assert!(shown.contains("http://images/agent.iso") && shown.contains("Inserted: True"), "{shown}");
    assert_eq!(served.site.witness(&served.machine.name).unwrap().counters().powered_off, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_with_redfishtool_gets_along_with_every_vendor() {
    let [first, second, third, fourth] = VENDORS.map(a_persons_session);
    tokio::join!(first, second, third, fourth);
}

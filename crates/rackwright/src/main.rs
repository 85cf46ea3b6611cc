//! The one binary: the control plane, the simulated site and the command-line client.

mod check;
mod cli;
mod descriptors;
mod equip;
mod front;
mod logging;
mod measuring;
mod notify;
mod places;
mod private_file;
mod reload;
mod remembering;
mod restore;
mod safekeeping;
mod serve;
mod sim_serve;
mod simulation;
mod site_file;
mod stopping;
mod traces;
mod up;

#[tokio::main]
async fn main() -> std::process::ExitCode {
    descriptors::raise_limit();
    cli::run().await
}

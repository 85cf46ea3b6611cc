//! The one binary: the control plane, the simulated site and the command-line client.

mod authority;
mod check;
mod cli;
mod descriptors;
mod equip;
mod front;
mod images;
mod init;
mod installing;
mod key_fetcher;
mod logging;
mod master_key;
mod measuring;
mod notify;
mod places;
mod private_file;
mod reload;
mod remembering;
mod restore;
mod runtime_file;
mod safekeeping;
mod serve;
mod sim_serve;
mod simulation;
mod site_file;
mod stopping;
mod traces;
mod up;
mod vault_keys;

/// Gives memory back to the system. Thousands of BMCs are looked at for the first time within seconds, and the system's own
/// allocator keeps what that took for ever, because what stays lies scattered in it.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[tokio::main]
async fn main() -> std::process::ExitCode {
    descriptors::raise_limit();
    // Clients that are made without TLS of our own look for the process's, also for addresses that need none.
    let _ = rustls::crypto::ring::default_provider().install_default();
    cli::run().await
}

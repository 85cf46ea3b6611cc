//! The log and the traces of a server: what is told, in which form, and where it goes.
//!
//! The log goes to stderr. Traces go nowhere unless somebody says where a collector is.

use std::io::IsTerminal;

use clap::{Args, ValueEnum};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::cli::trouble::{Exit, Trouble};
use crate::traces::Traces;

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Log and traces")]
pub struct LogArgs {
    /// How the lines of the log are written to stderr
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = LogFormat::Text, env = "RACKWRIGHT_LOG_FORMAT")]
    pub log_format: LogFormat,
    /// What is logged: `error`, `warn`, `info`, `debug` or `trace`, or several as in `info,keeper=debug`. Without it, what
    /// RUST_LOG says; else `info` for `serve` and `warn,audit=info` for a simulated site
    #[arg(long, value_name = "LEVEL", env = "RACKWRIGHT_LOG_LEVEL")]
    pub log_level: Option<String>,
    /// The collector that traces are sent to (OTLP over HTTP), for example http://127.0.0.1:4318. Without it, what
    /// OTEL_EXPORTER_OTLP_ENDPOINT says; else nothing is traced
    #[arg(long, value_name = "URL")]
    pub otlp_endpoint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// How much is logged unless somebody says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usual {
    /// A person is looking at the terminal, and wants to see what they did.
    Warn,
    /// The log is kept, and read when something has happened.
    Info,
}

/// Crates of ours: whoever traces us does not want our libraries' spans, least of all those of sending traces.
const OWN_CRATES: [&str; 7] = ["rackwright", "api", "keeper", "plan", "redfish", "kubernetes", "store"];

/// Runs a server with its log and its traces, and lets what it told arrive before it ends.
pub async fn serving(args: &LogArgs, usual: Usual, server: impl Future<Output = Result<(), Trouble>>) -> Result<(), Trouble> {
    let filter = filter(args, usual, std::env::var("RUST_LOG").ok().as_deref())?;
    let (traces, unusable) = match &args.otlp_endpoint {
        Some(endpoint) => (Some(Traces::start(endpoint)?), None),
        None => of_computer(&|name| std::env::var(name).ok())
            .map(|endpoint| Traces::start(&endpoint))
            .map_or((None, None), |started| started.map_or_else(|trouble| (None, Some(trouble.message)), |traces| (Some(traces), None))),
    };
    let own = OWN_CRATES.iter().fold(Targets::new(), |targets, name| targets.with_target(*name, LevelFilter::INFO));
    let exported = traces.as_ref().map(|traces| tracing_opentelemetry::layer().with_tracer(traces.tracer()).with_filter(own));
    let already = tracing_subscriber::registry().with(lines(args.log_format).with_filter(filter)).with(exported).try_init();
    already.map_err(|error| Trouble::caused("the log cannot be started", &error))?;
    if let Some(problem) = unusable {
        tracing::warn!(problem, "nothing is traced: OTEL_EXPORTER_OTLP_ENDPOINT cannot be used");
    }
    let result = server.await;
    if let Some(traces) = traces {
        traces.flush().await;
    }
    result
}

/// The collector that the computer's own variables name, for all of its programs. One that we cannot use is no reason not
/// to start.
fn of_computer(variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let is = |name: &str, word: &str| variable(name).is_some_and(|value| value.eq_ignore_ascii_case(word));
    if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
        return None;
    }
    let named = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
    named.into_iter().filter_map(variable).find(|endpoint| !endpoint.is_empty())
}

fn lines<S: tracing::Subscriber + for<'a> LookupSpan<'a>>(format: LogFormat) -> Box<dyn Layer<S> + Send + Sync> {
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    match format {
        LogFormat::Text => layer.with_ansi(std::io::stderr().is_terminal()).boxed(),
        LogFormat::Json => layer.json().flatten_event(true).with_current_span(true).with_span_list(false).boxed(),
    }
}

/// The flag counts before `RUST_LOG`. The Kubernetes library repeats in its own words what our driver tells in ours.
fn filter(args: &LogArgs, usual: Usual, rust_log: Option<&str>) -> Result<EnvFilter, Trouble> {
    let usual = match usual {
        // Who was denied, and who changed what others may, is told wherever anything is.
        Usual::Warn => "warn,audit=info,kube_client=off",
        Usual::Info => "info,kube_client=off",
    };
    let given = args.log_level.as_deref().filter(|level| !level.is_empty());
    let told = given.or(rust_log.filter(|level| !level.is_empty()));
    let directives = match told {
        None => usual.to_owned(),
        Some(level) if level.parse::<LevelFilter>().is_ok() => format!("{level},kube_client=off"),
        Some(several) => several.to_owned(),
    };
    EnvFilter::try_new(&directives).map_err(|error| {
        Trouble::new(Exit::Usage, format!("`{directives}` does not say what to log: {error}"))
            .hint("for example `info`, or `info,keeper=debug`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directives(level: Option<&str>, usual: Usual, rust_log: Option<&str>) -> Result<String, Trouble> {
        let args = LogArgs { log_format: LogFormat::Text, log_level: level.map(str::to_owned), otlp_endpoint: None };
        filter(&args, usual, rust_log).map(|filter| filter.to_string())
    }

    #[test]
    fn the_flag_counts_before_the_environment_and_both_before_what_is_usual() {
        assert_eq!(directives(None, Usual::Warn, None).unwrap(), "kube_client=off,audit=info,warn");
        assert_eq!(directives(None, Usual::Info, Some("")).unwrap(), "kube_client=off,info");
        assert_eq!(directives(None, Usual::Info, Some("debug")).unwrap(), "kube_client=off,debug");
        assert_eq!(directives(Some("trace"), Usual::Info, Some("debug")).unwrap(), "kube_client=off,trace");
        assert_eq!(directives(Some("warn,keeper=debug"), Usual::Info, None).unwrap(), "keeper=debug,warn");
    }

    #[test]
    fn the_computers_collector_is_used_unless_it_says_that_nothing_is_traced() {
        let with =
            |set: &[(&str, &str)]| of_computer(&|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()));
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318");
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[endpoint]).as_deref(), Some("http://c:4318"));
        assert_eq!(with(&[endpoint, ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t:1")]).as_deref(), Some("http://t:1"));
        assert_eq!(with(&[endpoint, ("OTEL_SDK_DISABLED", "True")]), None);
        assert_eq!(with(&[endpoint, ("OTEL_TRACES_EXPORTER", "none")]), None);
    }

    #[test]
    fn nonsense_is_wrong_usage() {
        assert_eq!(directives(Some("loud=very"), Usual::Info, None).unwrap_err().exit, Exit::Usage);
    }
}

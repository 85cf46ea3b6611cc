//! Traces, sent to a collector over OTLP and HTTP. A collector that is slow or dead costs spans, and nothing else.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::span_processor_with_async_runtime::BatchSpanProcessor;
use opentelemetry_sdk::trace::{BatchConfigBuilder, SdkTracer, SdkTracerProvider, SpanData, SpanExporter};
use opentelemetry_sdk::{Resource, runtime};

use crate::cli::access::no_tls;
use crate::cli::trouble::{Exit, Trouble};

/// Where collectors take spans, under their address.
const PATH: &str = "/v1/traces";

/// Spans that may wait to be sent; more are dropped. A few seconds of a busy site.
const QUEUE: usize = 4_096;

const SEND_EVERY: Duration = Duration::from_secs(1);

/// A collector that has not taken a batch by then has lost it.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a process that ends waits for its last spans to be taken.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    pub fn start(endpoint: &str) -> Result<Traces, Trouble> {
        let address = address(endpoint)?;
        let wrong = |error: &dyn std::error::Error| Trouble::caused(&format!("traces cannot be sent to {address}"), error);
        // A proxy is for the world outside; a collector is in the house.
        let client = reqwest::Client::builder()
            .no_proxy()
            .tls_backend_preconfigured(no_tls())
            .timeout(SEND_TIMEOUT)
            .build()
            .map_err(|error| wrong(&error))?;
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_endpoint(&address)
            .with_timeout(SEND_TIMEOUT)
            .build()
            .map_err(|error| wrong(&error))?;
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUE)
            .with_scheduled_delay(SEND_EVERY)
            .with_max_export_timeout(SEND_TIMEOUT)
            .build();
        let exporter = Telling { exporter, address, is_failing: AtomicBool::new(false) };
        let processor = BatchSpanProcessor::builder(exporter, runtime::Tokio).with_batch_config(batches).build();
        let version = opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let resource = Resource::builder().with_service_name("rackwright").with_attribute(version).build();
        Ok(Traces { provider: SdkTracerProvider::builder().with_resource(resource).with_span_processor(processor).build() })
    }

    pub fn tracer(&self) -> SdkTracer {
        self.provider.tracer("rackwright")
    }

    /// Sends what is waiting, but does not wait for a dead collector.
    pub async fn flush(self) {
        // It blocks its thread while it waits for the batch that the runtime sends.
        let flushed = tokio::task::spawn_blocking(move || self.provider.shutdown());
        if tokio::time::timeout(FLUSH_TIMEOUT, flushed).await.is_err() {
            tracing::warn!("the last traces were not taken in time and are lost");
        }
    }
}

fn address(endpoint: &str) -> Result<String, Trouble> {
    let wrong = |why: &str| {
        Trouble::new(Exit::Usage, format!("`{endpoint}` is not a collector's address: {why}")).hint("for example http://127.0.0.1:4318")
    };
    let url = reqwest::Url::parse(endpoint).map_err(|error| wrong(&error.to_string()))?;
    match url.scheme() {
        "http" => {}
        "https" => return Err(wrong("https is not part of this version; send to a collector on this computer")),
        _ => return Err(wrong("it must begin with http://")),
    }
    let address = endpoint.trim_end_matches('/');
    Ok(if url.path().ends_with(PATH) { address.to_owned() } else { format!("{address}{PATH}") })
}

/// Says once that a collector takes nothing, and once that it does again.
#[derive(Debug)]
struct Telling<E> {
    exporter: E,
    address: String,
    is_failing: AtomicBool,
}

impl<E: SpanExporter> SpanExporter for Telling<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let result = self.exporter.export(batch).await;
        let was_failing = self.is_failing.swap(result.is_err(), Ordering::Relaxed);
        match &result {
            Err(error) if !was_failing => tracing::warn!(collector = self.address, %error, "traces cannot be sent and are lost"),
            Ok(()) if was_failing => tracing::info!(collector = self.address, "traces are sent again"),
            _ => {}
        }
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collectors_address_gets_the_path_of_traces_unless_it_has_it() {
        assert_eq!(address("http://127.0.0.1:4318").unwrap(), "http://127.0.0.1:4318/v1/traces");
        assert_eq!(address("http://127.0.0.1:4318/").unwrap(), "http://127.0.0.1:4318/v1/traces");
        assert_eq!(address("http://c:1/otlp/v1/traces").unwrap(), "http://c:1/otlp/v1/traces");
        for wrong in ["https://c:4318", "127.0.0.1:4318", "collector", "grpc://c:4317"] {
            assert_eq!(address(wrong).unwrap_err().exit, Exit::Usage, "{wrong}");
        }
    }
}

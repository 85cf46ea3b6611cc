//! The images that machines are sent: where they come from, where they are kept, and how fast they are sent.

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

use api::{Coming, Depot, Fetch, Images, Rates, Rest, Unfetched};
use bytes::Bytes;
use clap::Args;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Request, Uri};
use http_body_util::Empty;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::cli::trouble::Trouble;

/// Where images are kept, below the data directory.
pub const DIRECTORY: &str = "images";

/// How much they may take unless told otherwise: the largest that there may be fits, and a score of usual ones.
pub const CACHE_BYTES: u64 = 64 << 30;

/// The slowest that images are sent: less would be no installation, and every agent would think that we are gone.
const RATE_MIN: u64 = 64 << 10;

#[derive(Args, Clone, Copy, Debug)]
pub struct ImageArgs {
    /// How many bytes of images are kept in the data directory, such as 20GiB. Beyond it the one goes that was not asked for
    /// longest, but none that an installation needs
    #[arg(long, value_name = "BYTES", default_value = "64GiB", value_parser = read_bytes)]
    pub image_cache_bytes: u64,
    /// How many bytes a second one machine is sent of images, at most, such as 50MiB. Without it: as many as it takes
    #[arg(long, value_name = "BYTES", value_parser = read_rate)]
    pub install_rate: Option<NonZeroU64>,
    /// How many bytes a second all machines together are sent of images, at most; each gets an equal part. Without it: as many
    /// as they take
    #[arg(long, value_name = "BYTES", value_parser = read_rate)]
    pub install_rate_total: Option<NonZeroU64>,
}

impl Default for ImageArgs {
    fn default() -> ImageArgs {
        ImageArgs { image_cache_bytes: CACHE_BYTES, install_rate: None, install_rate_total: None }
    }
}

impl ImageArgs {
    pub fn rates(&self) -> Rates {
        Rates { each: self.install_rate, total: self.install_rate_total }
    }
}

/// A number of bytes: `1048576`, `1024KiB` or `1MiB`.
fn read_bytes(text: &str) -> Result<u64, String> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)];
    let (digits, shift) = units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift))).unwrap_or((text, 0));
    let number =
        Some(digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit())).and_then(|digits| digits.parse::<u64>().ok());
    let bytes = number.and_then(|number| number.checked_mul(1 << shift)).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "a number of bytes is meant, such as 1048576, 1024KiB, 1MiB or 1GiB".to_owned())
}

fn read_rate(text: &str) -> Result<NonZeroU64, String> {
    let rate = NonZeroU64::new(read_bytes(text)?).filter(|rate| rate.get() >= RATE_MIN);
    rate.ok_or_else(|| format!("at least {}KiB a second is meant", RATE_MIN >> 10))
}

/// Images that come over the network and are kept below a data directory.
pub fn open(data_dir: &Path, args: &ImageArgs) -> Result<Images, Trouble> {
    let directory = data_dir.join(DIRECTORY);
    let depot = Depot::in_directory(Arc::new(WebFetch::new()?), &directory, args.image_cache_bytes);
    let depot = depot.map_err(|error| Trouble::caused(&format!("{} cannot be made", directory.display()), &error))?;
    Ok(Images::from(depot))
}

/// Fetches over HTTP and HTTPS. What a bundle names is known by its digest, so whoever serves it need not be trusted; redirects are
/// not followed, so that nobody but the bundle says where we call.
pub struct WebFetch {
    client: Client<HttpsConnector<HttpConnector>, Empty<Bytes>>,
}

impl WebFetch {
    pub fn new() -> Result<WebFetch, Trouble> {
        let provider = rustls::crypto::ring::default_provider();
        let tls = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(provider)
            .map_err(|error| Trouble::caused("the computer's trusted certificates cannot be read", &error))?;
        let connector = tls.https_or_http().enable_http1().build();
        Ok(WebFetch { client: Client::builder(TokioExecutor::new()).build(connector) })
    }

    async fn get(&self, url: &str, rest: &Rest) -> Result<Coming, Unfetched> {
        let told = |problem: &dyn std::fmt::Display| Unfetched(problem.to_string());
        let uri: Uri = url.parse().map_err(|error: http::uri::InvalidUri| told(&error))?;
        let mut request = Request::get(uri);
        for (name, value) in rest.headers() {
            request = request.header(name, value);
        }
        let request = request.body(Empty::new()).map_err(|error| told(&error))?;
        let response = self.client.request(request).await.map_err(|error| Unfetched(whole(&error)))?;
        Coming::of(response, rest)
    }
}

/// An error with its causes, in one line.
fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text += &format!(": {cause}");
        source = cause.source();
    }
    text
}

impl Fetch for WebFetch {
    fn open<'a>(&'a self, url: &'a str, rest: &'a Rest) -> BoxFuture<'a, Result<Coming, Unfetched>> {
        self.get(url, rest).boxed()
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::get;
    use futures::TryStreamExt;
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn sizes_are_numbers_of_bytes_with_or_without_a_unit() {
        for (text, bytes) in [("1", 1), ("2KiB", 2 << 10), ("3MiB", 3 << 20), ("64GiB", CACHE_BYTES), ("1TiB", 1 << 40)] {
            assert_eq!(read_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "0", "-1", "+1", "1.5GiB", "GiB", "1GB", "1 GiB", "99999999999TiB", "1x"] {
            assert!(read_bytes(text).is_err(), "{text}");
        }
        assert_eq!(read_rate("64KiB").unwrap().get(), 65_536);
        assert_eq!(read_rate("63KiB").unwrap_err(), "at least 64KiB a second is meant");
    }

    #[tokio::test]
    async fn images_are_fetched_whole_or_from_a_place_on() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route("/image", get(|| async { "0123456789" })).merge(sim::images::router());
        tokio::spawn(std::future::IntoFuture::into_future(axum::serve(listener, router)));
        let fetch = WebFetch::new().unwrap();
        let open = async |path: &str, at: u64| {
            let coming = fetch.open(&format!("{base}{path}"), &Rest { at, etag: None }).await?;
            let (at, whole) = (coming.at, coming.whole);
            let pieces: Vec<Bytes> = coming.body.try_collect().await?;
            Ok::<_, Unfetched>((at, whole, pieces.concat()))
        };
        assert_eq!(open("/image", 4).await.unwrap(), (0, Some(10), b"0123456789".to_vec()), "it sends no parts");
        let (at, whole, part) = open("/images/4.9.2/os.img", 200_000).await.unwrap();
        assert_eq!((at, whole, part.len() as u64), (200_000, Some(262_144), 62_144));
        assert_eq!(open("/gone", 0).await.unwrap_err().0, "it answered 404 Not Found");
        assert!(fetch.open("http://127.0.0.1:1/x", &Rest::default()).await.unwrap_err().0.contains("refused"));
    }
}

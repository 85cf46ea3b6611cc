//! The headers that every answer has, so that neither a browser nor a proxy makes of it what it is not.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// For how long a browser that spoke TLS with us once speaks nothing else: a year, which is what browsers ask for.
const TLS_ONLY: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Whether what is said can be read on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Tls,
    /// Whoever hears it in the clear could be told anything, so that promises of TLS must not be made there (RFC 6797, 7.2).
    Clear,
}

/// Sets what every answer has. An answer that says itself how long it may be kept is left its word.
pub(crate) fn protect(headers: &mut HeaderMap, transport: Transport) {
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Nothing of ours is a page: a browser that is shown an answer runs nothing, frames nothing and tells nobody where it was.
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if transport == Transport::Tls {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, TLS_ONLY);
    }
    // What we are built of is nobody's concern.
    headers.remove(header::SERVER);
}

/// Sets the ids that an answer is asked about by.
pub(crate) fn identify(headers: &mut HeaderMap, request_id: &str, correlation_id: &str) {
    for (name, id) in [(REQUEST_ID, request_id), (CORRELATION_ID, correlation_id)] {
        if let Ok(id) = HeaderValue::from_str(id) {
            headers.insert(name, id);
        }
    }
}

/// The id that the server knows a request by.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-request-id");

/// The id that a client, or whoever is behind it, knows several requests by.
pub(crate) const CORRELATION_ID: HeaderName = HeaderName::from_static("x-ms-correlation-request-id");

/// The id that a client knows its request by, which goes back if the client asks for it.
pub(crate) const CLIENT_ID: HeaderName = HeaderName::from_static("x-ms-client-request-id");

/// How a client asks for its own id.
pub(crate) const RETURN_CLIENT_ID: &str = "x-ms-return-client-request-id";

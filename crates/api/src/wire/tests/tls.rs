//! One listener for those who come with TLS and those who come without.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, TlsConnector};
use tokio_util::sync::CancellationToken;

use crate::wire::{Welcome, serve};

const REQUEST: &[u8] = b"GET /who HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

fn both_ends() -> (TlsAcceptor, TlsConnector) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let server = rustls::ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().unwrap();
    let server = server.with_no_client_auth().with_single_cert(vec![CertificateDer::from(cert.der().to_vec())], key).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(cert.der().clone()).unwrap();
    let client = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let client = client.with_root_certificates(roots).with_no_client_auth();
    (TlsAcceptor::from(Arc::new(server)), TlsConnector::from(Arc::new(client)))
}

async fn ask(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> String {
    stream.write_all(REQUEST).await.unwrap();
    let mut answer = Vec::new();
    // Not everybody says goodbye before the line is closed.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn who_comes_with_tls_is_served_inside_and_who_comes_without_outside() {
    let (tls, connector) = both_ends();
    let answering = |word: &'static str| Router::new().route("/who", get(move || async move { word }));
    let welcome = Welcome::Either { tls, inside: answering("inside"), outside: answering("outside") };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve(listener, welcome, 8, stop.clone()));
    let connect = || async { TcpStream::connect(address).await.unwrap() };
    let name = ServerName::try_from("localhost").unwrap();
    assert!(ask(connector.connect(name, connect().await).await.unwrap()).await.ends_with("inside"));
    assert!(ask(connect().await).await.ends_with("outside"));
    let mut broken = connect().await;
    broken.write_all(&[0x16, 3, 1, 0, 2, 9, 9]).await.unwrap();
    let mut answer = Vec::new();
    let _ = broken.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "a handshake that is none is no request");
    stop.cancel();
    serving.await.unwrap();
}

//! The site over real sockets, in wall time.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use sim::{BmcScheme, Net, Pace, Site, SocketNet, TrustedCa};
use store::{MemoryStore, SharedStore, SystemClock};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::harness::spec;

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

async fn open(store: &SharedStore) -> Site {
    Site::open(spec().with_pace(Pace::instant()), store.clone(), Arc::new(SystemClock)).await.unwrap()
}

/// Sends a request that asks for the connection to be closed and returns everything that comes back.
async fn exchange(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

fn run(site: &Site) -> (tokio::task::JoinHandle<()>, CancellationToken) {
    let (site, shutdown) = (site.clone(), CancellationToken::new());
    let until = shutdown.clone();
    (tokio::spawn(async move { site.run(until).await.unwrap() }), shutdown)
}

/// How a machine's network fares with a request that trusts this authority.
async fn trusting(url: &str, ca: Option<&str>) -> Result<u16, std::io::Error> {
    let mut request = http::Request::get(url);
    if let Some(ca) = ca {
        request = request.extension(TrustedCa(ca.to_owned()));
    }
    let response = SocketNet::default().send(request.body(bytes::Bytes::new()).unwrap()).await?;
    Ok(response.status().as_u16())
}

#[tokio::test]
async fn a_machine_believes_whom_its_authority_vouches_for_and_nobody_else() {
    let store: SharedStore = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
    let site = open(&store).await;
    let endpoints = site.listen_with(LOOPBACK, BmcScheme::Https).await.unwrap();
    let (task, shutdown) = run(&site);
    let address = endpoints.bmcs.values().next().unwrap();
    let ca = endpoints.trust.unwrap().ca_pem;
    let url = format!("https://{address}/redfish/v1/");
    assert_eq!(trusting(&url, Some(&ca)).await.unwrap(), 200);
    assert!(trusting(&url, None).await.is_err());
    assert!(trusting(&url, Some("no certificate")).await.is_err());
    let plain = format!("http://{}/images/4.4.3/os.img", endpoints.images);
    assert_eq!(trusting(&plain, Some(&ca)).await.unwrap(), 200);
    shutdown.cancel();
    task.await.unwrap();
    assert!(trusting(&plain, None).await.is_err(), "nobody listens any more");
}

#[tokio::test]
async fn a_listening_site_answers_keeps_its_ports_and_stops_under_open_streams() {
    let store: SharedStore = Arc::new(MemoryStore::new(Arc::new(SystemClock)));
    let site = open(&store).await;
    let endpoints = site.listen(LOOPBACK).await.unwrap();
    let (task, shutdown) = run(&site);
    assert_eq!(endpoints.bmcs.len(), 16);
    for address in endpoints.bmcs.values() {
        let answer = exchange(*address, "GET /redfish/v1/ HTTP/1.1\r\nHost: bmc\r\nConnection: close\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("ServiceRoot"), "{answer}");
    }

    let mut watch = BufReader::new(TcpStream::connect(endpoints.kubernetes).await.unwrap());
    let request = format!("GET /api/v1/nodes?watch=1 HTTP/1.1\r\nHost: k\r\nAuthorization: Bearer {}\r\n\r\n", endpoints.token);
    watch.get_mut().write_all(request.as_bytes()).await.unwrap();
    let mut first = String::new();
    watch.read_line(&mut first).await.unwrap();
    assert!(first.starts_with("HTTP/1.1 200"), "{first}");
    let idle = TcpStream::connect(endpoints.kubernetes).await.unwrap();

    shutdown.cancel();
    tokio::time::timeout(Duration::from_secs(10), task).await.expect("stopping does not wait for clients").unwrap();
    let mut rest = String::new();
    watch.read_to_string(&mut rest).await.unwrap();
    drop((idle, site));

    // The same ports again, but for one that somebody else has taken meanwhile.
    let taken = *endpoints.bmcs.values().next().unwrap();
    let _thief = TcpListener::bind(taken).await.unwrap();
    let site = open(&store).await;
    let again = site.listen(LOOPBACK).await.unwrap();
    let moved: Vec<&String> =
        again.bmcs.iter().filter(|(name, address)| endpoints.bmcs[*name] != **address).map(|(name, _)| name).collect();
    assert_eq!(moved, [endpoints.bmcs.keys().next().unwrap()]);
    assert_eq!((again.kubernetes, &again.token), (endpoints.kubernetes, &endpoints.token));
}

//! Too many clients, and the end.

use std::time::Duration;

use super::*;

async fn get(stream: &mut TcpStream, path: &str) -> String {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).await.unwrap();
    let mut buffer = vec![0; 4_096];
    let read = stream.read(&mut buffer).await.unwrap();
    String::from_utf8(buffer[..read].to_vec()).unwrap()
}

#[tokio::test]
async fn more_connections_than_are_served_are_told_to_come_back() {
    let log = crate::audit::tests::Log::default();
    let _listening = log.listen();
    let served = served(2).await;
    let mut first = TcpStream::connect(served.address).await.unwrap();
    let mut second = TcpStream::connect(served.address).await.unwrap();
    for stream in [&mut first, &mut second] {
        assert!(get(stream, "/healthz").await.starts_with("HTTP/1.1 200 "));
    }
    let third = exchange(served.address, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert_eq!((third[0].status, third[0].code().as_str(), third[0].header("retry-after")), (429, "TooManyRequests", Some("1")));
    assert!(third[0].header("x-ms-request-id").is_some());
    let lines = log.denials();
    assert!(matches!(&lines[..], [line] if line.contains("reason=\"ConnectionLimit\"") && line.contains("from=127.0.0.1")), "{lines:?}");
    assert!(get(&mut second, "/healthz").await.starts_with("HTTP/1.1 200 "), "those who are served are served on");
    drop(first);
    let freed = async {
        let close = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        while exchange(served.address, close).await[0].status != 200 {}
    };
    tokio::time::timeout(Duration::from_secs(10), freed).await.expect("a place that was left is given away");
}

#[tokio::test]
async fn a_stop_waits_for_nobody_who_has_nothing_to_say() {
    let served = served(10).await;
    let mut listener = TcpStream::connect(served.address).await.unwrap();
    assert!(get(&mut listener, "/rackwright/v1/events").await.starts_with("HTTP/1.1 200 "));
    let mut idle = TcpStream::connect(served.address).await.unwrap();
    assert!(get(&mut idle, "/healthz").await.starts_with("HTTP/1.1 200 "));
    let mut dawdler = TcpStream::connect(served.address).await.unwrap();
    dawdler.write_all(b"GET /healthz HTTP/1.1\r\nhost: loc").await.unwrap();
    served.stop.cancel();
    tokio::time::timeout(Duration::from_secs(5), served.serving).await.expect("it stops").unwrap();
    let mut rest = Vec::new();
    listener.read_to_end(&mut rest).await.unwrap();
    assert!(rest.ends_with(b"0\r\n\r\n"), "the stream of events was ended, not cut: {:?}", String::from_utf8_lossy(&rest));
    assert!(TcpStream::connect(served.address).await.is_err(), "nobody is accepted any more");
}

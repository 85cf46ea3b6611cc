//! A client of the API that costs little itself: one connection, one request at a time.

use std::io;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::future::try_join_all;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::door::Door;
use crate::stats::Times;

pub struct Client {
    door: Door,
    sender: SendRequest<Full<Bytes>>,
    asked: usize,
}

impl Client {
    pub async fn connect(door: &Door) -> io::Result<Client> {
        let stream = TcpStream::connect(door.address).await?;
        stream.set_nodelay(true)?;
        let sender = match door.tls() {
            Some((tls, name)) => talk(tls.connect(name, stream).await?).await?,
            None => talk(stream).await?,
        };
        Ok(Client { door: door.clone(), sender, asked: 0 })
    }

    pub async fn get(&mut self, path: &str) -> io::Result<(StatusCode, Bytes)> {
        self.send(Method::GET, path, Bytes::new()).await
    }

    pub async fn post(&mut self, path: &str, body: Bytes) -> io::Result<(StatusCode, Bytes)> {
        self.send(Method::POST, path, body).await
    }

    pub async fn send(&mut self, method: Method, path: &str, body: Bytes) -> io::Result<(StatusCode, Bytes)> {
        let response = self.open(method, path, body).await?;
        let status = response.status();
        let body = response.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
        Ok((status, body))
    }

    /// The answer's head; its body is read by whoever asked, for as long as it comes.
    pub async fn open(&mut self, method: Method, path: &str, body: Bytes) -> io::Result<http::Response<Incoming>> {
        let token = &self.door.tokens[self.asked % self.door.tokens.len()];
        self.asked += 1;
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", self.door.address.to_string())
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json")
            .body(Full::new(body))
            .map_err(io::Error::other)?;
        self.sender.ready().await.map_err(io::Error::other)?;
        self.sender.send_request(request).await.map_err(io::Error::other)
    }
}

async fn talk(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> io::Result<SendRequest<Full<Bytes>>> {
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(connection);
    Ok(sender)
}

/// What many clients measured together.
pub struct Load {
    pub times: Times,
    pub elapsed: Duration,
}

impl Load {
    pub fn per_second(&self) -> f64 {
        self.times.count() as f64 / self.elapsed.as_secs_f64()
    }
}

/// `requests` GETs, shared out among `clients`; `path_of` tells the path of the nth. An answer that is not 200 ends it.
pub async fn read(
    door: &Door,
    clients: usize,
    requests: usize,
    path_of: impl Fn(usize) -> String + Clone + Send + 'static,
) -> io::Result<Load> {
    let mut connected = Vec::new();
    for _ in 0..clients {
        connected.push(Client::connect(door).await?);
    }
    let began = Instant::now();
    let tasks = connected.into_iter().enumerate().map(|(index, mut client)| {
        let path_of = path_of.clone();
        tokio::spawn(async move {
            let mut times = Vec::with_capacity(requests / clients + 1);
            for nth in (index..requests).step_by(clients) {
                let path = path_of(nth);
                let asked = Instant::now();
                let (status, body) = client.get(&path).await?;
                times.push(asked.elapsed());
                if status != StatusCode::OK {
                    return Err(io::Error::other(format!("{path} answers {status}: {}", String::from_utf8_lossy(&body))));
                }
            }
            Ok(times)
        })
    });
    let answers = try_join_all(tasks).await?;
    let elapsed = began.elapsed();
    let times: Vec<Vec<Duration>> = answers.into_iter().collect::<io::Result<_>>()?;
    Ok(Load { times: Times::new(times.concat()), elapsed })
}

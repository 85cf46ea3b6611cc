//! Whoever serves a runtime's images: files over plain HTTP, whole or from a byte on.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;

/// Serves files by name until the test ends. Says on which port.
pub fn serve(files: Vec<(&'static str, PathBuf)>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let files = files.clone();
            // Whoever hangs up has what it wanted, or comes again.
            std::thread::spawn(move || drop(answer(stream, &files)));
        }
    });
    port
}

fn answer(mut stream: TcpStream, files: &[(&'static str, PathBuf)]) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    let headers: Vec<String> = lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let Some((_, file)) = files.iter().find(|(name, _)| path.trim_start_matches('/') == *name) else {
        return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    };
    let mut file = File::open(file)?;
    let length = file.metadata()?.len();
    let from = headers.iter().find_map(|header| {
        let (name, value) = header.split_once(": ")?;
        let from = value.strip_prefix("bytes=")?.strip_suffix('-')?;
        name.eq_ignore_ascii_case("range").then(|| from.parse::<u64>().ok())?
    });
    let status = match from {
        Some(from) => format!("206 Partial Content\r\nContent-Range: bytes {from}-{}/{length}", length - 1),
        None => "200 OK".to_owned(),
    };
    let from = from.unwrap_or(0).min(length);
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nAccept-Ranges: bytes\r\nConnection: close\r\n\r\n", length - from);
    stream.write_all(head.as_bytes())?;
    if method != "HEAD" {
        file.seek(SeekFrom::Start(from))?;
        std::io::copy(&mut file.take(length - from), &mut stream)?;
    }
    Ok(())
}

//! The front door of the real binary, over real sockets, met by those who should not come in.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::door::Line;
use crate::server::{MACHINES, Server, until};

/// Everything that comes back, until the server hangs up.
fn answer(mut line: impl Read) -> String {
    let mut said = Vec::new();
    // Whoever hangs up without a farewell of TLS has still said what they said.
    let _ = line.read_to_end(&mut said);
    String::from_utf8_lossy(&said).into_owned()
}

fn ask(server: &Server, request: &str) -> String {
    let mut line: Line = server.door().connect().expect("a connection");
    line.write_all(request.as_bytes()).expect("it is heard");
    answer(line)
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}

#[test]
fn nobody_comes_in_who_should_not_and_every_denial_is_told_and_counted() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let server = Server::up(directory.path(), &["--log-level", "info"]);
    server.until_ready();
    let token = server.door().token().expect("a login").to_owned();
    let (rest, signature) = token.rsplit_once('.').expect("a token has three parts");
    let forged = format!("{rest}.{}", signature.chars().rev().collect::<String>());
    let unsigned = format!("eyJhbGciOiJub25lIn0.{}.", rest.split_once('.').expect("two parts").1);
    let get = |authorization: &str, path: &str| {
        ask(&server, &format!("GET {path}?api-version=1 HTTP/1.1\r\nHost: localhost\r\n{authorization}Connection: close\r\n\r\n"))
    };
    let machine = format!("{MACHINES}/rack1compute01");
    let good = format!("Authorization: Bearer {token}\r\n");
    let welcome = get(&good, &machine);
    assert_eq!(status(&welcome), "200");
    for header in ["strict-transport-security: max-age=", "x-content-type-options: nosniff", "cache-control: no-store", "x-ms-request-id: "]
    {
        assert!(welcome.contains(header), "{header} is not in {welcome}");
    }
    assert!(!welcome.to_ascii_lowercase().contains("\r\nserver:"), "{welcome}");
    for (what, authorization) in [
        ("nothing", String::new()),
        ("a forged token", format!("Authorization: Bearer {forged}\r\n")),
        ("an unsigned token", format!("Authorization: Bearer {unsigned}\r\n")),
        ("a token cut short", format!("Authorization: Bearer {}\r\n", &token[..token.len() - 1])),
        ("a password", "Authorization: Basic cm9vdDpyb290\r\n".to_owned()),
        ("two tokens", format!("{good}{good}")),
    ] {
        let refused = get(&authorization, &machine);
        assert_eq!(status(&refused), "401", "{what}");
        assert!(refused.contains("www-authenticate: Bearer authorization_uri=\"https://localhost/adfs\""), "{what}: {refused}");
        assert!(refused.contains("x-ms-request-id: ") && refused.contains("x-ms-correlation-request-id: "), "{what}: {refused}");
    }
    for path in [format!("{MACHINES}//rack1compute01"), machine.to_ascii_uppercase()] {
        assert_eq!(status(&get(&good, &path)), "200", "{path}");
        assert_eq!(status(&get("", &path)), "401", "{path}");
    }
    for path in [format!("{MACHINES}/%2e%2e"), format!("{MACHINES}/..%2Frack1compute01"), format!("{MACHINES}/rack1compute01%00")] {
        assert!(matches!(status(&get(&good, &path)), "400" | "404"), "{path}");
    }
    until("the denials to be counted", || {
        let shown = server.get("/metrics").1;
        let counted = |reason: &str, count: u32| shown.contains(&format!("rackwright_denials_total{{reason=\"{reason}\"}} {count}"));
        (counted("InvalidAuthenticationToken", 3) && counted("AuthenticationFailed", 5)).then_some(())
    });
    server.until_said("a request was denied");
    assert!(!server.err().contains(signature), "no token is in the log");
}

#[test]
fn without_tls_nothing_is_told_but_that_it_takes_tls() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let server = Server::up(directory.path(), &[]);
    let token = server.door().token().expect("a login").to_owned();
    let mut line = TcpStream::connect(&server.address).expect("a connection");
    let request =
        format!("GET {MACHINES}?api-version=1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n");
    line.write_all(request.as_bytes()).expect("it is heard");
    let refused = answer(line);
    assert!(status(&refused) == "400" && refused.contains("HttpsRequired") && refused.contains("x-ms-request-id: "), "{refused}");
    assert!(!refused.contains("rack1compute01") && !refused.contains("strict-transport-security"), "{refused}");
}

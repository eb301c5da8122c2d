//! Header names arrive with their original case on every connection.

use super::test_client::{post, private};
use crate::support::{Authority, block_on};
use garson::net::{Certificates, Client, HeaderCase, Outgoing};
use garson_core::platform::Trust;
use http::{HeaderMap, HeaderValue, Method};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;

/// Reads a request and answers it; the connection stays open.
async fn answer(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), length: usize) -> String {
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|four| four == b"\r\n\r\n") || bytes.len() < length {
        assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "broken off");
    }
    stream
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        .await
        .unwrap();
    stream.flush().await.unwrap();
    String::from_utf8(bytes).unwrap()
}

fn request(url: &str, method: Method, body: &'static str) -> Outgoing {
    let mut headers = HeaderMap::new();
    headers.insert("xapikey", HeaderValue::from_static("XApiKey: secret"));
    Outgoing {
        method,
        headers,
        header_case: HeaderCase::new(["XApiKey"]),
        body: body.into(),
        trust: Trust::Operator,
        ..post(url)
    }
}

fn expected(start: &str, host: &str, rest: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "{start} HTTP/1.1\r\nHost: {host}\r\nXApiKey: XApiKey: secret\r\nUser-Agent: garson/{version}\r\n\
         Accept: */*\r\n{rest}"
    )
}

/// Several requests over one connection, the bodies of which look like heads.
async fn exchange(client: &Client, base: &str, stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    const BODY: &str = "POST /x HTTP/1.1\r\nxapikey: 1\r\ncontent-length: 3\r\n\r\nabc";
    let host = base.split("//").nth(1).unwrap();
    let url = format!("{base}/a:b?c=d");
    let length = format!("Content-Length: {}\r\n\r\n{BODY}", BODY.len());
    for (method, body, rest) in [
        (Method::POST, BODY, length.as_str()),
        (Method::POST, "", "Content-Length: 0\r\n\r\n"),
        (Method::PUT, "", "Content-Length: 0\r\n\r\n"),
        (Method::GET, "", "\r\n"),
        (Method::POST, BODY, length.as_str()),
    ] {
        let expected = expected(&format!("{method} /a:b?c=d"), host, rest);
        let sending = client.send(request(&url, method, body));
        let (sent, seen) = tokio::join!(sending, answer(stream, expected.len()));
        assert_eq!(sent.unwrap().status, 200);
        assert_eq!(seen, expected);
    }
}

#[test]
fn header_case_and_length_are_kept_on_a_pooled_connection() {
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let client = private();
        let accepting = async {
            let (stream, _) = listener.accept().await.unwrap();
            stream
        };
        let first = client.send(request(&base, Method::GET, ""));
        let (sent, mut stream) = tokio::join!(first, async {
            let mut stream = accepting.await;
            answer(&mut stream, 0).await;
            stream
        });
        assert_eq!(sent.unwrap().status, 200);
        exchange(&client, &base, &mut stream).await;
    });
}

#[test]
fn header_case_is_kept_through_tls() {
    block_on(async {
        let authority = Authority::new("ours");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), authority.pem()).unwrap();
        let certificates = Certificates::read(file.path()).unwrap();
        let client = private().trusting(&certificates).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("https://{}", listener.local_addr().unwrap());
        let server = authority.server("127.0.0.1", (2020, 2090));
        let first = client.send(request(&base, Method::GET, ""));
        let (sent, mut stream) = tokio::join!(first, async {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = server.accept(stream).await.unwrap();
            answer(&mut stream, 0).await;
            stream
        });
        assert_eq!(sent.unwrap().status, 200);
        exchange(&client, &base, &mut stream).await;
    });
}

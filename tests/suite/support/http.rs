//! A client that sends exactly the given bytes, valid or not.

use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A response.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn parse(bytes: &[u8]) -> Self {
        let split = bytes
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .unwrap_or_else(|| panic!("no head in {:?}", String::from_utf8_lossy(bytes)));
        let head = String::from_utf8_lossy(&bytes[..split]).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<(String, String)> = lines
            .map(|line| {
                let (name, value) = line.split_once(':').unwrap();
                (name.to_ascii_lowercase(), value.trim().to_owned())
            })
            .collect();
        let rest = &bytes[split + 4..];
        let chunked = headers
            .iter()
            .any(|(n, v)| n == "transfer-encoding" && v == "chunked");
        let body = if chunked { unchunk(rest) } else { rest.to_vec() };
        Self {
            status,
            headers,
            body,
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in the answer {}: {}", self.status, self.text()))
    }

    /// The whole body of a success.
    #[track_caller]
    pub fn success(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        let body = self.json();
        assert_eq!(body["success"], true, "{body}");
        assert!(self.header("x-request-id").is_some());
        assert_eq!(self.header("content-type"), Some("application/json"));
        body
    }

    /// The `data` of a success.
    #[track_caller]
    pub fn data(&self) -> Value {
        let mut body = self.success();
        assert!(body.get("data").is_some(), "{body}");
        body["data"].take()
    }

    /// A success without data.
    #[track_caller]
    pub fn done(&self) {
        assert_eq!(self.success(), serde_json::json!({ "success": true }));
    }

    /// The `error` of a refusal, which must have this status and code and the shape of all refusals.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        let mut body = self.json();
        assert_eq!(body["error"]["code"], code, "{body}");
        assert_eq!(body["success"], false);
        assert_eq!(body["requestId"].as_str(), self.header("x-request-id"));
        assert_eq!(body.as_object().unwrap().len(), 3, "{body}");
        assert_eq!(self.header("content-type"), Some("application/json"));
        let error = body["error"].take();
        assert_eq!(error.as_object().unwrap().len(), 3, "{error}");
        assert!(!error["message"].as_str().unwrap().is_empty());
        for detail in error["details"].as_array().unwrap() {
            assert!(
                detail["field"].is_string() && detail["message"].is_string(),
                "{detail}"
            );
        }
        error
    }

    /// A refusal that names the field or parameter.
    #[track_caller]
    pub fn wrong(&self, status: u16, code: &str, field: &str) {
        let error = self.refused(status, code);
        assert_eq!(error["details"][0]["field"], field, "{error}");
    }
}

fn unchunk(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|two| two == b"\r\n").unwrap();
        let size = std::str::from_utf8(&rest[..line]).unwrap();
        let size = usize::from_str_radix(size.split(';').next().unwrap(), 16).unwrap();
        rest = &rest[line + 2..];
        if size == 0 {
            return body;
        }
        body.extend_from_slice(&rest[..size]);
        rest = &rest[size + 2..];
    }
}

/// Sends bytes and reads until the other side closes; reading and writing go on side by side, for a server that
/// answers before it has read everything.
pub async fn raw(addr: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let stream = TcpStream::connect(addr).await.unwrap();
    let (mut from, mut to) = stream.into_split();
    let mut answer = Vec::new();
    let write = async {
        // The server may refuse and close while we are still sending.
        let _ = to.write_all(bytes).await;
        to
    };
    let read = async {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count) = from.read(&mut buffer).await {
            if count == 0 {
                break;
            }
            answer.extend_from_slice(&buffer[..count]);
        }
    };
    let both = async { tokio::join!(write, read) };
    tokio::time::timeout(Duration::from_secs(60), both)
        .await
        .expect("no end of the answer");
    answer
}

/// Sends a request that is given whole.
pub async fn send(addr: SocketAddr, bytes: &[u8]) -> Reply {
    Reply::parse(&raw(addr, bytes).await)
}

/// A request's head and body as bytes.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: garson.test\r\nconnection: close\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        text.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    text.push_str("\r\n");
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// A client with an account's key.
#[derive(Clone, Debug)]
pub struct ApiClient {
    pub addr: SocketAddr,
    pub key: String,
}

impl ApiClient {
    /// A request below `/web-api/v1`, with the key and more headers.
    pub async fn call(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let bearer = format!("Bearer {}", self.key);
        let mut all = vec![("authorization", bearer.as_str())];
        all.extend_from_slice(headers);
        let path = format!("/web-api/v1{path}");
        send(self.addr, &request(method, &path, &all, body)).await
    }

    pub async fn json(&self, method: &str, path: &str, body: &str) -> Reply {
        let kind = [("content-type", "application/json")];
        self.call(method, path, &kind, body.as_bytes()).await
    }

    /// Sends the head of a POST and waits until the server asks for its body, so that it is certainly in progress.
    pub async fn begin(&self, path: &str, body: &Value) -> Begun {
        const GO_ON: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
        let (bearer, body) = (format!("Bearer {}", self.key), body.to_string().into_bytes());
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("expect", "100-continue"),
        ];
        let whole = request("POST", &format!("/web-api/v1{path}"), &headers, &body);
        let mut stream = TcpStream::connect(self.addr).await.unwrap();
        stream
            .write_all(&whole[..whole.len() - body.len()])
            .await
            .unwrap();
        let mut said = [0; GO_ON.len()];
        stream.read_exact(&mut said).await.unwrap();
        assert_eq!(said, GO_ON, "{}", String::from_utf8_lossy(&said));
        Begun { stream, body }
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.call("GET", path, &[], &[]).await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        self.call("DELETE", path, &[], &[]).await
    }

    /// A POST without a body.
    pub async fn act(&self, path: &str) -> Reply {
        self.call("POST", path, &[], &[]).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.json("POST", path, &body.to_string()).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Reply {
        self.json("PUT", path, &body.to_string()).await
    }

    /// A POST with an `Idempotency-Key`.
    pub async fn keyed(&self, key: &str, path: &str, body: &str) -> Reply {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        self.call("POST", path, &headers, body.as_bytes()).await
    }
}

/// A request whose body has not been sent yet.
pub struct Begun {
    stream: TcpStream,
    body: Vec<u8>,
}

impl Begun {
    /// Sends the body and reads the answer.
    pub async fn finish(mut self) -> Reply {
        self.stream.write_all(&self.body).await.unwrap();
        let mut answer = Vec::new();
        self.stream.read_to_end(&mut answer).await.unwrap();
        Reply::parse(&answer)
    }
}

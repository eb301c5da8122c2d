//! TLS of the server: certificates that are replaced while connections are open, wrong files, and clients that do not shake hands.

use crate::support::{
    Authority, Backend, Program, Reply, Scrape, TestStorage, block_on, request, wait_until,
};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

/// A server with certificate files in its folder.
struct Secured {
    storage: TestStorage,
    authority: Authority,
    program: Program,
    addr: SocketAddr,
}

impl Secured {
    async fn start(more: &[(&str, &str)]) -> Self {
        let storage = TestStorage::new(Backend::Sqlite);
        let authority = Authority::new("first");
        let files = [
            storage.folder().join("cert.pem"),
            storage.folder().join("key.pem"),
        ];
        write(&files, &authority.files("127.0.0.1"));
        let [certificate, key] = files.map(|file| file.display().to_string());
        let mut settings = vec![
            ("GARSON_TLS__CERTIFICATE", certificate.as_str()),
            ("GARSON_TLS__KEY", key.as_str()),
        ];
        settings.extend_from_slice(more);
        let mut program = Program::serve(&storage, &settings);
        let addr = program.address().await;
        Self {
            storage,
            authority,
            program,
            addr,
        }
    }

    fn files(&self) -> [PathBuf; 2] {
        ["cert.pem", "key.pem"].map(|name| self.storage.folder().join(name))
    }

    /// Connects, trusting an authority.
    async fn connect(&self, trusted: &Authority, alpn: &[&[u8]]) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(trusted.der()).unwrap();
        let mut config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        let stream = TcpStream::connect(self.addr).await?;
        let name = ServerName::try_from("127.0.0.1").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }

    /// Does a new connection get a certificate of this authority?
    async fn serves(&self, authority: &Authority) -> bool {
        match self.connect(authority, &[]).await {
            Ok(stream) => get(stream, "/healthz").await.status == 200,
            Err(_) => false,
        }
    }
}

fn write(files: &[PathBuf; 2], (certificate, key): &(String, String)) {
    std::fs::write(&files[0], certificate).unwrap();
    std::fs::write(&files[1], key).unwrap();
}

async fn get(mut stream: TlsStream<TcpStream>, path: &str) -> Reply {
    stream.write_all(&request("GET", path, &[], &[])).await.unwrap();
    let mut answer = Vec::new();
    // The server need not say goodbye properly.
    let _ = stream.read_to_end(&mut answer).await;
    Reply::parse(&answer)
}

/// A request on a connection that stays open.
async fn ask(stream: &mut TlsStream<TcpStream>) {
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n")
        .await
        .unwrap();
    let mut answer = vec![0; 4096];
    let count = stream.read(&mut answer).await.unwrap();
    let text = String::from_utf8_lossy(&answer[..count]);
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
}

#[test]
fn requests_are_served_over_tls() {
    block_on(async {
        let server = Secured::start(&[]).await;
        assert!(server.program.printed().contains("listens on https://"));
        let stream = server
            .connect(&server.authority, &[b"h2", b"http/1.1"])
            .await
            .unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let stream = server.connect(&server.authority, &[b"http/1.1"]).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
        let page = get(stream, "/sign-in").await;
        assert_eq!(page.status, 200);
        // The browser is told to keep to it.
        assert!(page.header("strict-transport-security").is_some());
        let cookie = page.header("set-cookie").unwrap();
        assert!(cookie.contains("Secure"), "{cookie}");
        // Without TLS there is no answer, and others are not disturbed.
        let mut plain = TcpStream::connect(server.addr).await.unwrap();
        plain
            .write_all(&request("GET", "/healthz", &[], &[]))
            .await
            .unwrap();
        let mut answer = Vec::new();
        let _ = plain.read_to_end(&mut answer).await;
        assert!(
            !answer.starts_with(b"HTTP/"),
            "{}",
            String::from_utf8_lossy(&answer)
        );
        assert!(!server.serves(&Authority::new("stranger")).await);
        assert!(server.serves(&server.authority).await);
    });
}

#[test]
fn certificate_is_replaced_while_connections_are_open() {
    block_on(async {
        let server = Secured::start(&[]).await;
        let mut open = server.connect(&server.authority, &[]).await.unwrap();
        ask(&mut open).await;
        let second = Authority::new("second");
        write(&server.files(), &second.files("127.0.0.1"));
        wait_until("the new certificate is used", async || {
            server.serves(&second).await
        })
        .await;
        assert!(!server.serves(&server.authority).await);
        ask(&mut open).await;
        // Broken files change nothing, and are logged.
        std::fs::write(&server.files()[0], "nonsense").unwrap();
        wait_until("the broken file is logged", async || {
            server.program.printed().contains("holds no certificate")
        })
        .await;
        assert!(server.serves(&second).await);
        // A key that does not belong to the certificate, on request.
        let third = Authority::new("third");
        let (certificate, key) = third.files("127.0.0.1");
        let (_, wrong) = third.files("127.0.0.1");
        write(&server.files(), &(certificate.clone(), wrong));
        server.program.signal("HUP");
        wait_until("the wrong key is logged", async || {
            server
                .program
                .printed()
                .contains("does not belong to the certificate")
        })
        .await;
        assert!(server.serves(&second).await);
        write(&server.files(), &(certificate, key));
        server.program.signal("HUP");
        wait_until("the third certificate is used", async || {
            server.serves(&third).await
        })
        .await;
        ask(&mut open).await;
        server.program.terminate();
    });
}

#[test]
fn wrong_files_prevent_the_start() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let files = [
            storage.folder().join("cert.pem"),
            storage.folder().join("key.pem"),
        ];
        let authority = Authority::new("first");
        let [certificate, key] = files.each_ref().map(|file| file.display().to_string());
        let both = [
            ("GARSON_TLS__CERTIFICATE", certificate.as_str()),
            ("GARSON_TLS__KEY", key.as_str()),
        ];
        let (good, good_key) = authority.files("127.0.0.1");
        let (_, other_key) = authority.files("127.0.0.1");
        for (texts, wanted) in [
            (None, "cert.pem cannot be read"),
            (Some((String::new(), good_key.clone())), "holds no certificate"),
            (Some((good.clone(), good.clone())), "holds no private key"),
            (
                Some((good.clone(), other_key)),
                "does not belong to the certificate",
            ),
        ] {
            if let Some(texts) = texts {
                write(&files, &texts);
            }
            let mut program = Program::serve(&storage, &both);
            assert!(!program.ended().await);
            assert!(
                program.printed().contains(wanted),
                "{wanted}: {}",
                program.printed()
            );
            assert!(!program.printed().contains("PRIVATE KEY"));
        }
        write(&files, &(good, good_key));
        let mut program = Program::serve(&storage, &both[..1]);
        assert!(!program.ended().await);
        assert!(
            program.printed().contains("tls.key must be"),
            "{}",
            program.printed()
        );
    });
}

#[test]
fn hanging_handshakes_are_ended_and_hold_up_nobody() {
    block_on(async {
        let settings = [
            ("GARSON_SERVER__MAX_CONNECTIONS", "20"),
            ("GARSON_SERVER__OPERATIONS_LISTEN", "127.0.0.1:0"),
        ];
        let server = Secured::start(&settings).await;
        // A record that announces a handshake and never ends.
        let begin = [22, 3, 1, 2, 0, 1, 0, 1];
        let mut hanging = Vec::new();
        let began = Instant::now();
        for n in 0..60 {
            let mut stream = TcpStream::connect(server.addr).await.unwrap();
            if n % 2 == 0 {
                // It may have been closed for another one.
                let _ = stream.write_all(&begin).await;
            }
            hanging.push(stream);
        }
        // While more hang than connections may be open, others are served.
        for _ in 0..5 {
            let asked = tokio::time::timeout(Duration::from_secs(9), server.serves(&server.authority)).await;
            assert_eq!(asked, Ok(true));
        }
        for mut stream in hanging {
            let mut byte = [0; 64];
            let ended = tokio::time::timeout(Duration::from_secs(30), stream.read(&mut byte)).await;
            assert!(ended.is_ok(), "it is still open after {:?}", began.elapsed());
        }
        let printed = server.program.printed();
        let (_, second) = printed.split_once("API reference are at http://").unwrap();
        let second: SocketAddr = second.lines().next().unwrap().trim().parse().unwrap();
        let scrape = Scrape::of(second).await;
        let refused = ["no_request", "connection_evicted"]
            .map(|kind| scrape.count(&format!("garson_refusals_total{{kind=\"{kind}\"}}")));
        assert!(refused.iter().sum::<f64>() >= 60.0, "{refused:?}");
    });
}

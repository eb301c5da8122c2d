//! TLS certificates: invalid ones are explained, those of a trusted authority are accepted.

use super::test_client::{error, post, private, slow_names, status};
use crate::support::{Authority, Backend, Receiver, TestService, block_on, self_signed};
use garson::net::{Certificates, Client, SendError, Stage};
use serde_json::json;
use std::time::Duration;
use tokio_rustls::TlsAcceptor;

const VALID: (i32, i32) = (2020, 2090);
const NAME: &str = "till.example.com";

/// A client that trusts this authority too.
fn trusting(client: Client, authority: &Authority) -> Client {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), authority.pem()).unwrap();
    client
        .trusting(&Certificates::read(file.path()).unwrap())
        .unwrap()
}

/// A client for which every name is this machine.
fn here() -> Client {
    slow_names(Some("127.0.0.1"), Duration::ZERO)
}

/// Nothing is sent to this server, and these words say why.
async fn refused(client: &Client, server: TlsAcceptor, words: &str) {
    let receiver = Receiver::start_secure(server).await;
    let url = format!("https://{NAME}:{}/", receiver.addr.port());
    let sent = client.send_timed(post(&url)).await;
    match error(&sent) {
        SendError::Unreachable {
            stage: Stage::Tls,
            why,
        } => assert_eq!(why.to_string(), words),
        other => panic!("{other:?}"),
    }
    assert!(sent.timing.connect.is_some() && sent.timing.tls.is_none());
    assert!(receiver.seen().is_empty());
}

#[test]
fn invalid_certificates_are_explained() {
    use rcgen::{BasicConstraints, IsCa};
    block_on(async {
        let authority = Authority::new("ours");
        let client = trusting(here(), &authority);
        for (server, words) in [
            (
                authority.server(NAME, (2020, 2024)),
                "the certificate expired on 2024-01-02",
            ),
            (
                authority.server(NAME, (2080, 2090)),
                "the certificate is not valid before 2080-01-02",
            ),
            (
                authority.server("other.example.com", VALID),
                "the certificate is for another name than till.example.com",
            ),
            (
                authority.server("127.0.0.1", VALID),
                "the certificate is for another name than till.example.com",
            ),
            (
                Authority::new("theirs").server(NAME, VALID),
                "the certificate's issuer is not trusted",
            ),
            (
                Authority::new("ours").server(NAME, VALID),
                "the certificate is not signed by the issuer that it names",
            ),
            (
                self_signed(NAME, IsCa::NoCa),
                "the certificate's issuer is not trusted",
            ),
            (
                self_signed(NAME, IsCa::Ca(BasicConstraints::Unconstrained)),
                "the certificate is one of an authority, not of a server",
            ),
        ] {
            refused(&client, server, words).await;
        }
        refused(
            &here(),
            authority.server(NAME, VALID),
            "the certificate's issuer is not trusted",
        )
        .await;
    });
}

#[test]
fn trusted_certificate_is_accepted_and_the_connection_reused() {
    block_on(async {
        let authority = Authority::new("ours");
        for (client, name) in [(here(), NAME), (private(), "127.0.0.1")] {
            let client = trusting(client, &authority);
            let receiver = Receiver::start_secure(authority.server(name, VALID)).await;
            let receiver = receiver.keeps_connections();
            let url = format!("https://{name}:{}/", receiver.addr.port());
            for n in 0..3 {
                let sent = client.send_timed(post(&url)).await;
                assert_eq!(status(&sent), 200);
                assert_eq!(sent.timing.tls.is_some(), n == 0);
            }
            assert_eq!((receiver.connections(), receiver.seen().len()), (1, 3));
        }
    });
}

#[test]
fn configured_authorities_are_trusted() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            let authority = Authority::new("ours");
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), authority.pem()).unwrap();
            let receiver = Receiver::start_secure(authority.server("127.0.0.1", VALID)).await;
            let mut service = TestService::open_private(backend).await;
            let shop = service.shop(&service.a, "s").await;
            shop.order("1").await;
            let url = format!("https://{}/", receiver.addr);
            let body = json!({ "webhookOrderId": "1", "url": url, "headers": {} });
            let refused = service.a.post("/orders/retry-webhook", &body).await;
            let refused = refused.refused(502, "target_unreachable");
            assert!(
                refused
                    .to_string()
                    .contains("the certificate's issuer is not trusted"),
                "{refused}"
            );
            let path = file.path().to_owned();
            service
                .restart_with(|settings| settings.trusted_certificates = path)
                .await;
            let sent = service.a.post("/orders/retry-webhook", &body).await.data();
            assert_eq!(sent["statusCode"], json!(200));
            assert_eq!(receiver.seen().len(), 1);
        });
    }
}

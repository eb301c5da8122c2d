//! Unusual responses: a received status counts, and nothing exceeds its deadline.

use super::test_client::{error, post, private, status};
use crate::support::{CannedResponse, Receiver, block_on};
use garson::net::{Outgoing, SendError, Sent};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const DEADLINE: Duration = Duration::from_secs(2);

async fn send_to(url: &str) -> Sent {
    let deadline = DEADLINE;
    let sent = private()
        .send_timed(Outgoing {
            deadline,
            ..post(url)
        })
        .await;
    assert!(sent.timing.total < Duration::from_secs(8), "{sent:?}");
    sent
}

async fn answered_with(answer: CannedResponse) -> Sent {
    let receiver = Receiver::start().await;
    receiver.set_default_response(answer);
    send_to(&receiver.url("/")).await
}

fn body(sent: &Sent) -> &[u8] {
    &sent.outcome.as_ref().unwrap().body
}

#[test]
fn endless_bodies_are_read_up_to_a_limit() {
    block_on(async {
        let sent = answered_with(CannedResponse::Endless).await;
        assert_eq!((status(&sent), body(&sent).len()), (200, 1024));
        assert!(sent.timing.total < DEADLINE, "{sent:?}");
        let sent = answered_with(CannedResponse::Trickle).await;
        assert!(status(&sent) == 200 && (1..=8).contains(&body(&sent).len()));
        assert!(sent.timing.total >= DEADLINE && sent.timing.first_byte.unwrap() < DEADLINE);
    });
}

#[test]
fn informational_responses_are_limited() {
    block_on(async {
        let informational = b"HTTP/1.1 100 Continue\r\n\r\n";
        let mut some = informational.repeat(20);
        some.extend_from_slice(b"HTTP/1.1 200 Said\r\ncontent-length: 4\r\n\r\nsaid");
        let sent = answered_with(CannedResponse::Bytes(some)).await;
        assert_eq!((status(&sent), body(&sent)), (200, &b"said"[..]));
        // Without a limit this one would be waited for until the deadline.
        let sent = answered_with(CannedResponse::Stalled(informational.repeat(40_000))).await;
        let why = sent.outcome.unwrap_err().to_string();
        assert!(why.contains("too much was sent before an answer began"), "{why}");
    });
}

#[test]
fn compressed_body_is_not_decompressed() {
    block_on(async {
        let mut bytes =
            b"HTTP/1.1 201 Said\r\ncontent-encoding: gzip\r\ncontent-length: 10485760\r\n\r\n".to_vec();
        bytes.extend_from_slice(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
        bytes.resize(bytes.len() + 100_000, 0);
        let sent = answered_with(CannedResponse::Stalled(bytes)).await;
        assert_eq!((status(&sent), body(&sent).len()), (201, 1024));
        assert_eq!(body(&sent)[..2], [0x1f, 0x8b]);
        assert!(sent.timing.total < DEADLINE, "{sent:?}");
    });
}

#[test]
fn truncated_body_keeps_the_status() {
    block_on(async {
        let short = b"HTTP/1.1 200 Said\r\ncontent-length: 10\r\n\r\nhalf".to_vec();
        let sent = answered_with(CannedResponse::Bytes(short.clone())).await;
        assert_eq!((status(&sent), body(&sent)), (200, &b"half"[..]));
        let sent = answered_with(CannedResponse::Stalled(short)).await;
        assert_eq!((status(&sent), body(&sent)), (200, &b"half"[..]));
    });
}

#[test]
fn reset_after_the_status_keeps_the_status() {
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut buffer = [0; 4096];
            let _some = stream.read(&mut buffer).await.unwrap();
            let said = b"HTTP/1.1 200 Said\r\ncontent-length: 10\r\n\r\n";
            stream.write_all(said).await.unwrap();
            stream.set_zero_linger().unwrap();
        });
        assert_eq!(status(&send_to(&url).await), 200);
    });
}

#[test]
fn unusual_headers_are_accepted() {
    block_on(async {
        let mut bytes = b"HTTP/1.1 204 \xc5\x9f\r\nx-odd: \xff\xfe\xc5\x9f\x80\r\n".to_vec();
        for n in 0..60 {
            bytes.extend_from_slice(format!("x-{n}: {}\r\n", "v".repeat(500)).as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        assert_eq!(status(&answered_with(CannedResponse::Bytes(bytes)).await), 204);
    });
}

#[test]
fn endless_headers_fail() {
    block_on(async {
        let mut bytes = b"HTTP/1.1 200 Said\r\n".to_vec();
        for n in 0..5000 {
            bytes.extend_from_slice(format!("x-{n}: {}\r\n", "v".repeat(50)).as_bytes());
        }
        let sent = answered_with(CannedResponse::Stalled(bytes)).await;
        assert!(matches!(error(&sent), SendError::Broken(_)), "{sent:?}");
        assert_eq!(
            error(&sent).to_string(),
            "the answer has too many headers, or too long ones"
        );
    });
}

#[test]
fn non_http_response_is_named() {
    block_on(async {
        for text in [
            "SSH-2.0-OpenSSH_9.6\r\n",
            "220 mail ready\r\n",
            "\u{16}\u{3}\u{1}",
        ] {
            let sent = answered_with(CannedResponse::Bytes(text.as_bytes().to_vec())).await;
            assert!(matches!(error(&sent), SendError::Broken(_)), "{sent:?}");
            assert_eq!(error(&sent).to_string(), "the answer is not HTTP", "{text:?}");
        }
        let sent = answered_with(CannedResponse::HangUp).await;
        assert_eq!(
            error(&sent).to_string(),
            "the connection was closed before an answer came"
        );
        let sent = answered_with(CannedResponse::Silence).await;
        assert!(matches!(error(&sent), SendError::TimedOut(limit) if *limit == DEADLINE));
        assert_eq!(error(&sent).to_string(), "no answer within 2 s");
    });
}

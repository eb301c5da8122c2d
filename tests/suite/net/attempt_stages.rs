//! The stage at which an attempt failed, and the duration of each completed stage.

use super::test_client::{error, post, private, slow_names};
use crate::support::{CannedResponse, Receiver, block_on};
use garson::net::{Client, Outgoing, SendError, Sent, Stage, Timing};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

const SECOND: Duration = Duration::from_secs(1);

async fn within_a_second(client: &Client, url: &str) -> Sent {
    let sent = client
        .send_timed(Outgoing {
            deadline: SECOND,
            ..post(url)
        })
        .await;
    assert!(sent.timing.total < 8 * SECOND && !sent.repeated, "{sent:?}");
    sent
}

/// It was not sent because of this stage, and these words say so.
fn unreachable(sent: &Sent, at: Stage, words: &str) {
    match error(sent) {
        SendError::Unreachable { stage, why } => {
            assert_eq!((*stage, why.to_string()), (at, words.to_owned()))
        }
        other => panic!("{other:?}"),
    }
}

/// Which stages came to a good end: name, connect, TLS, first byte.
fn done(timing: &Timing) -> [bool; 4] {
    [timing.name, timing.connect, timing.tls, timing.first_byte].map(|stage| stage.is_some())
}

#[test]
fn every_stage_is_timed() {
    block_on(async {
        let receiver = Receiver::start().await;
        let port = receiver.addr.port();
        let client = slow_names(Some("127.0.0.1"), SECOND / 10);
        let sent = client
            .send_timed(post(&format!("http://shop.example.com:{port}/")))
            .await;
        assert_eq!(done(&sent.timing), [true, true, false, true]);
        assert!(sent.timing.name.unwrap() >= SECOND / 10);
        let stages = [sent.timing.name, sent.timing.connect, sent.timing.first_byte];
        assert!(stages.into_iter().flatten().sum::<Duration>() <= sent.timing.total);
        assert_eq!(sent.outcome.unwrap().took, sent.timing.total);
        let sent = client.send_timed(post(&receiver.url("/"))).await;
        assert_eq!(done(&sent.timing), [false, true, false, true]);
    });
}

#[test]
fn unknown_name_fails_in_resolve() {
    block_on(async {
        let client = slow_names(None, Duration::ZERO);
        let sent = within_a_second(&client, "http://shop.example.com/").await;
        unreachable(&sent, Stage::Name, "the name shop.example.com cannot be resolved");
        assert_eq!(done(&sent.timing), [false; 4]);
    });
}

#[test]
fn slow_name_times_out_in_resolve() {
    block_on(async {
        let client = slow_names(Some("127.0.0.1"), 60 * SECOND);
        let sent = within_a_second(&client, "http://shop.example.com/").await;
        let words = "the name shop.example.com was not resolved within 1 s";
        unreachable(&sent, Stage::Name, words);
        assert!(done(&sent.timing) == [false; 4] && sent.timing.total >= SECOND);
    });
}

#[test]
fn closed_port_fails_in_connect() {
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let client = slow_names(Some("127.0.0.1"), Duration::ZERO);
        let sent = within_a_second(&client, &format!("http://shop.example.com:{port}/")).await;
        unreachable(&sent, Stage::Connect, "cannot connect: connection refused");
        assert_eq!(done(&sent.timing), [true, false, false, false]);
    });
}

#[test]
fn slow_connection_times_out_in_connect() {
    block_on(async {
        // A connection beyond the accept queue waits without a response.
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(0).unwrap();
        let address = listener.local_addr().unwrap();
        let mut waiting = Vec::new();
        while let Ok(stream) = tokio::time::timeout(SECOND / 4, TcpStream::connect(address)).await {
            waiting.push(stream.unwrap());
        }
        let sent = within_a_second(&private(), &format!("http://{address}/")).await;
        unreachable(&sent, Stage::Connect, "no connection within 1 s");
        assert_eq!(done(&sent.timing), [false; 4]);
    });
}

#[test]
fn slow_or_missing_tls_fails_in_handshake() {
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/", listener.local_addr().unwrap());
        let sent = within_a_second(&private(), &url).await;
        unreachable(&sent, Stage::Tls, "no TLS connection within 1 s");
        assert_eq!(done(&sent.timing), [false, true, false, false]);
        drop(listener);

        let plain = |bytes: &'static [u8]| async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("https://{}/", listener.local_addr().unwrap());
            tokio::spawn(async move {
                use tokio::io::{AsyncReadExt, AsyncWriteExt};
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut hello = [0; 16 * 1024];
                let _some = stream.read(&mut hello).await.unwrap();
                stream.write_all(bytes).await.unwrap();
            });
            within_a_second(&private(), &url).await
        };
        let sent = plain(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n").await;
        unreachable(&sent, Stage::Tls, "the other side does not speak TLS");
        let sent = plain(b"SSH-2.0-OpenSSH_9.6\r\n").await;
        unreachable(&sent, Stage::Tls, "the other side does not speak TLS");
        let sent = plain(b"").await;
        unreachable(
            &sent,
            Stage::Tls,
            "the connection was closed during the TLS handshake",
        );
        // A fatal alert: no version in common.
        let sent = plain(&[21, 3, 3, 0, 2, 2, 70]).await;
        let words = "the other side speaks no TLS that is still safe: 1.2 or 1.3 is needed";
        unreachable(&sent, Stage::Tls, words);
        assert_eq!(done(&sent.timing), [false, true, false, false]);
    });
}

#[test]
fn slow_response_times_out_in_response() {
    block_on(async {
        let receiver = Receiver::start().await;
        receiver.set_default_response(CannedResponse::Silence);
        let sent = within_a_second(&private(), &receiver.url("/")).await;
        assert!(matches!(error(&sent), SendError::TimedOut(limit) if *limit == SECOND));
        assert_eq!(done(&sent.timing), [false, true, false, false]);
        assert!(sent.timing.total >= SECOND);
    });
}

//! A TCP relay to a PostgreSQL server that can stop responding or refuse connections.

use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Everything passes.
    Forward,
    /// Connections are taken and stay open, and nothing passes.
    Silent,
    /// Connections are closed, and new ones as soon as they are made.
    Refuse,
}

pub struct Relay {
    pub addr: SocketAddr,
    mode: watch::Sender<Mode>,
}

impl Relay {
    /// A relay to the server that a URL names.
    pub async fn to(url: &str, mode: Mode) -> Self {
        let server = server_of(url);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (mode, modes) = watch::channel(mode);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(relay(stream, server, modes.clone()));
            }
        });
        Self { addr, mode }
    }

    pub fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }
}

fn server_of(url: &str) -> SocketAddr {
    let (_, rest) = url.split_once('@').unwrap();
    let (host, _) = rest.split_once('/').unwrap();
    host.parse().unwrap()
}

/// The same database by way of other hosts.
pub fn url_through(url: &str, relays: &[&Relay]) -> String {
    let (head, rest) = url.split_once('@').unwrap();
    let (_, database) = rest.split_once('/').unwrap();
    let hosts: Vec<String> = relays.iter().map(|relay| relay.addr.to_string()).collect();
    format!("{head}@{}/{database}", hosts.join(","))
}

async fn relay(client: TcpStream, server: SocketAddr, mut modes: watch::Receiver<Mode>) {
    let is_closing = modes.wait_for(|mode| *mode != Mode::Silent).await.is_err();
    if is_closing || *modes.borrow() == Mode::Refuse {
        return;
    }
    let Ok(upstream) = TcpStream::connect(server).await else {
        return;
    };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = upstream.into_split();
    tokio::select! {
        () = pass(from_client, to_server, modes.clone()) => {}
        () = pass(from_server, to_client, modes.clone()) => {}
        _ = modes.wait_for(|mode| *mode == Mode::Refuse) => {}
    }
}

/// Passes bytes on while everything passes; ends with its source.
async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut modes: watch::Receiver<Mode>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count) = from.read(&mut buffer).await {
        if count == 0 || modes.wait_for(|mode| *mode == Mode::Forward).await.is_err() {
            return;
        }
        if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

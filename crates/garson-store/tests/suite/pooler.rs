//! PostgreSQL alone: a pooler that gives each transaction another connection is refused before anything is done.

use crate::database::Bench;
use garson_core::secret::Secret;
use garson_store::{Engine, Location, Options, StoreErrorKind};
use std::io::{Read, Result, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

const SSL_REQUEST: u32 = 80_877_103;

/// A message without its length, and its kind.
fn read_message(from: &mut TcpStream) -> Result<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    from.read_exact(&mut head)?;
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
    let mut body = vec![0; length - 4];
    from.read_exact(&mut body)?;
    Ok((head[0], body))
}

fn write_message(to: &mut TcpStream, kind: u8, body: &[u8]) -> Result<()> {
    let mut message = vec![kind];
    message.extend_from_slice(&u32::try_from(body.len() + 4).unwrap().to_be_bytes());
    message.extend_from_slice(body);
    to.write_all(&message)
}

/// The first message of a client, which has no kind.
fn read_startup(from: &mut TcpStream) -> Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
    from.read_exact(&mut body)?;
    Ok(body)
}

/// The one connection that all clients share.
fn connect_upstream(server: SocketAddr, user: &str, database: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server).unwrap();
    let mut body = 196_608_u32.to_be_bytes().to_vec();
    body.extend_from_slice(format!("user\0{user}\0database\0{database}\0\0").as_bytes());
    let length = u32::try_from(body.len() + 4).unwrap();
    stream.write_all(&length.to_be_bytes()).unwrap();
    stream.write_all(&body).unwrap();
    while read_message(&mut stream).unwrap().0 != b'Z' {}
    stream
}

/// Serves a client: it has the connection for as long as its transaction runs.
fn serve(mut client: TcpStream, upstream: &Mutex<TcpStream>) -> Result<()> {
    loop {
        let startup = read_startup(&mut client)?;
        if startup[..4] != SSL_REQUEST.to_be_bytes() {
            break;
        }
        client.write_all(b"N")?;
    }
    write_message(&mut client, b'R', &0_u32.to_be_bytes())?;
    write_message(&mut client, b'Z', b"I")?;
    loop {
        let mut message = read_message(&mut client)?;
        let mut server = upstream.lock().unwrap();
        loop {
            let (kind, body) = message;
            if kind == b'X' {
                return write_message(&mut server, b'Q', b"ROLLBACK\0");
            }
            write_message(&mut server, kind, &body)?;
            let mut is_idle = false;
            if kind == b'Q' || kind == b'S' {
                loop {
                    let (kind, body) = read_message(&mut server)?;
                    write_message(&mut client, kind, &body)?;
                    if kind == b'Z' {
                        is_idle = body == b"I";
                        break;
                    }
                }
            }
            if is_idle {
                break;
            }
            message = read_message(&mut client)?;
        }
    }
}

pub async fn a_pooler_that_shares_connections_is_refused(bench: &Bench) {
    let url = bench.postgres_url();
    let (head, rest) = url.split_once('@').unwrap();
    let (host, database) = rest.split_once('/').unwrap();
    let user = head.strip_prefix("postgres://").unwrap();
    let upstream = connect_upstream(host.parse().unwrap(), user, database);
    let upstream = Arc::new(Mutex::new(upstream));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let through = format!("{head}@{}/{database}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let upstream = Arc::clone(&upstream);
            std::thread::spawn(move || drop(serve(client, &upstream)));
        }
    });
    let location = Location::Postgres(Secret::new(through));
    let opened = tokio::task::spawn_blocking(move || Engine::open(&location, &Options::default()).map(drop))
        .await
        .unwrap();
    let error = opened.unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Refused, "{error}");
    assert!(error.to_string().contains("transaction mode"), "{error}");
}

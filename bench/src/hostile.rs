//! A tenant and strangers that cause every kind of trouble at once, until the process is ended.
//!
//! The tenant's webhook, callback and platform take connections and never answer (the row sets that up); here come its
//! orders, each verified so that a callback hangs too, bodies that cannot be read, guesses of passwords, and connections
//! that are silent or stop in the middle of a request.

use crate::client::{self, Target};
use crate::error::Fallible;
use crate::measure;
use serde::{Deserialize, Serialize};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

pub const ROLE: &str = "hostile";

/// Pauses between two requests of a kind; together they are about 100 requests a second.
const ORDER_PAUSE: Duration = Duration::from_millis(30);
const OTHER_PAUSE: Duration = Duration::from_millis(50);
/// Connections of each of the kinds below.
const CONNECTIONS: usize = 100;

#[derive(Serialize, Deserialize)]
pub struct Plan {
    pub address: String,
    /// The hostile tenant's.
    pub api_key: String,
    pub first_number: u64,
}

/// The process in which it happens, ended when this is dropped.
pub struct Hostile(Child);

impl Hostile {
    pub fn start(plan: &Plan) -> Fallible<Self> {
        let child = Command::new(std::env::current_exe()?)
            .arg(ROLE)
            .arg(serde_json::to_string(plan)?)
            .stdin(Stdio::null())
            .spawn()?;
        Ok(Self(child))
    }

    pub fn cpu_seconds(&self) -> Fallible<f64> {
        measure::cpu_seconds(&self.0.id().to_string())
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn run(plan: &str) -> Fallible<()> {
    let plan: Plan = serde_json::from_str(plan)?;
    client::runtime()?.block_on(async {
        let held = strangers(&plan.address).await?;
        let orders = Target::post_order_of(&plan.address, 0);
        let odd = post("/hooks/direct/orders", "application/json", "{\"items\": 7}");
        let form = "application/x-www-form-urlencoded";
        let guess = post("/sign-in", form, "email=quiet%40example.com&password=guess");
        let ended = tokio::try_join!(
            order_and_verify(&plan, &orders),
            repeat(&plan.address, &odd),
            repeat(&plan.address, &guess),
        );
        drop(held);
        ended.map(|_| ())
    })
}

fn post(path: &str, content_type: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: bench\r\nx-api-key: {}\r\ncontent-type: {content_type}\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        crate::order_body::inbound_key(0),
        body.len()
    )
}

/// Sends a request and reads until the server closes the connection.
async fn send(address: &str, request: &[u8]) -> Fallible<()> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request).await?;
    let mut answer = Vec::new();
    // The server may refuse and close it at any time.
    let _ended = stream.read_to_end(&mut answer).await;
    Ok(())
}

async fn repeat(address: &str, request: &str) -> Fallible<()> {
    loop {
        send(address, request.as_bytes()).await?;
        tokio::time::sleep(OTHER_PAUSE).await;
    }
}

async fn order_and_verify(plan: &Plan, target: &Target) -> Fallible<()> {
    let mut orders = client::Connection::open(target).await?;
    for number in plan.first_number.. {
        orders.ask(number).await?;
        let verify = format!(
            "POST /orders/verify/WEB-{number:010} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {}\r\n\
             content-length: 0\r\nconnection: close\r\n\r\n",
            plan.api_key
        );
        send(&plan.address, verify.as_bytes()).await?;
        tokio::time::sleep(ORDER_PAUSE).await;
    }
    Ok(())
}

/// Silent connections, half requests, bodies that never come, idle HTTP/2, each kind from addresses of its own.
async fn strangers(address: &str) -> Fallible<Vec<TcpStream>> {
    const BODY: &str = "content-type: application/x-www-form-urlencoded\r\ncontent-length: 1048576\r\n\r\n";
    let sign_in = format!("POST /sign-in HTTP/1.1\r\nhost: x\r\n{BODY}");
    let order = format!("POST /hooks/direct/orders HTTP/1.1\r\nhost: x\r\nx-api-key: wrong\r\n{BODY}");
    let kinds: [&[u8]; 5] = [
        b"",
        b"GET /healthz HTTP/1.1\r\nhost:",
        sign_in.as_bytes(),
        order.as_bytes(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
    ];
    let mut held = Vec::new();
    for (kind, bytes) in kinds.iter().enumerate() {
        for number in 0..CONNECTIONS {
            let socket = TcpSocket::new_v4()?;
            socket.bind(format!("127.1.{kind}.{}:0", number % 4 + 1).parse()?)?;
            let mut stream = socket.connect(address.parse()?).await?;
            // A server may refuse it at once.
            let _refused = stream.write_all(bytes).await;
            held.push(stream);
        }
    }
    Ok(held)
}

//! A service that is told to stop waits for requests, not for clients that ask nothing.

use crate::support::{Home, Kind, Program, block_on};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[test]
fn an_idle_http2_client_does_not_hold_up_the_end() {
    block_on(async {
        let home = Home::new(Kind::Sqlite);
        let drain = [("GARSON_SERVER__DRAIN_SECONDS", "25")];
        let mut program = Program::serve(&home, &drain);
        let addr = program.address().await;
        let mut idle = TcpStream::connect(addr).await.unwrap();
        // Its preface and empty settings; it will not answer to anything.
        idle.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")
            .await
            .unwrap();
        let mut said = [0; 9];
        idle.read_exact(&mut said).await.unwrap();
        let began = Instant::now();
        program.terminate();
        assert!(program.ended().await);
        let took = began.elapsed();
        assert!(took < Duration::from_secs(12), "{took:?}");
    });
}

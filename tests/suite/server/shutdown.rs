//! Shutdown waits for requests in progress, not for idle clients.

use crate::support::{Backend, Program, TestStorage, block_on};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[test]
fn idle_http2_client_does_not_delay_shutdown() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let drain = [("GARSON_SERVER__DRAIN_SECONDS", "25")];
        let mut program = Program::serve(&storage, &drain);
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

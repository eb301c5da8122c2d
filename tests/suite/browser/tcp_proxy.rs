//! A TCP proxy between browser and service that can be cut.

use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Forwards connections to the service until it is cut.
pub struct Line {
    pub addr: SocketAddr,
    is_up: watch::Sender<bool>,
}

impl Line {
    pub async fn to(service: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (is_up, up) = watch::channel(true);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(carry(stream, service, up.clone()));
            }
        });
        Self { addr, is_up }
    }

    /// Everything that is open breaks off, and nothing new gets through.
    pub fn cut(&self) {
        self.is_up.send_replace(false);
    }

    pub fn mend(&self) {
        self.is_up.send_replace(true);
    }
}

async fn carry(mut browser: TcpStream, service: SocketAddr, mut up: watch::Receiver<bool>) {
    let talk = async {
        let mut service = TcpStream::connect(service).await?;
        tokio::io::copy_bidirectional(&mut browser, &mut service).await
    };
    tokio::select! {
        biased;
        _cut = up.wait_for(|is_up| !is_up) => {}
        _said = talk => {}
    }
}

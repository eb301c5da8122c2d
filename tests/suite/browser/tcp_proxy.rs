//! A TCP proxy between browser and service that can be cut.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Forwards connections to the service until it is cut.
pub struct Line {
    pub addr: SocketAddr,
    is_up: watch::Sender<bool>,
    /// Answers 502 while it is cut, as a proxy does.
    says_so: Arc<AtomicBool>,
}

impl Line {
    pub async fn to(service: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (is_up, up) = watch::channel(true);
        let says_so = Arc::new(AtomicBool::new(false));
        let refusing = Arc::clone(&says_so);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if !*up.borrow() && refusing.load(Ordering::SeqCst) {
                    tokio::spawn(refuse(stream));
                } else {
                    tokio::spawn(carry(stream, service, up.clone()));
                }
            }
        });
        Self { addr, is_up, says_so }
    }

    /// Cuts it; new connections get 502.
    pub fn cut_with_502(&self) {
        self.says_so.store(true, Ordering::SeqCst);
        self.cut();
    }

    /// Everything that is open breaks off, and nothing new gets through.
    pub fn cut(&self) {
        self.is_up.send_replace(false);
    }

    pub fn mend(&self) {
        self.is_up.send_replace(true);
    }
}

async fn refuse(mut browser: TcpStream) {
    let page = "<h1>Bad Gateway</h1>";
    let answer = format!(
        "HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    // A browser that has gone away needs no answer.
    let _ = browser.read(&mut [0; 4096]).await;
    let _ = browser.write_all(answer.as_bytes()).await;
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

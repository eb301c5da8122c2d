//! A mail server that keeps what it receives, or hangs.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// How the server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpMood {
    Accepts,
    /// It accepts connections and says nothing.
    Hangs,
    /// It accepts everything and hangs at the end of a message.
    HangsAtTheEnd,
    /// It answers 450 to every recipient.
    RefusesForNow,
}

pub struct SmtpSink {
    pub addr: SocketAddr,
    mails: Arc<Mutex<Vec<String>>>,
    mood: Arc<Mutex<SmtpMood>>,
}

impl SmtpSink {
    pub async fn start(mood: SmtpMood, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let sink = Self {
            addr: listener.local_addr().unwrap(),
            mails: Arc::default(),
            mood: Arc::new(Mutex::new(mood)),
        };
        let (mails, mood) = (Arc::clone(&sink.mails), Arc::clone(&sink.mood));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (mails, mood) = (Arc::clone(&mails), *mood.lock().unwrap());
                let tls = tls.clone();
                tokio::spawn(async move {
                    match tls {
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                talk(stream, mood, &mails).await;
                            }
                        }
                        None => {
                            talk(stream, mood, &mails).await;
                        }
                    }
                });
            }
        });
        sink
    }

    pub fn set_mood(&self, mood: SmtpMood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// The mails so far.
    pub fn mails(&self) -> Vec<String> {
        self.mails.lock().unwrap().clone()
    }
}

/// One connection; `None` when it ends.
async fn talk(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    mood: SmtpMood,
    mails: &Mutex<Vec<String>>,
) -> Option<()> {
    if mood == SmtpMood::Hangs {
        std::future::pending::<()>().await;
    }
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 sink ESMTP\r\n").await.ok()?;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let command = line.trim().to_ascii_uppercase();
        let answer = match command.split([' ', ':']).next().unwrap_or_default() {
            "EHLO" => "250-sink\r\n250-8BITMIME\r\n250 AUTH PLAIN LOGIN\r\n",
            "AUTH" => "235 welcome\r\n",
            "RCPT" if mood == SmtpMood::RefusesForNow => "450 later\r\n",
            "DATA" => {
                stream.write_all(b"354 go on\r\n").await.ok()?;
                let mut mail = String::new();
                while !mail.ends_with("\r\n.\r\n") {
                    if stream.read_line(&mut mail).await.ok()? == 0 {
                        return None;
                    }
                }
                if mood == SmtpMood::HangsAtTheEnd {
                    std::future::pending::<()>().await;
                }
                mails.lock().unwrap().push(mail);
                "250 taken\r\n"
            }
            "QUIT" => {
                stream.write_all(b"221 bye\r\n").await.ok()?;
                return None;
            }
            _ => "250 fine\r\n",
        };
        stream.write_all(answer.as_bytes()).await.ok()?;
    }
}

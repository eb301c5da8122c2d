//! A mail server that keeps what it receives, refuses it, or hangs; plain, with STARTTLS or with TLS from the first byte.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// How the server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpMood {
    Accepts,
    /// It accepts connections and says nothing.
    Hangs,
    /// It accepts everything and hangs at the end of a message.
    HangsAtTheEnd,
    /// It closes the connection when this command comes.
    ClosesAt(&'static str),
    /// It never answers this command.
    HangsAt(&'static str),
    /// It answers 450 to every recipient.
    RefusesForNow,
    /// It answers 550 to recipients whose address contains "unknown".
    RefusesUnknown,
}

/// How connections are encrypted.
#[derive(Clone)]
pub enum SmtpTls {
    /// From the first byte.
    Implicit(TlsAcceptor),
    /// After STARTTLS.
    Starttls(TlsAcceptor),
}

pub struct SmtpSink {
    pub addr: SocketAddr,
    mood: Arc<Mutex<SmtpMood>>,
    seen: Arc<Seen>,
}

/// What clients have sent.
#[derive(Default)]
struct Seen {
    mails: Mutex<Vec<String>>,
    commands: Mutex<Vec<String>>,
    greetings: Mutex<Vec<String>>,
    handed_over: AtomicUsize,
}

impl SmtpSink {
    pub async fn start(mood: SmtpMood, tls: Option<SmtpTls>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let sink = Self {
            addr: listener.local_addr().unwrap(),
            mood: Arc::new(Mutex::new(mood)),
            seen: Arc::default(),
        };
        let (seen, mood) = (Arc::clone(&sink.seen), Arc::clone(&sink.mood));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, mood, tls) = (Arc::clone(&seen), *mood.lock().unwrap(), tls.clone());
                tokio::spawn(async move { serve(stream, mood, tls, &seen).await });
            }
        });
        sink
    }

    pub fn set_mood(&self, mood: SmtpMood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// The mails so far.
    pub fn mails(&self) -> Vec<String> {
        self.seen.mails.lock().unwrap().clone()
    }

    /// How many mails have been received to their end, accepted or not.
    pub fn handed_over(&self) -> usize {
        self.seen.handed_over.load(Ordering::SeqCst)
    }

    /// The names by which clients have introduced themselves.
    pub fn greetings(&self) -> Vec<String> {
        self.seen.greetings.lock().unwrap().clone()
    }

    /// The first words of all commands so far; those after encryption are marked.
    pub fn commands(&self) -> Vec<String> {
        self.seen.commands.lock().unwrap().clone()
    }
}

async fn serve(stream: TcpStream, mood: SmtpMood, tls: Option<SmtpTls>, seen: &Seen) -> Option<()> {
    let mut stream = stream;
    match tls {
        Some(SmtpTls::Implicit(tls)) => {
            let mut stream = tls.accept(stream).await.ok()?;
            talk(
                &mut stream,
                Talk {
                    mood,
                    seen,
                    offers_tls: false,
                    is_secure: true,
                    greets: true,
                },
            )
            .await
        }
        Some(SmtpTls::Starttls(tls)) => {
            talk(
                &mut stream,
                Talk {
                    mood,
                    seen,
                    offers_tls: true,
                    is_secure: false,
                    greets: true,
                },
            )
            .await?;
            let mut stream = tls.accept(stream).await.ok()?;
            talk(
                &mut stream,
                Talk {
                    mood,
                    seen,
                    offers_tls: false,
                    is_secure: true,
                    greets: false,
                },
            )
            .await
        }
        None => {
            talk(
                &mut stream,
                Talk {
                    mood,
                    seen,
                    offers_tls: false,
                    is_secure: false,
                    greets: true,
                },
            )
            .await
        }
    }
}

#[derive(Clone, Copy)]
struct Talk<'a> {
    mood: SmtpMood,
    seen: &'a Seen,
    offers_tls: bool,
    is_secure: bool,
    greets: bool,
}

/// One connection; `None` when it ends, something when encryption follows.
async fn talk(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), it: Talk<'_>) -> Option<()> {
    let (mood, seen) = (it.mood, it.seen);
    if mood == SmtpMood::Hangs {
        std::future::pending::<()>().await;
    }
    let mut stream = BufReader::new(stream);
    if it.greets {
        stream.write_all(b"220 sink ESMTP\r\n").await.ok()?;
    }
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let command = line.trim().to_ascii_uppercase();
        let command = command.split([' ', ':']).next().unwrap_or_default();
        let mark = if it.is_secure { "secure " } else { "" };
        seen.commands.lock().unwrap().push(format!("{mark}{command}"));
        match mood {
            SmtpMood::ClosesAt(at) if at == command => return None,
            SmtpMood::HangsAt(at) if at == command => std::future::pending::<()>().await,
            _ => {}
        }
        if command == "EHLO" {
            let name = line.trim()[4..].trim().to_owned();
            seen.greetings.lock().unwrap().push(name);
        }
        let answer = match command {
            "EHLO" if it.offers_tls => "250-sink\r\n250-STARTTLS\r\n250 8BITMIME\r\n",
            "EHLO" => "250-sink\r\n250-8BITMIME\r\n250 AUTH PLAIN LOGIN\r\n",
            "STARTTLS" if it.offers_tls => {
                stream.write_all(b"220 go on\r\n").await.ok()?;
                return Some(());
            }
            "STARTTLS" => "502 not offered\r\n",
            "AUTH" => "235 welcome\r\n",
            "RCPT" if mood == SmtpMood::RefusesForNow => "450 later\r\n",
            "RCPT" if mood == SmtpMood::RefusesUnknown && line.contains("unknown") => "550 no such user\r\n",
            "DATA" => {
                stream.write_all(b"354 go on\r\n").await.ok()?;
                let mut mail = String::new();
                while !mail.ends_with("\r\n.\r\n") {
                    if stream.read_line(&mut mail).await.ok()? == 0 {
                        return None;
                    }
                }
                seen.handed_over.fetch_add(1, Ordering::SeqCst);
                if mood == SmtpMood::HangsAtTheEnd {
                    std::future::pending::<()>().await;
                }
                seen.mails.lock().unwrap().push(mail);
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

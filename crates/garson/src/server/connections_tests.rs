//! Misbehaving clients over real sockets, with short timeouts.

use super::*;
use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use std::convert::Infallible;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const IN_VAIN: Duration = Duration::from_secs(60);

struct Served {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    done: JoinHandle<bool>,
}

/// A service that answers `/` at once with 100,000 bytes, and `/slow` after two seconds.
async fn serve() -> Served {
    serve_with(Duration::from_millis(700)).await
}

async fn serve_with(send_stall: Duration) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let limits = Limits {
        connections: 100,
        connections_per_address: 100,
        timeouts: Timeouts {
            first_head: Duration::from_millis(300),
            idle: Duration::from_millis(700),
            send_stall,
        },
        drain: Duration::from_secs(50),
        proxies: Arc::default(),
        refusals: Arc::default(),
        tls: None,
    };
    let service = service_fn(|request: Request<Incoming>| async move {
        if request.uri().path() == "/slow" {
            sleep(Duration::from_secs(2)).await;
        }
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(vec![b'x'; 100_000]))))
    });
    let (stop, stopped) = oneshot::channel::<()>();
    let done = tokio::spawn(serve_connections(listener, service, limits, async move {
        drop(stopped.await);
    }));
    Served { address, stop, done }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

fn settings(window: Option<u32>) -> Vec<u8> {
    let window = window.map(|size| [&[0, 4][..], &size.to_be_bytes()].concat());
    frame(4, 0, 0, &window.unwrap_or_default())
}

/// A GET of `/`, in terms of the static table.
fn headers(stream: u32, flags: u8) -> Vec<u8> {
    frame(1, flags, stream, &[0x82, 0x86, 0x84, 0x41, 1, b'a'])
}

fn whole_request(stream: u32) -> Vec<u8> {
    headers(stream, END_STREAM | END_HEADERS)
}

/// Sends this, reads everything, and waits until it is disconnected.
async fn is_cut_off(address: SocketAddr, said: &[u8]) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(said).await.unwrap();
    let mut buffer = vec![0; 64 * 1024];
    let reading = async { while stream.read(&mut buffer).await.is_ok_and(|count| count > 0) {} };
    let cut = tokio::time::timeout(IN_VAIN, reading).await;
    let begin = String::from_utf8_lossy(&said[..said.len().min(30)]).into_owned();
    assert!(cut.is_ok(), "not cut off: {} bytes, {begin:?}", said.len());
}

#[tokio::test]
async fn whoever_asks_nothing_or_takes_nothing_is_cut_off() {
    let served = serve().await;
    let many = (0..60).flat_map(|n| whole_request(2 * n + 1)).collect::<Vec<_>>();
    let impolite: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"P".to_vec(),
        PREFACE[..12].to_vec(),
        PREFACE.to_vec(),
        [PREFACE, &settings(None)].concat(),
        // Headers without an end.
        [PREFACE, &settings(None), &headers(1, END_STREAM)].concat(),
        b"GET / HTTP/1.1\r\nhost: a\r\n".to_vec(),
        // Nothing is read, or a single byte of each response.
        [PREFACE, &settings(Some(0)), &many].concat(),
        [PREFACE, &settings(Some(1)), &many].concat(),
        // Everything is read, and then nothing requested.
        [PREFACE, &settings(None), &whole_request(1)].concat(),
    ];
    let mut all = tokio::task::JoinSet::new();
    for said in impolite {
        all.spawn(async move { is_cut_off(served.address, &said).await });
    }
    while let Some(ended) = all.join_next().await {
        ended.unwrap();
    }
}

#[tokio::test]
async fn whoever_waits_for_us_is_not_cut_off() {
    let served = serve().await;
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    stream
        .write_all(b"GET /slow HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    let read = tokio::time::timeout(IN_VAIN, stream.read_to_end(&mut answer)).await;
    read.unwrap().unwrap();
    assert!(answer.len() > 100_000);
}

#[tokio::test]
async fn idle_connections_do_not_hold_up_the_end() {
    let served = serve().await;
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    let said = [PREFACE, &settings(None), &whole_request(1)].concat();
    stream.write_all(&said).await.unwrap();
    let mut buffer = [0; 1000];
    assert!(stream.read(&mut buffer).await.unwrap() > 0);
    let silent = TcpStream::connect(served.address).await.unwrap();
    let began = Instant::now();
    served.stop.send(()).unwrap();
    assert!(served.done.await.unwrap());
    assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
    drop((stream, silent));
}

/// Requests a response over HTTP/2 and reads so many bytes of it every 200 milliseconds; returns how many arrived before the end of
/// the response, or of the connection.
async fn take(address: SocketAddr, each_time: u32) -> usize {
    let window_update = |stream: u32, bytes: u32| frame(8, 0, stream, &bytes.to_be_bytes());
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut from, mut to) = stream.into_split();
    let said = [
        PREFACE,
        &settings(Some(0)),
        &window_update(0, 1_000_000),
        &whole_request(1),
    ]
    .concat();
    to.write_all(&said).await.unwrap();
    let giving = async {
        while to.write_all(&window_update(1, each_time)).await.is_ok() {
            sleep(Duration::from_millis(200)).await;
        }
        std::future::pending::<()>().await;
    };
    let reading = async {
        let (mut count, mut head) = (0, [0; 9]);
        while from.read_exact(&mut head).await.is_ok() {
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let mut payload = vec![0; usize::try_from(length).unwrap()];
            if from.read_exact(&mut payload).await.is_err() {
                break;
            }
            if head[3] == 0 {
                count += payload.len();
                if head[4] & END_STREAM != 0 {
                    break;
                }
            }
        }
        count
    };
    let taken = async {
        tokio::select! {
            count = reading => count,
            () = giving => 0,
        }
    };
    tokio::time::timeout(IN_VAIN, taken).await.expect("no end")
}

#[tokio::test]
async fn a_client_that_takes_a_byte_now_and_then_is_cut_off_and_a_slow_one_is_not() {
    let served = serve_with(Duration::from_secs(3)).await;
    let (dribbled, slowly) = tokio::join!(take(served.address, 1), take(served.address, 5_000));
    assert!(dribbled < 1_000, "{dribbled}");
    assert_eq!(slowly, 100_000);
}

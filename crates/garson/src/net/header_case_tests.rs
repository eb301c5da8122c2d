//! Only the names in a request's head change, however the request is split into writes and whatever its body holds.

use super::*;
use proptest::prelude::*;
use proptest::sample::select;
use tokio::io::AsyncWriteExt;

/// Accepts at most so many bytes at a time, in turn; zero means not ready.
struct Choppy {
    written: Vec<u8>,
    turns: Vec<usize>,
    turn: usize,
}

impl AsyncWrite for Choppy {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let most = self.turns[self.turn % self.turns.len()];
        self.turn += 1;
        if most == 0 {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let count = most.min(bytes.len());
        self.written.extend_from_slice(&bytes[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[derive(Clone, Debug)]
struct Sample {
    start: String,
    /// Names as the receiver spells them, with their values.
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

impl Sample {
    fn bytes(&self, spelled: bool) -> Vec<u8> {
        let mut bytes = format!("{}\r\n", self.start).into_bytes();
        let name = |name: &str| {
            if spelled {
                name.to_owned()
            } else {
                name.to_ascii_lowercase()
            }
        };
        for (each, value) in &self.headers {
            bytes.extend(format!("{}: {value}\r\n", name(each)).bytes());
        }
        if let Some(body) = &self.body {
            bytes.extend(format!("{}: {}\r\n", name("Content-Length"), body.len()).bytes());
        }
        bytes.extend(b"\r\n");
        bytes.extend(self.body.iter().flatten());
        bytes
    }

    fn case(&self) -> HeaderCase {
        HeaderCase::new(self.headers.iter().map(|(name, _)| name.as_str()))
    }
}

fn requests() -> impl Strategy<Value = Vec<Sample>> {
    let name = "[A-Za-z][A-Za-z0-9_-]{0,12}".prop_filter("is ours", |name| {
        let usual = USUAL.iter().any(|usual| usual.eq_ignore_ascii_case(name));
        !usual
    });
    let headers = prop::collection::btree_map(name, "[!-~][ -~]{0,20}", 0..6);
    let headers = headers.prop_map(|headers| {
        let mut known = std::collections::BTreeSet::new();
        let is_first = |(name, _): &(String, String)| known.insert(name.to_ascii_lowercase());
        headers.into_iter().filter(is_first).collect::<Vec<_>>()
    });
    // Bodies that look like heads are the hard case.
    let piece = prop_oneof![
        select(vec![
            b"\r\n\r\n".to_vec(),
            b"\r\nxapikey: 1\r\n".to_vec(),
            b"POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\n".to_vec(),
        ]),
        prop::collection::vec(any::<u8>(), 0..40),
    ];
    let body = prop::option::of(prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat()));
    let start = select(vec![
        "POST /a:b HTTP/1.1",
        "GET / HTTP/1.1",
        "PUT /host: HTTP/1.1",
    ]);
    let request = (start, headers, body).prop_map(|(start, headers, body)| Sample {
        start: start.to_owned(),
        headers,
        body,
    });
    prop::collection::vec(request, 1..5)
}

fn write_all(requests: &[Sample], pieces: &[usize], turns: Vec<usize>) -> Vec<u8> {
    let pending = PendingCases::default();
    for request in requests {
        pending.push(request.case());
    }
    let stream = Choppy {
        written: Vec::new(),
        turns,
        turn: 0,
    };
    let mut spelling = HeaderCaseStream::new(stream, pending);
    let bytes: Vec<u8> = requests.iter().flat_map(|request| request.bytes(false)).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut rest = bytes.as_slice();
        let mut sizes = pieces.iter().cycle();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
            spelling.write_all(piece).await.unwrap();
            rest = after;
        }
        spelling.flush().await.unwrap();
    });
    spelling.stream.written
}

proptest! {
    #[test]
    fn only_the_names_in_heads_are_changed(
        requests in requests(),
        pieces in prop::collection::vec(1_usize..200, 1..8),
        mut turns in prop::collection::vec(0_usize..60, 0..8),
    ) {
        turns.push(1000);
        let expected: Vec<u8> = requests.iter().flat_map(|request| request.bytes(true)).collect();
        let written = write_all(&requests, &pieces, turns);
        prop_assert_eq!(String::from_utf8_lossy(&written), String::from_utf8_lossy(&expected));
    }
}

#[test]
fn a_body_larger_than_any_buffer_follows_its_head_unchanged() {
    let request = Sample {
        start: "POST / HTTP/1.1".to_owned(),
        headers: vec![("XApiKey".to_owned(), "k".to_owned())],
        body: Some(b"xapikey: 1\r\n\r\n".repeat(40_000)),
    };
    let requests = [request.clone(), request];
    let expected: Vec<u8> = requests.iter().flat_map(|request| request.bytes(true)).collect();
    let written = write_all(&requests, &[usize::MAX], vec![9_000]);
    assert!(written == expected);
}

//! Every request to every platform, compared byte for byte with its recording.
//!
//! The files in `recorded/` hold the requests. `GARSON_TEST_RECORD=1` writes them anew; look at the difference before it is kept.

use super::recorded_platforms::{ELSEWHERE, HERE, direct, getir, migros, trendyol, yemeksepeti};
use super::test_client::private;
use crate::support::block_on;
use garson::flow::platform_client::outgoing;
use garson::net::Log;
use garson_core::platform::Platform;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const RECORD: &str = "GARSON_TEST_RECORD";
/// Placeholders in recordings for the platform's addresses.
const HOST: &str = "platform.example";
const OTHER_HOST: &str = "elsewhere.example";

/// All that is sent before the answer, and after it until the connection is closed.
async fn receive(listener: &TcpListener) -> Vec<u8> {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut bytes = Vec::new();
    while !is_whole(&bytes) {
        assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "broken off");
    }
    let answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    stream.write_all(answer).await.unwrap();
    stream.read_to_end(&mut bytes).await.unwrap();
    bytes
}

fn is_whole(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "));
    length.is_none_or(|length| body.len() >= length.parse().unwrap())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/net/recorded")
}

#[test]
fn every_request_to_a_platform_is_as_recorded() {
    block_on(async {
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let address = format!("{HERE}:{port}");
        let base = format!("http://{address}");
        let sides = [
            direct(&base),
            getir(&base),
            migros(&base),
            trendyol(&base),
            yemeksepeti(&base),
        ];
        let keys = |platform: &&dyn Platform| platform.provider().as_str().to_owned();
        let recorded: Vec<_> = sides.iter().map(|side| keys(&side.platform)).collect();
        assert_eq!(
            recorded,
            garson_platforms::all().iter().map(keys).collect::<Vec<_>>()
        );
        let (client, mut names) = (private(), BTreeSet::new());
        for side in sides {
            side.is_complete();
            side.is_controlled();
            for (name, request) in side.requests {
                let path = PathBuf::from(side.platform.provider().as_str()).join(format!("{name}.http"));
                let sending = outgoing(request, Duration::from_secs(60), Log::Never, 1024 * 1024).unwrap();
                let (sent, bytes) = tokio::join!(client.send(sending), receive(&listener));
                assert_eq!(sent.unwrap().status, 200);
                let version = concat!("User-Agent: garson/", env!("CARGO_PKG_VERSION"), "\r\n");
                let text = String::from_utf8(bytes).unwrap();
                let text = text
                    .replace(&address, HOST)
                    .replace(&format!("{ELSEWHERE}:{port}"), OTHER_HOST)
                    .replace(version, "User-Agent: garson/VERSION\r\n");
                check(&path, &text);
                assert!(names.insert(path.clone()), "{path:?} stands for two requests");
            }
        }
        for known in files(&folder()) {
            assert!(
                names.contains(&known),
                "{known:?} is recorded, but nothing sends it"
            );
        }
    });
}

fn check(path: &Path, text: &str) {
    let file = folder().join(path);
    if std::env::var_os(RECORD).is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
    }
    let recorded = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(recorded, text, "{path:?}");
}

/// The recordings below a folder, by their paths in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = |path: &Path| {
        std::fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path())
    };
    entries(folder)
        .flat_map(|platform| entries(&platform).collect::<Vec<_>>())
        .map(|file| file.strip_prefix(folder).unwrap().to_owned())
        .collect()
}

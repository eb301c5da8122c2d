//! What it costs to read back the state of thousands of stores that do not change.

use super::effort::Effort;
use super::polling::connect;
use crate::client::{self, Target};
use crate::error::Fallible;
use crate::measure::count_of;
use crate::platform;
use crate::process::{Server, fresh_folder};
use crate::server;
use crate::table::{Finding, Goal, Series};
use std::time::{Duration, Instant};

const EVERY_SECONDS: u64 = 300;
/// The first readings are over and the later ones spread when the measurement starts.
const WARM_UP: Duration = Duration::from_secs(120);
const WINDOW: Duration = Duration::from_secs(60);
const KEY: &str = "getir";

pub fn stores(effort: Effort) -> Fallible<Vec<Finding>> {
    let folder = fresh_folder()?;
    let credentials = [
        ("appSecretKey", "bench-app-secret"),
        ("restaurantSecretKey", "bench-restaurant"),
        ("inboundKey", "bench-inbound"),
    ];
    connect(folder.path(), KEY, &credentials, effort.posts)?;
    let quiet = Server::start(platform::ROLE, folder.path(), &[])?;
    let name = KEY.to_uppercase();
    let server = Server::start(
        server::REAL_ROLE,
        folder.path(),
        &[
            (
                &format!("GARSON_PLATFORMS__{name}__BASE_URL"),
                &format!("http://{}/{KEY}", quiet.address),
            ),
            (&format!("GARSON_PLATFORMS__{name}__POLL_SECONDS"), "0"),
            ("GARSON_STORES__READ_SECONDS", &EVERY_SECONDS.to_string()),
        ],
    )?;
    let asked = || -> Fallible<f64> {
        let body = client::ask_once(&Target::get(&quiet.address, "", "/count"))?;
        Ok(count_of(String::from_utf8(body)?.trim().parse()?))
    };
    let is_full = effort.posts > 1000;
    std::thread::sleep(if is_full { WARM_UP } else { WARM_UP / 20 });
    let (mut processors, mut rates) = (Vec::new(), Vec::new());
    for _ in 0..effort.pairs.min(3) {
        let (cpu, count, started) = (server.cpu_seconds()?, asked()?, Instant::now());
        std::thread::sleep(if is_full { WINDOW } else { WINDOW / 20 });
        let seconds = started.elapsed().as_secs_f64();
        processors.push((server.cpu_seconds()? - cpu) / seconds);
        rates.push((asked()? - count) / seconds);
    }
    let rate = Series::new(rates, "").median();
    let expected = count_of(u64::try_from(effort.posts)?) / count_of(EVERY_SECONDS) * 0.5;
    if is_full && rate < expected {
        return Err(format!("stores were read {rate:.1} times a second, not {expected:.1}").into());
    }
    let measured = Series::new(processors, "");
    Ok(vec![Finding {
        row: "processors to read back 5,000 stores",
        ratio: measured.clone(),
        measured,
        baseline: None,
        goal: Goal::AtMost(0.1),
        notes: vec![format!(
            "{} stores, each read every {EVERY_SECONDS} s: {rate:.1} requests a second; {:.1} MB",
            effort.posts,
            server.resident_megabytes()?
        )],
    }])
}

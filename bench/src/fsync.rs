//! The latency baseline: writing four kilobytes with an fsync, at the same rate on the same disk.

use crate::error::Fallible;
use crate::measure;
use hdrhistogram::Histogram;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

const BLOCK: [u8; 4096] = [b'x'; 4096];
/// The file has its size from the start, so that nothing but the block has to reach the disk.
const BLOCKS: u64 = 256;

/// How long each write with its fsync took, in microseconds.
pub fn measure(folder: &Path, rate: f64, seconds: f64, times: &mut Histogram<u64>) -> Fallible<()> {
    let path = folder.join("fsync");
    let file = std::fs::File::create(&path)?;
    for block in 0..BLOCKS {
        file.write_all_at(&BLOCK, block * 4096)?;
    }
    file.sync_all()?;
    let began = Instant::now();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let count = (rate * seconds) as u64;
    for turn in 0..count {
        let due = began + Duration::from_secs_f64(measure::count_of(turn) / rate);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let started = Instant::now();
        file.write_all_at(&BLOCK, turn % BLOCKS * 4096)?;
        file.sync_all()?;
        times.record(u64::try_from(started.elapsed().as_micros())?)?;
    }
    Ok(std::fs::remove_file(path)?)
}

//! A strict parser of `/metrics` (OpenMetrics).

use super::{Reply, request, send};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// The samples of one scrape, each by its name and labels as they are written.
#[derive(Clone, Debug)]
pub struct Scrape(BTreeMap<String, f64>);

impl Scrape {
    pub async fn of(addr: SocketAddr) -> Self {
        let reply = send(addr, &request("GET", "/metrics", &[], &[])).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        Self::read(&reply)
    }

    fn read(reply: &Reply) -> Self {
        let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        assert_eq!(reply.header("content-type"), Some(kind));
        let text = reply.text();
        let text = text.strip_suffix("# EOF\n").expect("it ends with EOF");
        let mut families = BTreeSet::new();
        let mut samples = BTreeMap::new();
        let mut family: Option<Family> = None;
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').unwrap();
                assert!(help.len() > 5 && help.ends_with('.'), "{line}");
                let declared = lines.next().unwrap_or_default();
                let kind = declared.strip_prefix(&format!("# TYPE {name} ")).expect(declared);
                assert!(families.insert(name.to_owned()), "{name} comes twice");
                family.take().inspect(Family::check);
                family = Some(Family::new(name, kind));
                continue;
            }
            let (sample, value) = line.rsplit_once(' ').expect(line);
            let value: f64 = value.parse().expect(line);
            family.as_mut().expect("a sample has a family").add(sample, value);
            assert!(
                samples.insert(sample.to_owned(), value).is_none(),
                "{sample} comes twice"
            );
        }
        family.inspect(Family::check);
        Self(samples)
    }

    /// A sample, if it is there.
    pub fn get(&self, sample: &str) -> Option<f64> {
        self.0.get(sample).copied()
    }

    /// A sample; one that is not there has not moved.
    pub fn count(&self, sample: &str) -> f64 {
        self.get(sample).unwrap_or(0.0)
    }

    /// All samples that have moved since an earlier scrape and whose names begin so, with how far.
    pub fn moved(&self, since: &Self, prefix: &str) -> Vec<(String, f64)> {
        let of_prefix = self.0.iter().filter(|(sample, _)| sample.starts_with(prefix));
        of_prefix
            .map(|(sample, value)| (sample.clone(), value - since.count(sample)))
            .filter(|(_, by)| *by != 0.0)
            .collect()
    }

    /// All values that a label has.
    pub fn values(&self) -> BTreeSet<String> {
        let labels = self.0.keys().flat_map(|sample| labels(sample));
        labels.map(|(_, value)| value).collect()
    }
}

/// What a sample's labels are.
fn labels(sample: &str) -> Vec<(String, String)> {
    let Some((_, rest)) = sample.split_once('{') else {
        return Vec::new();
    };
    let inside = rest.strip_suffix('}').expect(sample);
    let label = |part: &str| {
        let (name, value) = part.split_once("=\"").expect(sample);
        (name.to_owned(), value.strip_suffix('"').expect(sample).to_owned())
    };
    inside.split(',').map(label).collect()
}

/// A metric family while it is read.
struct Family {
    name: String,
    kind: String,
    samples: Vec<(String, f64)>,
}

impl Family {
    fn new(name: &str, kind: &str) -> Self {
        let is_plain = |c: char| c.is_ascii_lowercase() || c == '_';
        assert!(
            name.starts_with("garson_") && name.chars().all(is_plain),
            "{name}"
        );
        assert!(["counter", "gauge", "histogram"].contains(&kind), "{name} {kind}");
        Self {
            name: name.to_owned(),
            kind: kind.to_owned(),
            samples: Vec::new(),
        }
    }

    fn add(&mut self, sample: &str, value: f64) {
        let name = sample.split('{').next().unwrap();
        let suffix = name
            .strip_prefix(&self.name)
            .unwrap_or_else(|| panic!("{sample} is in {}", self.name));
        let suffixes: &[&str] = match self.kind.as_str() {
            "counter" => &["_total"],
            "histogram" => &["_sum", "_count", "_bucket"],
            _ => &[""],
        };
        assert!(
            suffixes.contains(&suffix),
            "{sample} in {} {}",
            self.kind,
            self.name
        );
        assert!(value >= 0.0, "{sample} {value}");
        self.samples.push((sample.to_owned(), value));
    }

    /// A family has something to say, and a histogram's steps rise up to its count.
    fn check(&self) {
        assert!(!self.samples.is_empty(), "{} is empty", self.name);
        if self.kind != "histogram" {
            return;
        }
        let of = |suffix: &str| {
            let name = format!("{}{suffix}", self.name);
            let is_its = move |(sample, _): &&(String, f64)| sample.split('{').next() == Some(&name);
            self.samples.iter().filter(is_its).cloned().collect::<Vec<_>>()
        };
        let counts: Vec<f64> = of("_count").into_iter().map(|(_, count)| count).collect();
        assert_eq!(of("_sum").len(), counts.len());
        let mut ends = Vec::new();
        let (mut last_end, mut last) = (0.0, 0.0);
        for (sample, value) in of("_bucket") {
            let labels = labels(&sample);
            let (_, end) = labels.iter().find(|(name, _)| name == "le").expect(&sample);
            let end: f64 = end.parse().expect(&sample);
            assert!(end > last_end && value >= last, "{sample} {value}");
            (last_end, last) = (end, value);
            if end.is_infinite() {
                ends.push(value);
                (last_end, last) = (0.0, 0.0);
            }
        }
        assert_eq!(ends, counts, "{}", self.name);
    }
}

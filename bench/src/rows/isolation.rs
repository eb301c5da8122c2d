//! What a tenant without trouble notices of one with every kind of it.
//!
//! Two servers with the same accounts. Beside the quiet tenant's orders, one of them gets a hostile tenant and strangers
//! (see `hostile`); both are measured in turns, and the trouble exists only during the turns of its server.

use super::effort::Effort;
use crate::client::{Target, runtime};
use crate::error::Fallible;
use crate::hostile::{Hostile, Plan};
use crate::order_body;
use crate::process::{ALL_LINES, ReceiverProcess, Server, fresh_folder};
use crate::server;
use crate::shop;
use crate::sink::Command;
use crate::steady_load;
use crate::table::{Finding, Goal, Series};
use garson::flow::By;
use garson::flow::admin::integrations;
use garson::flow::admin::integrations::IntegrationChange;
use garson::flow::admin::restaurants;
use garson_core::id::RestaurantId;
use garson_core::restaurant::RestaurantFields;
use garson_core::secret::Secret;
use std::path::Path;

/// Orders a second of the quiet tenant.
const RATE: f64 = 50.0;
const PAIRS: usize = 10;
/// Longer than an attempt at a webhook or a call may take, so that all of them hang at once before a measurement.
const WARM_UP: f64 = 15.0;
/// Integrations whose platform never answers, each polled every second.
const HANGING_POLLS: usize = 40;
const HOSTILE: usize = 0;
const QUIET: usize = 1;

struct Side {
    server: Server,
    _data: tempfile::TempDir,
    next: u64,
    p50: Vec<f64>,
    p99: Vec<f64>,
    processors: Vec<f64>,
}

impl Side {
    fn start(data: tempfile::TempDir, partner: &ReceiverProcess, first_number: u64) -> Fallible<Self> {
        let platform = partner.ports.silent(HOSTILE);
        let settings = [
            ALL_LINES,
            ("GARSON_PLATFORMS__TRENDYOL__BASE_URL", &platform),
            ("GARSON_PLATFORMS__TRENDYOL__POLL_SECONDS", "1"),
        ];
        Ok(Self {
            server: Server::start(server::REAL_ROLE, data.path(), &settings)?,
            _data: data,
            next: first_number,
            p50: Vec::new(),
            p99: Vec::new(),
            processors: Vec::new(),
        })
    }

    fn send(&mut self, partner: &mut ReceiverProcess, seconds: f64) -> Fallible<steady_load::Report> {
        let plan = steady_load::Plan {
            targets: vec![Target::post_order_of(&self.server.address, QUIET)],
            first_measured: 0,
            rate: RATE,
            seconds,
            first_number: self.next,
            patience: 10.0,
            may_break: false,
        };
        let report: steady_load::Report = partner.ask(&Command::Steady(plan))?;
        self.next += report.sent;
        match report.missing {
            0 => Ok(report),
            missing => Err(format!("{missing} events of the quiet tenant did not come").into()),
        }
    }

    fn measure(&mut self, partner: &mut ReceiverProcess, seconds: f64) -> Fallible<()> {
        let cpu = self.server.cpu_seconds()?;
        let report = self.send(partner, seconds)?;
        self.processors
            .push((self.server.cpu_seconds()? - cpu) / report.seconds);
        self.p50.push(report.p50_millis);
        self.p99.push(report.p99_millis);
        Ok(())
    }
}

pub fn isolation(effort: Effort) -> Fallible<Vec<Finding>> {
    let is_full = effort.is_full();
    let warm_up = if is_full { WARM_UP } else { 0.5 };
    let mut partner = ReceiverProcess::start()?;
    let (data, api_key) = make(&partner, HANGING_POLLS)?;
    let mut beside = Side::start(data, &partner, 1_000_000_000)?;
    let (data, _) = make(&partner, 0)?;
    let mut alone = Side::start(data, &partner, 0)?;
    alone.send(&mut partner, warm_up)?;
    let mut hostile_processors = Vec::new();
    for pair in 0..if is_full { PAIRS } else { 1 } {
        alone.measure(&mut partner, effort.seconds * 4.0 / 3.0)?;
        let hostile = Hostile::start(&Plan {
            address: beside.server.address.clone(),
            api_key: api_key.clone(),
            first_number: 2_000_000_000 + 1_000_000 * u64::try_from(pair)?,
        })?;
        beside.send(&mut partner, if pair == 0 { warm_up } else { warm_up / 5.0 })?;
        let cpu = hostile.cpu_seconds()?;
        let seconds = effort.seconds * 4.0 / 3.0;
        beside.measure(&mut partner, seconds)?;
        hostile_processors.push((hostile.cpu_seconds()? - cpu) / seconds);
    }
    let median = |values: &[f64]| Series::new(values.to_vec(), "").median();
    Ok(vec![Finding {
        row: "p99 from order to webhook of a quiet tenant beside a hostile one, of the p99 without it",
        ratio: Series::beyond(&beside.p99, &alone.p99, 1.2, "ms"),
        notes: vec![format!(
            "{RATE} orders/s of the quiet tenant; p50 {:.2} ms beside, {:.2} ms alone; processors used: server {:.2} and \
             {:.2}, hostile process {:.2}; {:.1} MB and {:.1} MB",
            median(&beside.p50),
            median(&alone.p50),
            median(&beside.processors),
            median(&alone.processors),
            median(&hostile_processors),
            beside.server.resident_megabytes()?,
            alone.server.resident_megabytes()?,
        )],
        measured: Series::new(beside.p99, "ms"),
        baseline: Some(Series::new(alone.p99, "ms")),
        goal: Goal::Within {
            times: 1.2,
            plus: 50.0,
            unit: "ms",
        },
    }])
}

/// Data with both tenants, and the hostile one's API key. Its webhook, callback and platform never answer.
fn make(partner: &ReceiverProcess, hanging_polls: usize) -> Fallible<(tempfile::TempDir, String)> {
    let data = fresh_folder()?;
    let api_key = runtime()?.block_on(make_tenants(data.path(), partner, hanging_polls))?;
    Ok((data, api_key))
}

async fn make_tenants(data: &Path, partner: &ReceiverProcess, hanging_polls: usize) -> Fallible<String> {
    let app = shop::open(data)?;
    let webhook = |number| {
        Some(match number {
            HOSTILE => partner.ports.silent(number),
            _ => partner.ports.answering(number),
        })
    };
    let mut shops = shop::make_many(&app, 2, webhook).await?;
    let hostile = shops.swap_remove(HOSTILE);
    let branch = hostile.branches.first().ok_or("no branch was made")?;
    let change = credentials(&[
        ("inboundKey", &order_body::inbound_key(HOSTILE)),
        ("callbackUrl", &partner.ports.silent(HOSTILE)),
    ]);
    integrations::put(
        &app,
        By::system(hostile.account),
        branch.restaurant,
        "direct",
        change,
    )
    .await
    .map_err(shop::failed)?;
    for number in 0..hanging_polls {
        let fields = RestaurantFields {
            name: format!("Polled {number}"),
            ..RestaurantFields::default()
        };
        let id = RestaurantId::at(app.now());
        restaurants::create(&app, By::system(hostile.account), id, fields)
            .await
            .map_err(shop::failed)?;
        let change = IntegrationChange {
            is_active: Some(true),
            remote_id: Some(Some(format!("{number}:{number}"))),
            ..credentials(&[("apiKey", "bench-api-key"), ("apiSecret", "bench-api-secret")])
        };
        integrations::put(&app, By::system(hostile.account), id, "trendyol", change)
            .await
            .map_err(shop::failed)?;
    }
    Ok(hostile.api_key)
}

fn credentials(given: &[(&str, &str)]) -> IntegrationChange {
    let secret = |value: &str| Some(Secret::new(value.to_owned()));
    let given = given
        .iter()
        .map(|(name, value)| ((*name).to_owned(), secret(value)));
    IntegrationChange {
        is_active: None,
        remote_id: None,
        credentials: Some(given.collect()),
        default_cancel_reason: None,
    }
}

//! `garson certify`: plays scenarios of the simulated platforms against a developer's own POS, and reports what came of them.
//!
//! A temporary service, a process of its own, sends its events to a relay in this process. The relay passes them on to the POS,
//! records every answer, and simulates outages, lost answers and repeats where a scenario asks for them.

mod api;
mod args;
mod cases;
mod contents;
mod evidence;
mod folder;
mod play;
mod pos;
mod relay;
mod report;
mod service;
mod setup;
mod trial;
mod world;

use super::check_receiver::endpoint::Endpoint;
use super::command::{CommandError, Outcome, runtime};
use super::secret_input::{ask_plainly, is_terminal, read_secret};
use crate::config::LogSettings;
use crate::flow::deliver::signature::Signer;
use crate::net::Client;
use crate::net::guard::{Policy, Target};
use crate::telemetry;
use args::Profile;
use cases::{CASES, Case};
use folder::Folder;
use garson_core::clock::{Clock, SystemClock};
use garson_core::secret::Secret;
use pos::Pos;
use report::Report;
use serde_json::json;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use world::World;

pub use args::CertifyArgs;
pub use service::serve_for_parent;

pub fn run(args: &CertifyArgs) -> Outcome {
    let cases = chosen(&args.only)?;
    if args.list {
        let mut list = args.output.list(["scenario", "what happens"]);
        for case in cases {
            let shown = json!({ "id": case.id, "title": case.title });
            list.row([case.id.to_owned(), case.title.to_owned()], &shown);
        }
        return Ok(());
    }
    let url = args.url.as_deref().unwrap_or_default();
    let target = Target::parse(url).map_err(|refusal| CommandError(format!("the URL: {refusal}")))?;
    if let Some(file) = &args.report {
        report::check_writable(file)?;
    }
    let signer = args.secret_file.as_deref().map(|file| {
        let secret = read_secret(file)?;
        Signer::new(&secret, None).ok_or_else(|| {
            let file = file.display();
            CommandError(format!(
                "{file}: a signing secret is whsec_ and the base64 of its bytes"
            ))
        })
    });
    let (signer, key) = (signer.transpose()?, args.key.key()?);
    telemetry::start_log(&LogSettings {
        level: "error".to_owned(),
        format: "text".to_owned(),
    });
    runtime()?.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        // What is dropped here ends the service and removes its folder.
        tokio::select! {
            done = certify(args, target, key, signer, &cases) => done,
            _ = terminate.recv() => Err(interrupted()),
            _ = interrupt.recv() => Err(interrupted()),
        }
    })
}

fn interrupted() -> CommandError {
    CommandError("interrupted; no report was written".to_owned())
}

/// The scenarios that were asked for, in their usual order.
fn chosen(only: &[String]) -> Result<Vec<&'static Case>, CommandError> {
    if let Some(unknown) = only.iter().find(|id| CASES.iter().all(|case| case.id != **id)) {
        return Err(CommandError(format!(
            "there is no scenario {unknown}: garson certify --list lists them"
        )));
    }
    let is_chosen = |case: &&Case| only.is_empty() || only.iter().any(|id| id == case.id);
    Ok(CASES.iter().filter(is_chosen).collect())
}

async fn certify(
    args: &CertifyArgs,
    target: Target,
    key: Option<Secret<String>>,
    signer: Option<Signer>,
    cases: &[&'static Case],
) -> Outcome {
    // Private targets are allowed: the developer chose this address, which is most often on the same machine.
    let policy = Policy {
        allow_private: true,
        ..Policy::default()
    };
    let limit = Duration::from_secs(args.timeout_seconds);
    let client = Client::new(policy)?.trusting(&args.certificates()?)?;
    let shown = report::shown_url(&target);
    let folder = Folder::create()?;
    let world = World::start(args, &folder, &client, key).await?;
    let endpoint = Endpoint::new(client, target, world.key.clone(), args.key.authorization, limit);
    world.attach(Pos::new(endpoint, signer))?;
    introduce(args, &world, &shown)?;
    let started = SystemClock.now();
    let mut report = Report::new(started, shown, args.profile, args.body);
    for case in cases.iter().copied() {
        let finding = if report.is_unusable() {
            report::Finding::not_run(case)
        } else {
            play::play(&world, case).await
        };
        args.output.remark(finding.line());
        report.add(finding);
    }
    report.end(SystemClock.now());
    world.stop().await;
    args.output.result(report.summary(), &report.json());
    if let Some(file) = &args.report {
        for written in report.write(file)? {
            args.output.remark(format!("Report: {}", written.display()));
        }
    }
    match report.problem() {
        None => Ok(()),
        Some(problem) => Err(CommandError(problem)),
    }
}

/// Says where the API is. A POS that accepts orders must be configured with it.
fn introduce(args: &CertifyArgs, world: &World, shown: &str) -> Outcome {
    let mut lines = vec![
        format!("Certifying {shown}, profile {}", args.profile.as_str()),
        format!("API        http://{}", world.address),
    ];
    // A key that was given is known, and is not printed.
    if world.is_new_key {
        lines.push(format!("API key    {}", world.key.expose()));
    }
    for line in lines {
        args.output.notice(line);
    }
    if let Some(file) = &args.api_file {
        folder::write_private(file, &world.api_json())?;
    }
    if args.profile == Profile::Act && is_terminal() {
        ask_plainly("Press Enter when your POS uses this API.")?;
    }
    args.output.remark("");
    Ok(())
}

//! `garson certify`: good POS pass, and the command ends in bounded time whatever the POS does.

use super::certify_pos::{
    Acting, BEARER, KEY, KEY_FILE, SECRET, certify_in, folder, good, is_well_signed, pos, run,
};
use crate::support::{
    CannedResponse, Program, Receiver, block_on, command, program_run, secret_file, wait_until,
};
use serde_json::json;
use std::collections::HashSet;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

#[test]
fn pos_that_only_receives_passes_every_scenario() {
    block_on(async {
        let receiver = pos(|seen| {
            let is_known = seen.header("authorization") == Some(BEARER);
            (is_known && !is_well_signed(seen)).then_some(CannedResponse::Status(400))
        })
        .await;
        let secret = secret_file(SECRET);
        let secret = secret.path().to_str().unwrap();
        let url = receiver.url("/pos/a-part-that-may-be-a-secret?token=hidden");
        let run = run(folder(), &url, &["--secret-file", secret]).await;
        assert!(run.outcome.success, "{}{}", run.outcome.out, run.outcome.err);
        assert!(
            run.outcome.out.contains("30 scenarios: 30 passed\n"),
            "{}",
            run.outcome.out
        );
        assert_eq!(run.with("passed").len(), 30);
        // Every scenario has sent something that was answered.
        for scenario in run.report["scenarios"].as_array().unwrap() {
            assert!(scenario["requests"].as_u64().unwrap() > 0, "{scenario:#}");
        }
        assert!(run.scenario("burst")["requests"].as_u64().unwrap() >= 200);
        let restart = run.scenario("restart")["evidence"].as_array().unwrap();
        let held: Vec<_> = restart
            .iter()
            .filter(|entry| entry["note"] == "its answer is not read")
            .collect();
        let repeats = restart
            .iter()
            .filter(|entry| entry["eventId"] == held[0]["eventId"]);
        assert_eq!((held.len(), repeats.count()), (1, 2), "{restart:#?}");
        // The report is dated, and has no secrets.
        assert!(
            run.markdown
                .starts_with("# Certification report\n\n- Result: **passed**\n- Date: 20")
        );
        assert_eq!(run.markdown.matches("| passed |").count(), 30);
        let everything = format!(
            "{}{}{}{}",
            run.outcome.out, run.outcome.err, run.markdown, run.report
        );
        for secret in [KEY, SECRET, "hidden", "may-be-a-secret"] {
            assert!(!everything.contains(secret), "{secret}");
        }
        assert!(run.leftovers().is_empty(), "{:?}", run.leftovers());
        let mode = std::fs::metadata(run.api_file()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    });
}

#[test]
fn pos_that_accepts_orders_passes_every_scenario() {
    block_on(async {
        let folder = folder();
        let receiver = Receiver::start().await.keeps_connections();
        let acting = Acting::new(folder.path());
        receiver.respond_with(move |seen| acting.respond(seen));
        let run = run(
            folder,
            &receiver.url("/"),
            &["--profile", "act", "--body", "event"],
        )
        .await;
        assert!(run.outcome.success, "{}{}", run.outcome.out, run.outcome.err);
        assert_eq!(run.with("passed").len(), 29, "{}", run.outcome.out);
        assert_eq!(run.with("not applicable"), ["signature"]);
        assert_eq!(run.report["profile"], "act");
        // The content was left to the API.
        assert!(
            receiver
                .seen()
                .iter()
                .all(|seen| !seen.body.contains("\"order\":"))
        );
    });
}

#[test]
fn pos_that_accepts_nothing_fails_with_the_profile_that_expects_it() {
    block_on(async {
        let receiver = pos(|_| None).await;
        let flags = [
            "--profile",
            "act",
            "--accept-seconds",
            "1",
            "--only",
            "life-cycle",
        ];
        let run = run(
            folder(),
            &receiver.url("/"),
            &[&flags[..], &["--only", "out-of-order"]].concat(),
        )
        .await;
        assert_eq!(run.with("failed"), ["life-cycle"], "{}", run.outcome.out);
        // Its cancelled order needs no agreement.
        assert_eq!(run.with("passed"), ["out-of-order"]);
        let seen = run.scenario("life-cycle")["seen"].as_str().unwrap();
        assert!(seen.contains("has not accepted it"), "{seen}");
        assert!(!run.outcome.success && run.outcome.err.contains("1 scenario(s) failed"));
    });
}

#[test]
fn content_scenarios_do_not_apply_to_bare_events() {
    block_on(async {
        let receiver = pos(|_| None).await;
        let flags = [
            "--body",
            "event",
            "--only",
            "huge-basket",
            "--only",
            "turkish-letters",
        ];
        let run = run(folder(), &receiver.url("/"), &flags).await;
        assert!(run.outcome.success, "{}", run.outcome.err);
        assert_eq!(run.with("not applicable"), ["huge-basket"]);
        assert_eq!(run.with("passed"), ["turkish-letters"]);
    });
}

#[test]
fn events_of_a_run_are_those_of_the_service() {
    block_on(async {
        let receiver = pos(|_| None).await;
        let flags = ["--only", "life-cycle", "--only", "duplicate-event"];
        let run = run(folder(), &receiver.url("/"), &flags).await;
        assert!(run.outcome.success, "{}", run.outcome.err);
        let events: Vec<_> = receiver.seen().iter().map(|seen| seen.json()).collect();
        let sequence: Vec<_> = events
            .iter()
            .map(|event| event["veri"]["sequence"].clone())
            .collect();
        assert_eq!(sequence, [1, 2, 3, 4, 1, 1, 1].map(|n| json!(n)));
        let [.., first, second, third] = &events[..] else {
            panic!("too few events");
        };
        assert_eq!((first, first), (second, third));
        assert_eq!(events[0]["veri"]["order"]["amount"]["total"], 39_000);
        assert_eq!(events[3]["veri"]["newStatus"], 900);
    });
}

#[test]
fn silent_or_absent_pos_is_reported_in_bounded_time() {
    block_on(async {
        let gone = {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap()
        };
        let run_gone = run(folder(), &format!("http://{gone}/"), &["--timeout-seconds", "1"]).await;
        let silent = Receiver::start().await;
        silent.set_default_response(CannedResponse::Silence);
        let run_silent = run(folder(), &silent.url("/"), &["--timeout-seconds", "1"]).await;
        for (run, why) in [(run_gone, "refused"), (run_silent, "1 s")] {
            assert_eq!(run.with("failed"), ["life-cycle"], "{}", run.outcome.out);
            assert_eq!(run.with("not run").len(), 29);
            assert!(!run.outcome.success);
            let err = &run.outcome.err;
            assert!(
                err.contains("the POS did not accept the first event") && err.contains(why),
                "{err}"
            );
            assert_eq!(run.report["passed"], false);
            assert!(run.leftovers().is_empty());
        }
    });
}

#[test]
fn interrupted_or_killed_command_leaves_no_service() {
    block_on(async {
        for signal in ["TERM", "KILL"] {
            let folder = folder();
            let receiver = Receiver::start().await;
            receiver.set_default_response(CannedResponse::Silence);
            let mut certify = Program::start(certify_in(
                folder.path(),
                &receiver.url("/"),
                &["--timeout-seconds", "20"],
            ));
            receiver.wait_for(1).await;
            let printed = certify.printed();
            let (_, rest) = printed.split_once("API        http://").unwrap();
            let address = rest.lines().next().unwrap().trim().to_owned();
            assert!(std::net::TcpStream::connect(&address).is_ok());
            certify.signal(signal);
            assert!(!certify.ended().await);
            wait_until("the temporary service has ended", async || {
                std::net::TcpStream::connect(&address).is_err()
            })
            .await;
            if signal == "TERM" {
                assert!(certify.printed().contains("interrupted"), "{}", certify.printed());
                let left = std::fs::read_dir(folder.path().join("tmp")).unwrap().count();
                assert_eq!(left, 0);
            }
        }
    });
}

#[test]
fn key_is_issued_and_printed_if_none_is_given() {
    block_on(async {
        let presented = Arc::new(Mutex::new(HashSet::new()));
        let known = Arc::clone(&presented);
        let receiver = Receiver::start().await.keeps_connections();
        receiver.respond_with(move |seen| {
            let key = seen.header("authorization").unwrap_or_default().to_owned();
            known.lock().unwrap().insert(key);
            CannedResponse::Status(200)
        });
        let mut certify = command();
        certify.args(["certify", &receiver.url("/"), "--only", "life-cycle"]);
        let outcome = tokio::task::spawn_blocking(move || program_run(certify))
            .await
            .unwrap();
        assert!(outcome.success, "{}", outcome.err);
        let presented: Vec<String> = presented.lock().unwrap().iter().cloned().collect();
        let key = presented[0].strip_prefix("Bearer gsn_").unwrap();
        assert!(presented.len() == 1 && outcome.out.contains(&format!("API key    gsn_{key}\n")));
    });
}

#[test]
fn scenarios_are_listed_and_wrong_flags_are_refused() {
    let run = |args: &[&str]| {
        let mut certify = command();
        certify.arg("certify").args(args);
        program_run(certify)
    };
    let listed = run(&["--list"]);
    assert!(listed.success, "{}", listed.err);
    assert_eq!(listed.out.lines().count(), 31, "{}", listed.out);
    let one = run(&["--list", "--only", "restart"]);
    assert_eq!(one.out.lines().count(), 2);
    let url = "http://127.0.0.1:1/";
    for (args, word) in [
        (&[][..], "URL"),
        (&["ftp://127.0.0.1/"], "http"),
        (&[url, "--only", "nothing"], "there is no scenario nothing"),
        (&[url, "--key-file", "/nowhere"], "/nowhere cannot be read"),
        (&[url, "--secret-file", KEY_FILE], "a signing secret is whsec_"),
        (
            &[url, "--report", "/nowhere/report"],
            "/nowhere/report.md cannot be written",
        ),
        (&[url, "--profile", "both"], "receive"),
        (&[url, "--timeout-seconds", "0"], "timeout"),
    ] {
        let outcome = run(args);
        assert!(
            !outcome.success && outcome.err.contains(word),
            "{args:?}: {}",
            outcome.err
        );
    }
}

#[test]
fn address_of_the_api_that_is_in_use_is_named() {
    block_on(async {
        let receiver = Receiver::start().await;
        receiver.respond_with(good);
        let listen = receiver.addr.to_string();
        let folder = folder();
        let certify = certify_in(folder.path(), &receiver.url("/"), &["--listen", &listen]);
        let outcome = tokio::task::spawn_blocking(move || program_run(certify))
            .await
            .unwrap();
        assert!(
            !outcome.success && outcome.err.contains(&listen),
            "{}",
            outcome.err
        );
        assert_eq!(receiver.count(), 0);
    });
}

//! A call for consent is committed, but its client does not get the result: storage answered too late, or the client has
//! disconnected. One thread runs each case, so that a case knows when a job has been handed to its writer.

use super::expected_calls::answered;
use crate::support::{Backend, BusyWriter, PlatformWorld, disable_polling, fast_sim_settings};
use garson::flow::By;
use garson::flow::Fault;
use garson::flow::order_actions::act;
use garson_core::id::AccountId;
use garson_sim::Platform::Getir;
use garson_sim::views::Courier;
use serde_json::json;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Names a test for each case and engine.
macro_rules! on_one_thread {
    ($($case:ident)*) => {
        mod sqlite {
            $(#[test]
            fn $case() {
                super::run(super::$case(crate::support::Backend::Sqlite));
            })*
        }
        mod postgres {
            $(#[test]
            fn $case() {
                super::run(super::$case(crate::support::Backend::Postgres));
            })*
        }
    };
}

on_one_thread! {
    a_repeat_after_a_lost_answer_is_a_new_question
    the_question_of_a_client_that_disconnects_is_put
}

const CASE_TIMEOUT: Duration = Duration::from_secs(120);

fn run(case: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let ended = runtime.block_on(async { tokio::time::timeout(CASE_TIMEOUT, case).await });
    ended.expect("took too long");
    runtime.shutdown_timeout(Duration::from_secs(5));
}

/// Lets every other task run until it waits for something.
async fn let_others_run() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

async fn open(backend: Backend) -> (PlatformWorld, AccountId) {
    let world = PlatformWorld::open_with(backend, fast_sim_settings(), |settings| {
        disable_polling(settings);
        settings.storage.answer_seconds = 4;
    })
    .await;
    let account = world.service.first_account().await;
    (world, account)
}

async fn a_repeat_after_a_lost_answer_is_a_new_question(backend: Backend) {
    let (world, account) = open(backend).await;
    let app = &world.service.app;
    let placed = world.order(Getir, Courier::Restaurant).await;
    // The question and the second job wait while the first is run, so that they share a transaction.
    let first = BusyWriter::submit(app, account);
    first.begun().await;
    let verifying = tokio::spawn({
        let (app, id) = (Arc::clone(app), placed.id.clone());
        async move { act::verify(&app, By::system(account), id, None).await }
    });
    let_others_run().await;
    let second = BusyWriter::submit(app, account);
    let_others_run().await;
    first.end();
    let answer = verifying.await.unwrap();
    assert!(matches!(answer, Err(Fault::Store(_))), "{answer:?}");
    // Only now the question is committed.
    second.end();
    let repeated = world.verify(&placed).await;
    assert_eq!(repeated.data()["status"], json!(500));
    assert_eq!(world.service.count("calls WHERE state = 'abandoned'"), 1);
    assert_eq!(world.sent(&placed).await, answered(&["verify"]));
    assert_eq!(
        world.event_summary(&placed).await,
        ["created 400", "400>500 account"]
    );
}

async fn the_question_of_a_client_that_disconnects_is_put(backend: Backend) {
    let (world, account) = open(backend).await;
    let app = &world.service.app;
    let placed = world.order(Getir, Courier::Restaurant).await;
    let busy_writer = BusyWriter::submit(app, account);
    busy_writer.begun().await;
    let verifying = tokio::spawn({
        let (app, id) = (Arc::clone(app), placed.id.clone());
        async move { act::verify(&app, By::system(account), id, None).await }
    });
    let_others_run().await;
    verifying.abort();
    assert!(verifying.await.unwrap_err().is_cancelled());
    busy_writer.end();
    world.wait_for_status(&placed, 500).await;
    assert_eq!(world.sent(&placed).await, answered(&["verify"]));
}

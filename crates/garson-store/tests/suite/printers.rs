//! Printers of print agents, and the tickets that people want printed.

use crate::database::Bench;
use crate::fixtures::at;
use garson_core::id::{OrderId, PrintJobId, PrinterId, RestaurantId};
use garson_core::printer::{AgentNotes, PrintJob, Printer, PrinterReport, PrinterState};
use garson_store::tables::{printers, restaurants};
use uuid::Uuid;

pub fn a_printer(number: u128, restaurant: Option<RestaurantId>) -> Printer {
    Printer {
        id: PrinterId(Uuid::from_u128(number)),
        restaurant_id: restaurant,
        name: format!("Mutfak {number}"),
        state: PrinterState::Ready,
        notes: AgentNotes::default(),
        waiting: 0,
        created_at: at(0),
        seen_at: at(0),
        state_at: at(0),
    }
}

pub fn a_job(number: u128, printer: &Printer, order: OrderId, now: i64) -> PrintJob {
    PrintJob {
        id: PrintJobId(Uuid::from_u128(number)),
        printer_id: printer.id,
        order_id: order,
        kind: "kitchen".to_owned(),
        created_at: at(now),
    }
}

pub async fn a_report_changes_the_printer_and_removes_printed_jobs(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let (ours, theirs) = (branch.account, bench.account("pideci").await);
    let order = bench.orders(branch, "S", 1).await.remove(0).id;
    let printer = a_printer(1, Some(branch.restaurant));
    let id = printer.id;
    let (job, other) = (a_job(1, &printer, order, 5), a_job(2, &printer, order, 6));
    let (new, jobs) = (printer.clone(), [job.clone(), other.clone()]);
    bench
        .write(move |tx| {
            printers::add(tx, ours, &new)?;
            jobs.iter().try_for_each(|job| printers::add_job(tx, ours, job))
        })
        .await;
    let waiting = async |since: i64| bench.read(move |tx| printers::jobs(tx, id, at(since), 10)).await;
    assert_eq!(waiting(0).await, [job.clone(), other.clone()]);
    assert_eq!(waiting(6).await, std::slice::from_ref(&other));
    let report = PrinterReport {
        state: PrinterState::NoPaper,
        notes: AgentNotes {
            message: Some("kâğıt 🧻".to_owned()),
            ..AgentNotes::default()
        },
        waiting: 3,
        printed: vec![job.id],
    };
    bench
        .write(move |tx| printers::report(tx, id, &report, at(9)))
        .await;
    let found = bench.read(move |tx| printers::find(tx, ours, id)).await.unwrap();
    assert_eq!((found.state, found.waiting), (PrinterState::NoPaper, 3));
    assert_eq!((found.seen_at, found.state_at), (at(9), at(9)));
    assert_eq!(found.notes.message.as_deref(), Some("kâğıt 🧻"));
    assert_eq!(waiting(0).await, [other]);
    // The same state again keeps the time since which it is so.
    let same = PrinterReport {
        state: PrinterState::NoPaper,
        notes: AgentNotes::default(),
        waiting: 0,
        printed: Vec::new(),
    };
    bench
        .write(move |tx| printers::report(tx, id, &same, at(12)))
        .await;
    let found = bench.read(move |tx| printers::list(tx, ours)).await.remove(0);
    assert_eq!(
        (found.seen_at, found.state_at, found.notes),
        (at(12), at(9), AgentNotes::default())
    );
    // Another account sees and removes nothing of it.
    assert_eq!(bench.read(move |tx| printers::find(tx, theirs, id)).await, None);
    assert!(!bench.write(move |tx| printers::remove(tx, theirs, id)).await);
    assert!(bench.write(move |tx| printers::remove(tx, ours, id)).await);
    assert!(waiting(0).await.is_empty());
}

pub async fn notes_of_an_agent_are_read_back(bench: &Bench) {
    let account = bench.account("lokanta").await;
    let printer = a_printer(1, None);
    let id = printer.id;
    bench.write(move |tx| printers::add(tx, account, &printer)).await;
    let words = |text: &str| Some(text.to_owned());
    for (message, skipped, clock_ahead) in [
        (None, 3, Some(-10_800)),
        (words("{\"skipped\":7}"), 0, None),
        (
            words("{\"message\":null,\"skipped\":7,\"clockAhead\":1}"),
            0,
            None,
        ),
        (words("rulo \"80\""), 1, None),
        (words("rulo"), 0, None),
        (None, 0, None),
    ] {
        let notes = AgentNotes {
            message,
            skipped,
            clock_ahead,
        };
        let report = PrinterReport {
            state: PrinterState::Ready,
            notes: notes.clone(),
            waiting: 0,
            printed: Vec::new(),
        };
        bench
            .write(move |tx| printers::report(tx, id, &report, at(1)))
            .await;
        let found = bench
            .read(move |tx| printers::find(tx, account, id))
            .await
            .unwrap();
        assert_eq!(found.notes, notes);
    }
}

pub async fn printers_are_deleted_with_their_restaurant(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    let order = bench.orders(branch, "S", 1).await.remove(0).id;
    bench
        .write(move |tx| {
            let (own, common) = (a_printer(1, Some(branch.restaurant)), a_printer(2, None));
            printers::add(tx, account, &own)?;
            printers::add(tx, account, &common)?;
            printers::add_job(tx, account, &a_job(1, &own, order, 0))?;
            printers::add_job(tx, account, &a_job(2, &common, order, 0))?;
            restaurants::delete(tx, account, branch.restaurant, at(1)).map(drop)
        })
        .await;
    let left = bench.read(move |tx| printers::list(tx, account)).await;
    assert_eq!(left, [a_printer(2, None)]);
    let jobs = async |number| {
        let id = PrinterId(Uuid::from_u128(number));
        bench.read(move |tx| printers::count_jobs(tx, id, 10)).await
    };
    assert_eq!((jobs(1).await, jobs(2).await), (0, 1));
    // The jobs of its orders go with the orders.
    let sweep = async || {
        bench
            .write(move |tx| garson_store::upkeep::sweep::remove_chunk(tx, account, branch.restaurant, 10))
            .await
    };
    while sweep().await {}
    assert_eq!(jobs(2).await, 0);
}

pub async fn old_print_jobs_are_swept_in_chunks(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let account = branch.account;
    let order = bench.orders(branch, "S", 1).await.remove(0).id;
    bench
        .write(move |tx| {
            let printer = a_printer(1, None);
            printers::add(tx, account, &printer)?;
            (1..=5).try_for_each(|number| {
                let job = a_job(number, &printer, order, i64::try_from(number).unwrap());
                printers::add_job(tx, account, &job)
            })
        })
        .await;
    let sweep = async || bench.write(move |tx| printers::sweep(tx, at(4), 2)).await;
    assert_eq!((sweep().await, sweep().await, sweep().await), (2, 1, 0));
    let id = PrinterId(Uuid::from_u128(1));
    let kind_waits = async |kind: &'static str| {
        bench
            .read(move |tx| printers::is_waiting(tx, id, order, kind, at(0)))
            .await
    };
    assert!(kind_waits("kitchen").await);
    assert!(!kind_waits("courier").await);
}

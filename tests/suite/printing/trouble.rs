//! Printers in trouble: no paper, open cover, switched off, hanging, closing midway, saying nothing.

use super::setup::Kitchen;
use crate::support::{Backend, program_run, wait_until};

on_both! {
    missing_paper_is_reported_and_the_order_printed_afterwards
    ; sqlite_only:
    paper_that_ends_midway_does_not_repeat_the_ticket
    printer_that_was_off_prints_when_it_is_on
    connection_that_breaks_midway_is_printed_again_and_marked
    connection_that_is_reset_after_the_ticket_does_not_repeat_it
    hanging_printer_is_reported
    hanging_printer_is_noticed_by_a_restarted_agent
    printer_without_status_is_served
    printer_without_acknowledgement_is_served
    status_that_is_sent_unasked_acknowledges_nothing
    device_and_print_queue_are_served
}

async fn missing_paper_is_reported_and_the_order_printed_afterwards(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    let _agent = kitchen.agent(&[]).await;
    kitchen.wait_for_state("ready").await;
    kitchen.printer.behave(|it| it.has_paper = false);
    kitchen.order("KAGIT-1").await;
    kitchen.wait_for_state("no_paper").await;
    kitchen.printer.behave(|it| {
        it.has_paper = true;
        it.is_cover_open = true;
    });
    kitchen.wait_for_state("cover_open").await;
    assert_eq!(kitchen.printer.tickets().len(), 0);
    kitchen.printer.behave(|it| it.is_cover_open = false);
    kitchen.wait_for_tickets("KAGIT-1", 1).await;
    kitchen.wait_for_state("ready").await;
    kitchen.wait_until_idle().await;
    let tickets = kitchen.printer.tickets();
    assert_eq!(tickets.len(), 1);
    assert!(!tickets[0].text.contains("BASILMIŞ"), "{}", tickets[0].text);
}

async fn paper_that_ends_midway_does_not_repeat_the_ticket(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    let _agent = kitchen.agent(&[]).await;
    kitchen.printer.behave(|it| it.paper_ends_after = Some(30));
    kitchen.order("YARIDA-1").await;
    kitchen.wait_for_state("no_paper").await;
    kitchen.printer.behave(|it| it.has_paper = true);
    kitchen.wait_for_tickets("YARIDA-1", 1).await;
    kitchen.wait_until_idle().await;
    let tickets = kitchen.printer.tickets();
    assert_eq!(tickets.len(), 1);
    assert!(!tickets[0].text.contains("BASILMIŞ"), "{}", tickets[0].text);
}

async fn printer_that_was_off_prints_when_it_is_on(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    kitchen.printer.switch_off();
    let _agent = kitchen.agent(&[]).await;
    kitchen.wait_for_state("unreachable").await;
    kitchen.order("KAPALI-1").await;
    kitchen.order("KAPALI-2").await;
    kitchen.printer.switch_on().await;
    kitchen.wait_for_tickets("KAPALI-2", 1).await;
    kitchen.wait_until_idle().await;
    assert_eq!(kitchen.printer.tickets().len(), 2);
    kitchen.wait_for_state("ready").await;
}

async fn connection_that_breaks_midway_is_printed_again_and_marked(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    let _agent = kitchen.agent(&[]).await;
    kitchen.printer.behave(|it| it.closes_after = Some(120));
    kitchen.order("KOPTU-1").await;
    kitchen.wait_for_state("unreachable").await;
    kitchen.printer.behave(|it| it.closes_after = None);
    wait_until("a marked ticket", async || {
        let tickets = kitchen.printer.tickets();
        tickets
            .iter()
            .any(|ticket| ticket.text.contains("DAHA ÖNCE BASILMIŞ OLABİLİR"))
    })
    .await;
    kitchen.wait_until_idle().await;
    assert_eq!(kitchen.printer.tickets().len(), 1);
}

async fn connection_that_is_reset_after_the_ticket_does_not_repeat_it(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    kitchen.printer.behave(|it| it.resets_at_end = true);
    let agent = kitchen.agent(&[]).await;
    for number in 1..=2 {
        kitchen.order(&format!("RST-{number}")).await;
    }
    kitchen.wait_for_tickets("RST-2", 1).await;
    kitchen.wait_until_idle().await;
    assert_eq!(kitchen.printer.tickets().len(), 2);
    drop(agent);
    // One that acknowledges nothing could have lost the ticket: the first is repeated once and marked.
    kitchen.printer.behave(|it| it.acknowledges = false);
    let _agent = kitchen.agent(&[]).await;
    for number in 3..=5 {
        kitchen.order(&format!("RST-{number}")).await;
    }
    kitchen.wait_for_tickets("RST-5", 1).await;
    kitchen.wait_until_idle().await;
    let count = |number: u32| kitchen.printer.count(&format!("RST-{number}"));
    assert_eq!((count(3), count(4), count(5)), (2, 1, 1));
}

async fn hanging_printer_is_noticed_by_a_restarted_agent(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    let mut agent = kitchen.agent(&[]).await;
    kitchen.wait_for_state("ready").await;
    agent.kill();
    kitchen.printer.behave(|it| it.hangs = true);
    kitchen.order("ASILI-2").await;
    let _agent = kitchen.agent(&[]).await;
    kitchen.wait_for_state("offline").await;
    kitchen.printer.behave(|it| it.hangs = false);
    kitchen.wait_for_tickets("ASILI-2", 1).await;
    kitchen.wait_until_idle().await;
    assert_eq!(kitchen.printer.tickets().len(), 1);
}

async fn hanging_printer_is_reported(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    let _agent = kitchen.agent(&[]).await;
    kitchen.wait_for_state("ready").await;
    kitchen.printer.behave(|it| it.hangs = true);
    kitchen.order("ASILI-1").await;
    kitchen.wait_for_state("offline").await;
    kitchen.printer.behave(|it| it.hangs = false);
    kitchen.wait_for_tickets("ASILI-1", 1).await;
    kitchen.wait_until_idle().await;
    assert_eq!(kitchen.printer.tickets().len(), 1);
}

async fn printer_without_status_is_served(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    kitchen.printer.behave(|it| it.answers = false);
    let _agent = kitchen.agent(&[]).await;
    for number in 1..=3 {
        kitchen.order(&format!("SESSIZ-{number}")).await;
    }
    kitchen.wait_for_tickets("SESSIZ-3", 1).await;
    kitchen.wait_until_idle().await;
    assert_eq!(kitchen.printer.tickets().len(), 3);
}

async fn printer_without_acknowledgement_is_served(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    kitchen.printer.behave(|it| it.acknowledges = false);
    let _agent = kitchen.agent(&[]).await;
    for number in 1..=3 {
        kitchen.order(&format!("ONAYSIZ-{number}")).await;
    }
    kitchen.wait_for_tickets("ONAYSIZ-3", 1).await;
    kitchen.wait_until_idle().await;
    assert_eq!(kitchen.printer.tickets().len(), 3);
}

async fn status_that_is_sent_unasked_acknowledges_nothing(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    kitchen.printer.behave(|it| it.reports_unasked = true);
    let _agent = kitchen.agent(&[]).await;
    kitchen.order("ASB-1").await;
    kitchen.wait_for_tickets("ASB-1", 1).await;
    kitchen.wait_until_idle().await;
    kitchen.printer.behave(|it| it.paper_ends_after = Some(30));
    kitchen.order("ASB-2").await;
    kitchen.wait_for_state("no_paper").await;
    assert!(kitchen.state()["sending"].is_string());
    kitchen.printer.behave(|it| it.has_paper = true);
    kitchen.wait_for_tickets("ASB-2", 1).await;
    kitchen.wait_until_idle().await;
    let tickets = kitchen.printer.tickets();
    assert_eq!(tickets.len(), 2);
    assert!(!tickets[1].text.contains("BASILMIŞ"), "{}", tickets[1].text);
}

async fn device_and_print_queue_are_served(backend: Backend) {
    let kitchen = Kitchen::open(backend).await;
    let order = kitchen.order("AYGIT-1").await;
    let device = kitchen.file("lp0");
    std::fs::write(&device, b"").unwrap();
    let one = ["--order", order.as_str(), "--codepage", "ascii"];
    let printed = program_run(kitchen.agent_command(&device.display().to_string(), &one));
    assert!(printed.success, "{}", printed.err);
    let bytes = std::fs::read(&device).unwrap();
    assert!(
        bytes.starts_with(b"\x1b@") && bytes.ends_with(b"\x1dV\x42\0"),
        "{bytes:?}"
    );
    // A print service of our own, which keeps what it is given.
    let (lp, kept) = (kitchen.file("lp"), kitchen.file("kept"));
    std::fs::write(
        &lp,
        format!("#!/bin/sh\necho \"$@\" > {0}.args\ncat > {0}\n", kept.display()),
    )
    .unwrap();
    std::fs::set_permissions(&lp, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut queue = kitchen.agent_command("cups:Mutfak", &one);
    let folder = lp.parent().unwrap().display().to_string();
    queue.env(
        "PATH",
        format!("{folder}:{}", std::env::var("PATH").unwrap_or_default()),
    );
    let printed = program_run(queue);
    assert!(printed.success, "{}", printed.err);
    assert_eq!(std::fs::read(&kept).unwrap(), bytes);
    let arguments = std::fs::read_to_string(kept.with_extension("args")).unwrap();
    assert_eq!(arguments.trim(), "-d Mutfak -o raw -s");
    // A device that is not there is an error at once.
    let missing = program_run(kitchen.agent_command("/dev/garson-none", &one));
    assert!(
        !missing.success && missing.err.contains("unreachable"),
        "{}",
        missing.err
    );
}

//! Tickets in the browser: printing from card and order page, automatic printing from an open board, and tickets as PDF.

use super::setup::browser_tests;

browser_tests! {
    ticket_is_one_page_of_its_paper
    ticket_page_is_accessible
    print_links_print_without_leaving_the_page
    board_prints_each_new_order_once
    board_prints_when_an_order_is_accepted
    printer_trouble_appears_on_the_open_board
}

mod case {
    use super::super::setup::Setup;
    use crate::support::{Scheme, Screen, axe, wait_until};
    use base64::Engine as _;
    use garson_sim::Platform;
    use serde_json::json;

    /// From now on, pages remember what would be printed instead of printing it.
    async fn observe_printing(setup: &Setup) {
        let source = "window.print = () => {
            const all = JSON.parse(localStorage.getItem('test-printed') ?? '[]');
            localStorage.setItem('test-printed', JSON.stringify([...all, location.pathname + location.search]));
        }";
        let script = json!({ "source": source });
        setup
            .browser
            .command("Page.addScriptToEvaluateOnNewDocument", script)
            .await;
    }

    async fn printed(setup: &Setup) -> Vec<String> {
        let script = "return JSON.parse(localStorage.getItem('test-printed') ?? '[]')";
        let found = setup.browser.run(script, &[]).await;
        found
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it.as_str().unwrap().to_owned())
            .collect()
    }

    async fn wait_for_prints(setup: &Setup, count: usize) -> Vec<String> {
        wait_until(&format!("{count} prints"), async || {
            printed(setup).await.len() >= count
        })
        .await;
        let found = printed(setup).await;
        assert_eq!(found.len(), count, "{found:?}");
        found
    }

    async fn an_order(setup: &Setup) -> String {
        let (_, card) = setup.order(Platform::Getir).await;
        card.trim_start_matches("#o-").to_owned()
    }

    /// Width and height of the only page, in millimetres.
    async fn page_size(setup: &Setup) -> (f64, f64) {
        let pdf = setup
            .browser
            .command("Page.printToPDF", json!({ "preferCSSPageSize": true }))
            .await;
        let bytes = base64::engine::general_purpose::STANDARD.decode(pdf["data"].as_str().unwrap());
        let text = String::from_utf8_lossy(&bytes.unwrap()).into_owned();
        assert!(
            text.contains("/Count 1\n") || text.contains("/Count 1>") || text.contains("/Count 1 "),
            "pages"
        );
        let (_, rest) = text.split_once("/MediaBox [").unwrap();
        let numbers: Vec<f64> = rest
            .split(']')
            .next()
            .unwrap()
            .split_whitespace()
            .map(|number| number.parse().unwrap())
            .collect();
        (numbers[2] * 25.4 / 72.0, numbers[3] * 25.4 / 72.0)
    }

    pub async fn ticket_is_one_page_of_its_paper(setup: Setup) {
        let id = an_order(&setup).await;
        for kind in ["kitchen", "courier", "customer"] {
            for (width, wanted) in [("58", 58.0), ("80", 80.0), ("a4", 210.0)] {
                setup
                    .browser
                    .go(&format!("/orders/{id}/ticket?kind={kind}&width={width}"))
                    .await;
                setup.browser.wait_for_text(".print-now", "Yazdır").await;
                let (across, down) = page_size(&setup).await;
                assert!((across - wanted).abs() < 1.0, "{kind} {width}: {across}");
                if width == "a4" {
                    assert!((down - 297.0).abs() < 1.0, "{down}");
                } else {
                    // The paper ends soon after the ticket.
                    let script =
                        "return document.querySelector('.ticket').getBoundingClientRect().height * 25.4 / 96";
                    let height = setup.browser.run(script, &[]).await.as_f64().unwrap();
                    assert!(
                        down >= height - 1.0 && down < height + 15.0,
                        "{kind} {width}: {down} for {height}"
                    );
                }
            }
        }
    }

    pub async fn ticket_page_is_accessible(setup: Setup) {
        let id = an_order(&setup).await;
        axe::prepare(&setup.browser).await;
        for (screen, scheme) in [(Screen::Phone, Scheme::Light), (Screen::Desk, Scheme::Dark)] {
            setup.browser.resize(screen).await;
            setup.browser.prefer(scheme).await;
            for kind in ["kitchen", "courier", "customer"] {
                setup
                    .browser
                    .go(&format!("/orders/{id}/ticket?kind={kind}&width=80"))
                    .await;
                let found = axe::violations(&setup.browser).await;
                assert!(found.is_empty(), "{kind}: {}", found.join("\n"));
                setup.browser.picture(&format!("ticket-{kind}-{screen:?}")).await;
            }
        }
    }

    pub async fn print_links_print_without_leaving_the_page(setup: Setup) {
        observe_printing(&setup).await;
        let id = an_order(&setup).await;
        setup.open_board().await;
        setup.browser.click(&format!("#o-{id} a[data-print]")).await;
        wait_for_prints(&setup, 1).await;
        setup.browser.go(&format!("/orders/{id}")).await;
        setup.browser.click("a[data-print][href$='kind=courier']").await;
        let found = wait_for_prints(&setup, 2).await;
        assert_eq!(
            found,
            [
                format!("/orders/{id}/ticket"),
                format!("/orders/{id}/ticket?kind=courier")
            ]
        );
        assert_eq!(setup.browser.path().await, format!("/orders/{id}"));
    }

    async fn switch_on(setup: &Setup, when: &str) {
        setup.browser.click("#board-menu > summary").await;
        setup.browser.click("#auto-print > summary").await;
        setup.browser.choose("#auto-print [name=when]", when).await;
        setup
            .browser
            .wait_for_text("#auto-print summary .tag", "Hazır")
            .await;
    }

    pub async fn board_prints_each_new_order_once(setup: Setup) {
        observe_printing(&setup).await;
        an_order(&setup).await;
        setup.open_board().await;
        switch_on(&setup, "new").await;
        let first = an_order(&setup).await;
        let found = wait_for_prints(&setup, 1).await;
        assert_eq!(found, [format!("/orders/{first}/ticket?kind=kitchen&width=80")]);
        // What arrives while the page is loaded again is printed afterwards, and the others are not printed again.
        setup.browser.go("/status").await;
        let second = an_order(&setup).await;
        setup.browser.resize(Screen::Tablet).await;
        setup.open_board().await;
        let found = wait_for_prints(&setup, 2).await;
        assert_eq!(found[1], format!("/orders/{second}/ticket?kind=kitchen&width=80"));
        let third = an_order(&setup).await;
        let found = wait_for_prints(&setup, 3).await;
        assert!(found[2].contains(&third), "{found:?}");
    }

    pub async fn board_prints_when_an_order_is_accepted(setup: Setup) {
        observe_printing(&setup).await;
        setup.open_board().await;
        switch_on(&setup, "preparing").await;
        setup.browser.choose("#auto-print [name=paper]", "58").await;
        let (placed, card) = setup.order(Platform::Trendyol).await;
        setup.browser.wait_for_text(&card, "").await;
        assert!(printed(&setup).await.is_empty());
        setup.world.verify(&placed).await.data();
        let found = wait_for_prints(&setup, 1).await;
        let id = card.trim_start_matches("#o-");
        assert_eq!(found, [format!("/orders/{id}/ticket?kind=kitchen&width=58")]);
    }

    pub async fn printer_trouble_appears_on_the_open_board(setup: Setup) {
        let api = &setup.world.service.a;
        setup.open_board().await;
        let made = api.post("/printers", &json!({ "name": "Mutfak" })).await.data();
        let path = format!("/printers/{}/report", made["id"].as_str().unwrap());
        api.post(&path, &json!({ "state": "no_paper" })).await.data();
        // Without waiting for the next look.
        setup.browser.run("loadPrinterNotice()", &[]).await;
        setup
            .browser
            .wait_for_text("#printers", "Mutfak: Kâğıt bitti")
            .await;
        api.post(&path, &json!({ "state": "ready" })).await.data();
        setup.browser.run("loadPrinterNotice()", &[]).await;
        let script = "return document.getElementById('printers').innerText === ''";
        setup.browser.becomes("the notice is gone", script, &[]).await;
    }
}

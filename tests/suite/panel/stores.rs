//! The pages of a restaurant's stores: state, throttle, opening hours and history.

use crate::stores::setup::{put, read_all, shop, wait_for_store};
use crate::support::{Backend, PanelUser, PlatformWorld, wait_until};
use garson_sim::Platform;
use garson_sim::views::Fault;
use serde_json::json;

on_both! {
    board_is_told_of_every_change_of_a_store
    page_shows_what_is_wanted_and_what_is
    hours_are_saved_written_and_compared
    history_says_who_changed_what
    store_page_is_told_of_every_change
    ; sqlite_only:
    throttle_is_saved_and_mistakes_are_marked
    mistakes_in_hours_keep_what_was_typed
    strip_lists_only_restaurants_that_are_not_open
    change_without_a_platform_is_refused
}

fn page(world: &PlatformWorld, part: &str) -> String {
    format!("/restaurants/{}/store{part}", world.restaurant)
}

async fn open_world(backend: Backend) -> (PlatformWorld, PanelUser) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let user = world.service.user().await;
    read_all(&world);
    for platform in Platform::ALL {
        wait_for_store(&world, platform, "is open", |it| it["state"] == json!("open")).await;
    }
    (world, user)
}

async fn board_is_told_of_every_change_of_a_store(backend: Backend) {
    let (world, mut user) = open_world(backend).await;
    for path in ["/".to_owned(), format!("/?restaurant={}", world.restaurant)] {
        let board = user.open(&path).await;
        assert!(
            board.within("store-state", "div").has("Trendyol Go açık"),
            "{}",
            board.text()
        );
        let mut stream = user.follow_board(&board).await;
        let mut wait_for = async |text: &str| loop {
            let told = stream.next().await.unwrap();
            if told.event == "stores" && told.data.contains(text) {
                return told.data;
            }
        };
        put(
            &world,
            json!({ "state": "closed", "reason": "<Fırın>", "providers": ["trendyol"] }),
        )
        .await;
        let told = wait_for("kapalı").await;
        assert!(!told.contains("<Fırın>"), "{told}");
        // The form of the strip works.
        let reply = crate::support::Page {
            path: String::new(),
            status: 200,
            headers: Vec::new(),
            html: told,
        };
        let form = reply.form("/board/stores");
        let after = user.submit_part(&form, &[("do", "open")]).await;
        assert!(after.has("Trendyol Go açık"), "{}", after.text());
        wait_for("<b>Trendyol Go</b> açık").await;
        assert!(shop(&world, Platform::Trendyol).await.open);
    }
    // Nobody else's board has it.
    let mut stranger = world.service.user_of("second@example.com").await;
    let board = stranger.open("/").await;
    assert!(
        !board.has("Duraklat") && !board.html.contains("store-state"),
        "{}",
        board.text()
    );
}

async fn page_shows_what_is_wanted_and_what_is(backend: Backend) {
    let (world, mut user) = open_world(backend).await;
    put(
        &world,
        json!({ "state": "closed", "minutes": 20, "reason": "Fırın bozuldu", "providers": ["trendyol"] }),
    )
    .await;
    let shown = user.open(&page(&world, "")).await;
    let card = shown.within("s-trendyol", "section");
    for text in [
        "kapalı",
        "kadar",
        "Fırın bozuldu",
        "siz (panel ya da API)",
        "Garson",
        "Yeniden aç",
    ] {
        assert!(card.has(text), "{text}: {}", card.text());
    }
    assert!(shown.within("s-getir", "section").has("açık"));
    // Two different things.
    assert!(shown.has("Bağlantıyı kapatmak başka bir şeydir"));
    let form = card.form("/board/stores");
    let after = user.submit(&form, &[("do", "open")]).await;
    assert_eq!(
        (after.status, after.path.as_str()),
        (200, page(&world, "").as_str())
    );
    assert!(after.has("Trendyol Go: tamam."), "{}", after.text());
    assert!(shop(&world, Platform::Trendyol).await.open);
    // A switched off integration says what that means.
    let path = format!("/restaurants/{}/integrations/trendyol", world.restaurant);
    world.a.put(&path, &json!({ "isActive": false })).await.data();
    let shown = user.open(&page(&world, "")).await;
    let card = shown.within("s-trendyol", "section");
    assert!(
        card.has("Bağlantı kapalı") && !card.has("Yeniden aç"),
        "{}",
        card.text()
    );
}

async fn hours_are_saved_written_and_compared(backend: Backend) {
    let (world, mut user) = open_world(backend).await;
    let path = page(&world, "/hours");
    let form = user.open(&path).await.form(&path);
    let monday = [
        ("d0.opens0", "11:00"),
        ("d0.closes0", "15:00"),
        ("d0.opens1", "18:00"),
        ("d0.closes1", "02:00"),
        ("s0.date", "2099-01-01"),
        ("s0.name", "Yılbaşı"),
    ];
    let copied = user
        .submit(&form, &[&monday[..], &[("do", "copy")]].concat())
        .await;
    assert!(copied.has("tüm günlere kopyalandı"), "{}", copied.text());
    assert_eq!(copied.form(&path).value("d6.closes1"), "02:00");
    let hours = format!("/restaurants/{}/hours", world.restaurant);
    assert_eq!(
        world.a.get(&hours).await.data()["timezone"],
        json!(null),
        "not saved yet"
    );
    // One span a day, which every platform can hold.
    let one = [("d0.opens1", ""), ("d0.closes1", ""), ("do", "copy")];
    let copied = user.submit(&copied.form(&path), &one).await;
    let refusal = Fault::Status {
        status: 400,
        body: Some(json!({ "message": "saat kilitli", "error": "saat kilitli" })),
    };
    world
        .fault(Platform::Trendyol, "working-hours", refusal, Some(1))
        .await;
    let saved = user.submit(&copied.form(&path), &[("do", "save")]).await;
    assert!(saved.has("Çalışma saatleri kaydedildi"), "{}", saved.text());
    let stored = world.a.get(&hours).await.data();
    assert_eq!(stored["weekly"].as_array().unwrap().len(), 7, "{stored:#}");
    assert_eq!(stored["special"][0]["name"], json!("Yılbaşı"));
    // The platform's words, and what it has instead.
    let mut looking = user.clone();
    let mut shown = saved;
    wait_until("the difference is shown", async || {
        shown = looking.open(&path).await;
        shown.has("saat kilitli") && shown.has("10:00–23:00")
    })
    .await;
    assert!(shown.has("11:00–15:00"), "{}", shown.text());
    let after = user.submit(&shown.form(&format!("{path}/write")), &[]).await;
    assert!(after.has("Saatler platformlara gönderildi"), "{}", after.text());
    // Getir's hours may be written and read twice a minute: it is not waited for.
    wait_until("Trendyol has the hours", async || {
        shown = looking.open(&path).await;
        !shown.has("saat kilitli") && !shown.has("10:00–23:00")
    })
    .await;
    let theirs = shop(&world, Platform::Trendyol).await.hours;
    assert!(
        theirs.iter().all(|line| line.opens.starts_with("11:00")),
        "{theirs:?}"
    );
}

async fn history_says_who_changed_what(backend: Backend) {
    let (world, mut user) = open_world(backend).await;
    put(
        &world,
        json!({ "state": "closed", "minutes": 30, "providers": ["migros"] }),
    )
    .await;
    let board = user.open(&page(&world, "")).await;
    let form = board.within("s-migros", "section").form("/board/stores");
    user.submit(&form, &[("do", "open")]).await;
    let shown = user.open(&page(&world, "/history")).await;
    for text in [
        "API anahtarı (İlk anahtar)",
        "Panel",
        "Migros Yemek",
        "İstendi: kapalı",
        "İstendi: açık",
        "Platforma iletildi: açık, tamam",
        "kadar",
    ] {
        assert!(shown.has(text), "{text}: {}", shown.text());
    }
    // In pages.
    for _ in 0..16 {
        for state in ["closed", "open"] {
            put(&world, json!({ "state": state, "providers": ["trendyol"] })).await;
        }
    }
    let first = user.open(&page(&world, "/history")).await;
    let older = first.links().into_iter().find(|link| link.contains("cursor="));
    let second = user.open(&older.unwrap()).await;
    assert!(
        second.has("Migros Yemek") && !first.has("Migros Yemek"),
        "{}",
        first.text()
    );
}

async fn throttle_is_saved_and_mistakes_are_marked(backend: Backend) {
    let (world, mut user) = open_world(backend).await;
    let action = page(&world, "/throttle");
    let form = user.open(&page(&world, "")).await.form(&action);
    let wrong = [("enabled", "on"), ("busyAbove", "20"), ("closeAbove", "10")];
    let marked = user.submit(&form, &wrong).await;
    assert_eq!(marked.status, 422);
    assert!(
        marked.has("21 ile 500 arasında bir tam sayı olmalı"),
        "{}",
        marked.text()
    );
    assert_eq!(marked.form(&action).value("busyAbove"), "20");
    let right = [
        ("enabled", "on"),
        ("countBy", "recent_orders"),
        ("busyAbove", "10"),
        ("closeAbove", "20"),
    ];
    let saved = user.submit(&form, &right).await;
    assert!(
        saved.has("Otomatik yoğunluk ayarı kaydedildi"),
        "{}",
        saved.text()
    );
    let path = format!("/restaurants/{}/throttle", world.restaurant);
    let stored = world.a.get(&path).await.data();
    assert_eq!(
        (&stored["countBy"], &stored["busyAbove"], &stored["closeDownTo"]),
        (&json!("recent_orders"), &json!(10), &json!(16))
    );
    let off = saved.form(&action);
    let body = off.forged("enabled", None);
    user.send("POST", &action, &[], &body).await;
    assert_eq!(world.a.get(&path).await.data()["enabled"], json!(false));
    let history = user.open(&page(&world, "/history")).await;
    assert!(
        history.has("Otomatik yoğunluk ayarı kapatıldı"),
        "{}",
        history.text()
    );
}

async fn mistakes_in_hours_keep_what_was_typed(backend: Backend) {
    let (world, mut user) = open_world(backend).await;
    let path = page(&world, "/hours");
    let form = user.open(&path).await.form(&path);
    let typed = [
        ("d2.opens0", "10:00"),
        ("d2.closes0", "14:00"),
        ("d2.opens1", "13:00"),
        ("d2.closes1", "20:00"),
        ("s0.date", "2099-02-01"),
        ("do", "save"),
    ];
    let shown = user.submit(&form, &typed).await;
    assert_eq!(shown.status, 422);
    assert!(shown.has("İki aralık çakışıyor"), "{}", shown.text());
    let again = shown.form(&path);
    assert_eq!(
        (again.value("d2.opens1"), again.value("s0.date")),
        ("13:00", "2099-02-01")
    );
    let half = user.submit(&again, &[("d2.opens1", ""), ("do", "save")]).await;
    assert!(
        half.has("Çarşamba: Açılış ve kapanış birlikte girilmeli"),
        "{}",
        half.text()
    );
    assert!(half.html.contains("aria-invalid=\"true\""));
    // More rows for special days, with what was typed.
    let more = user.submit(&again, &[("do", "rows")]).await;
    assert_eq!(more.form(&path).value("s10.date"), "");
    assert_eq!(more.form(&path).value("s0.date"), "2099-02-01");
}

async fn strip_lists_only_restaurants_that_are_not_open(backend: Backend) {
    let (world, mut user) = open_world(backend).await;
    let made = world
        .a
        .post("/restaurants", &json!({ "name": "Kadıköy" }))
        .await
        .data();
    let other = made["id"].as_str().unwrap();
    let path = format!("/restaurants/{other}/integrations/trendyol");
    let mut credentials = crate::support::credentials(Platform::Trendyol);
    credentials["inboundHeaders"] = json!(credentials["inboundHeaders"].to_string());
    let body = json!({ "isActive": true, "remoteId": "2738:999", "credentials": credentials });
    world.a.put(&path, &body).await.success();
    let board = user.open("/").await;
    let strip = board.within("store-state", "div");
    // The new one is not known yet.
    assert!(strip.has("Kadıköy") && !strip.has("Moda"), "{}", strip.text());
    assert!(strip.has("durumu bilinmiyor"), "{}", strip.text());
    // With a filter, the platforms of one restaurant.
    let board = user.open(&format!("/?restaurant={}", world.restaurant)).await;
    let strip = board.within("store-state", "div");
    assert!(
        strip.has("Getir") && strip.has("Migros Yemek") && !strip.has("Kadıköy"),
        "{}",
        strip.text()
    );
    // A restaurant has to be chosen.
    let board = user.open("/").await;
    let form = board.within("pause", "details").form("/board/stores");
    let after = user.submit(&form, &[("restaurant", ""), ("do", "close")]).await;
    assert!(after.has("Önce restoranı seçin"), "{}", after.text());
    let chosen = [("restaurant", world.restaurant.as_str()), ("do", "close:15")];
    let after = user.submit(&form, &chosen).await;
    assert!(after.has("tamam"), "{}", after.text());
    for platform in Platform::ALL {
        assert!(!shop(&world, platform).await.open, "{platform}");
    }
    assert!(after.within("store-state", "div").has("Moda"));
}

async fn change_without_a_platform_is_refused(backend: Backend) {
    let (world, mut user) = open_world(backend).await;
    let board = user.open("/").await;
    let form = board.within("pause", "details").form("/board/stores");
    let body = form.forged("platform", None) + "&do=close";
    let reply = user
        .send("POST", "/board/stores", &[("x-part", "stores")], &body)
        .await;
    assert_eq!(reply.status, 422);
    assert!(
        reply.text().contains("En az bir platform seçin."),
        "{}",
        reply.text()
    );
    for wrong in ["close:0", "close:99999999", "sell", "busy:x"] {
        let body = form.body(&[]) + "&do=" + wrong;
        let reply = user
            .send("POST", "/board/stores", &[("x-part", "stores")], &body)
            .await;
        assert_eq!(reply.status, 422, "{wrong}");
    }
    for platform in Platform::ALL {
        assert!(shop(&world, platform).await.open, "{platform}");
    }
}

async fn store_page_is_told_of_every_change(backend: Backend) {
    let (world, mut user) = open_world(backend).await;
    let shown = user.open(&page(&world, "")).await;
    assert!(shown.has("kendiliğinden güncellenmez"), "said without script");
    let mut stream = user.follow_board(&shown).await;
    let first = stream.next().await.unwrap();
    assert!(first.data.contains("store-cards") && first.data.contains("throttle-level"));
    put(&world, json!({ "state": "closed", "providers": ["trendyol"] })).await;
    loop {
        let told = stream.next().await.unwrap();
        assert_eq!(told.event, "parts");
        if told.data.contains(">kapalı<") {
            break;
        }
    }
    let stream_path = format!("{}/stream", page(&world, ""));
    let other = world.service.user_of("second@example.com").await;
    assert_eq!(other.stream_refused(&stream_path).await.status, 404);
}

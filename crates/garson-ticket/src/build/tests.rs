use super::*;
use crate::options::{Copy, Lang, Width};
use crate::render::{escpos, html, text};
use garson_core::money::Minor;
use garson_core::order::{Address, Item, ItemOption, Order, OrderContent, Status};
use garson_core::platform::Provider;
use garson_core::testing::{a_new_order, an_order};
use garson_core::time::{Timestamp, Zone};

fn order() -> (Order, OrderContent) {
    let (mut order, mut content) = (an_order("S-1"), a_new_order("S-1").content);
    order.provider = Provider::new("getir");
    content.note = Some("Fıstık alerjim var, lütfen dikkat".to_owned());
    content.items.push(Item {
        id: None,
        product_id: None,
        name: "Künefe".to_owned(),
        quantity: 1,
        unit_price: Minor(12_000),
        total: Minor(12_000),
        note: Some("fıstıksız\x1b@".to_owned()),
        options: vec![ItemOption {
            group: None,
            name: "Kaymak".to_owned(),
            quantity: 1,
            price: Minor::ZERO,
            removed: true,
            options: Vec::new(),
        }],
    });
    content.customer.phone = Some("0850 000 00 00".to_owned());
    content.customer.phone_code = Some("1234".to_owned());
    content.customer.address = Some(Address {
        text: Some("Moda Cad. 12".to_owned()),
        district: Some("Kadıköy".to_owned()),
        floor: Some("3".to_owned()),
        directions: Some("Fırının yanı".to_owned()),
        lat: Some(40.98),
        lon: Some(29.02),
        ..Address::default()
    });
    (order, content)
}

fn ticket(kind: Kind, width: Width, lang: Lang, copy: Option<Copy>) -> Ticket {
    let (order, content) = order();
    ticket_of(
        &order,
        &content,
        Options {
            kind,
            width,
            lang,
            copy,
        },
    )
}

fn ticket_of(order: &Order, content: &OrderContent, options: Options) -> Ticket {
    let source = Source {
        order,
        content,
        restaurant: "Şişli Köftecisi",
        restaurant_address: None,
        platform: "Getir",
        zone: &Zone::istanbul(),
        now: Timestamp::from_millis(60_000),
    };
    build(&source, options)
}

#[test]
fn the_kitchen_sees_items_options_and_notes() {
    let text = text::render(&ticket(Kind::Kitchen, Width::Mm58, Lang::Tr, None));
    let wanted = "\
Getir                      02:00
              A12
        Şişli Köftecisi
--------------------------------
Restoran kuryesi
--------------------------------
2 x Adana dürüm 🌯
  İçecek: Ayran
1 x Künefe
  Kaymak – OLMASIN
  Not: FISTIKSIZ @
--------------------------------
SİPARİŞ NOTU: FISTIK ALERJİM
  var, lütfen dikkat
--------------------------------
3 ürün
--------------------------------
   Geliş 02:00 · Basım 02:01
";
    assert_eq!(text, wanted);
}

#[test]
fn the_courier_sees_the_address_and_what_to_collect() {
    let text = text::render(&ticket(Kind::Courier, Width::Mm80, Lang::Tr, None));
    for part in [
        "Ayşe Çağlar",
        "Telefon: 0850 000 00 00 (dahili 1234)",
        "Moda Cad. 12, Kadıköy",
        "Kat: 3",
        "Tarif: Fırının yanı",
        "Nakit tahsil et 400 ₺",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let english = text::render(&ticket(Kind::Courier, Width::Mm80, Lang::En, None));
    assert!(english.contains("Collect ₺400 · Cash"), "{english}");
}

#[test]
fn the_customer_sees_prices_and_payment_but_no_address() {
    let text = text::render(&ticket(Kind::Customer, Width::Mm80, Lang::Tr, None));
    for part in [
        "Şişli Köftecisi",
        "2 x Adana dürüm 🌯",
        "375,00\n",
        "İçecek: Ayran (+15,00)",
        "Teslimat ücreti",
        "400,00 ₺\n",
        "Ödeme: Nakit",
        "mali değeri yoktur",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("Moda"));
}

#[test]
fn a_paid_order_has_nothing_to_collect() {
    let (order, mut content) = order();
    content.payment.collect = Minor::ZERO;
    let options = Options {
        kind: Kind::Courier,
        width: Width::Mm58,
        lang: Lang::Tr,
        copy: None,
    };
    let text = text::render(&ticket_of(&order, &content, options));
    assert!(text.contains("ÖDENDİ – tahsilat yok"), "{text}");
}

#[test]
fn cancelled_orders_and_copies_are_marked() {
    let (mut order, content) = order();
    order.status = Status::Cancelled;
    let options = Options {
        kind: Kind::Kitchen,
        width: Width::Mm58,
        lang: Lang::Tr,
        copy: Some(Copy::Requested),
    };
    let printed = text::render(&ticket_of(&order, &content, options));
    assert!(
        printed.contains("İPTAL EDİLDİ") && printed.contains("TEKRAR BASKI"),
        "{printed}"
    );
    let uncertain = text::render(&ticket(
        Kind::Kitchen,
        Width::Mm58,
        Lang::En,
        Some(Copy::Uncertain),
    ));
    assert!(uncertain.contains("MAY BE PRINTED"), "{uncertain}");
}

#[test]
fn html_escapes_what_customers_write() {
    let (order, mut content) = order();
    content.note = Some("<script>alert('x')</script> \"&".to_owned());
    let options = Options {
        kind: Kind::Kitchen,
        width: Width::Mm80,
        lang: Lang::Tr,
        copy: None,
    };
    let page = html::render(
        &ticket_of(&order, &content, options),
        &html::Surroundings::default(),
    );
    assert!(
        page.html
            .contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &quot;&amp;")
    );
    assert!(!page.html.contains("<script"));
    assert!(page.html.contains("<mark>fıstıksız</mark>"));
}

#[test]
fn every_ticket_can_be_rendered_in_every_format() {
    for kind in Kind::ALL {
        for width in Width::ALL {
            for lang in Lang::ALL {
                let ticket = ticket(*kind, *width, *lang, None);
                assert!(text::render(&ticket).lines().count() > 5);
                assert!(escpos::render(&ticket, crate::code_page::CodePage::default()).len() > 200);
                let page = html::render(&ticket, &html::Surroundings::default());
                assert!(page.html.contains(&page.style));
            }
        }
    }
}

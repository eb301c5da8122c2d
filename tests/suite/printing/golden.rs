//! Tickets as the printer prints them, compared with stored pictures. `GARSON_TEST_RECORD=1` stores them anew.

use crate::support::{PrintedTicket, SocketPrinter, block_on, image::Image, wait_until};
use garson_core::money::Minor;
use garson_core::order::{Address, FulfilmentFlags, Item, ItemOption};
use garson_core::sample_order::{a_new_order, an_order};
use garson_core::time::{Timestamp, Zone};
use garson_ticket::code_page::{CharacterSet, CodePage};
use garson_ticket::render::escpos;
use garson_ticket::{Copy, Kind, Lang, Options, Source, Width, build};
use std::path::PathBuf;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

const EVERY_LETTER: &str = "ğĞıİşŞçÇöÖüÜ âîé Pijamalı hasta yağız şoföre çabucak güvendi";

/// An order with everything that a ticket can show.
fn ticket(kind: Kind, width: Width, lang: Lang, copy: Option<Copy>, set: CharacterSet) -> Vec<u8> {
    let at = |minutes: i64| Timestamp::from_millis(1_772_355_600_000 + minutes * 60_000);
    let (mut order, mut content) = (an_order("948123456789"), a_new_order("948123456789").content);
    order.created_at = at(0);
    order.placed_at = at(-1);
    content.note = Some(format!("Fıstık alerjim var! {EVERY_LETTER}"));
    content.fulfilment.promised_at = Some(at(45));
    content.fulfilment.flags = FulfilmentFlags {
        do_not_ring: true,
        drop_at_door: true,
        no_cutlery: true,
    };
    content.items.push(Item {
        id: None,
        product_id: None,
        name: "Közlenmiş patlıcanlı, bol cevizli ve çok uzun adlı özel gözleme".to_owned(),
        quantity: 3,
        unit_price: Minor(12_050),
        total: Minor(36_150),
        note: Some("sütsüz, acısız".to_owned()),
        options: vec![ItemOption {
            group: Some("Çıkarılacak".to_owned()),
            name: "Soğan".to_owned(),
            quantity: 1,
            price: Minor::ZERO,
            removed: true,
            options: Vec::new(),
        }],
    });
    content.customer.phone = Some("0850 111 22 33".to_owned());
    content.customer.phone_code = Some("4567".to_owned());
    content.customer.address = Some(Address {
        text: Some("Caferağa Mah. Moda Cad. No 12".to_owned()),
        district: Some("Kadıköy".to_owned()),
        floor: Some("3".to_owned()),
        door: Some("7".to_owned()),
        directions: Some("Fırının karşısı, yeşil kapı".to_owned()),
        lat: Some(40.985),
        lon: Some(29.025),
        ..Address::default()
    });
    let source = Source {
        order: &order,
        content: &content,
        restaurant: "Şişli Köftecisi",
        restaurant_address: Some("Halaskargazi Cad. 1, Şişli"),
        platform: "Yemeksepeti",
        zone: &Zone::istanbul(),
        now: at(1),
    };
    let options = Options {
        kind,
        width,
        lang,
        copy,
    };
    escpos::render(&build(&source, options), CodePage::of(set))
}

/// Prints over the network.
async fn printed(columns: usize, bytes: Vec<u8>) -> PrintedTicket {
    let printer = SocketPrinter::start(columns).await;
    let mut stream = TcpStream::connect(printer.addr).await.unwrap();
    stream.write_all(&bytes).await.unwrap();
    wait_until("the ticket is printed", async || printer.tickets().len() == 1).await;
    printer.tickets().remove(0)
}

/// Prints and compares the picture.
async fn compare(name: &str, columns: usize, bytes: Vec<u8>) {
    let printed = printed(columns, bytes).await.image;
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("suite/printing/golden/{name}.png"));
    if std::env::var_os("GARSON_TEST_RECORD").is_some() {
        printed.write(&path);
        return;
    }
    if Image::read(&path).as_ref() != Some(&printed) {
        let shown = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../target/tickets/{name}.png"));
        printed.write(&shown);
        panic!(
            "{} is not what was printed: see {}",
            path.display(),
            shown.display()
        );
    }
}

macro_rules! golden {
    ($($name:ident: $kind:ident $width:ident $lang:ident $copy:expr, $set:ident;)*) => {$(
        #[test]
        fn $name() {
            let bytes = ticket(Kind::$kind, Width::$width, Lang::$lang, $copy, CharacterSet::$set);
            block_on(compare(stringify!($name), Width::$width.columns(), bytes));
        }
    )*};
}

golden! {
    kitchen_80: Kitchen Mm80 Tr None, Pc857;
    kitchen_58: Kitchen Mm58 Tr None, Pc857;
    kitchen_80_windows: Kitchen Mm80 Tr None, Wpc1254;
    kitchen_58_ascii: Kitchen Mm58 Tr Some(Copy::Requested), Ascii;
    courier_80: Courier Mm80 Tr None, Pc857;
    courier_58: Courier Mm58 Tr Some(Copy::Uncertain), Pc857;
    customer_80: Customer Mm80 Tr None, Pc857;
    customer_58_english: Customer Mm58 En None, Pc857;
}

#[test]
fn a_picture_is_read_as_it_was_written() {
    let mut image = Image::new(13);
    image.add_rows(3);
    image.set(0, 0, true);
    image.set(12, 2, true);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("picture.png");
    image.write(&path);
    assert_eq!(Image::read(&path), Some(image));
}

#[test]
fn courier_ticket_has_one_code_that_leads_to_the_address() {
    let bytes = ticket(Kind::Courier, Width::Mm80, Lang::Tr, None, CharacterSet::Pc857);
    block_on(async {
        let codes = printed(Width::Mm80.columns(), bytes).await.codes;
        assert_eq!(codes.len(), 1, "{codes:?}");
        assert!(
            codes[0].contains("40.985") && codes[0].contains("29.025"),
            "{codes:?}"
        );
    });
}

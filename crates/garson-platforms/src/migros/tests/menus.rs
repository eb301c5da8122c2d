//! The way to a menu.

use super::answers::spellings;
use super::*;
use garson_core::menu::Menu;
use garson_core::platform::MenuStep;

const STORE: &str = include_str!("../fixtures/store-detail.json");
const MENU: &str = include_str!("../fixtures/menu.json");

fn menu(answers: &[HttpResponse]) -> Result<MenuStep, PlatformError> {
    let credentials = credentials();
    Migros.menu(&link(&credentials), answers)
}

fn read_menu(body: &str) -> Result<Menu, PlatformError> {
    menu(&[response(200, STORE), response(200, body)]).map(|step| match step {
        MenuStep::Menu(menu) => menu,
        MenuStep::Ask(request) => unreachable!("{} is asked", request.url),
    })
}

#[test]
fn the_menu_takes_two_questions() {
    let asked = |answers: &[HttpResponse]| match menu(answers) {
        Ok(MenuStep::Ask(request)) => request,
        other => unreachable!("{other:?}"),
    };
    let first = asked(&[]);
    assert_eq!(
        (first.method, first.url),
        ("GET", format!("{BASE}/Store/GetStoreDetail"))
    );
    for answer in spellings(STORE) {
        let second = asked(&[response(200, &answer)]);
        let url = format!("{BASE}/Menu/GetMenuDetailsByStoreAndStoreGroupId");
        assert_eq!((second.method, second.url), ("POST", url));
        let sealed: Value = serde_json::from_slice(&second.body.unwrap()).unwrap();
        let body = key().open(sealed["value"].as_str().unwrap()).unwrap();
        assert_eq!(body, br#"{"storeId": 20417, "storeGroupId": 318}"#);
    }
    for answer in spellings(MENU) {
        let menu = read_menu(&answer).unwrap();
        let categories: Vec<_> = menu
            .categories
            .iter()
            .map(|c| {
                (
                    c.id.as_str(),
                    c.name.as_str(),
                    c.position,
                    c.is_available,
                    c.products.len(),
                )
            })
            .collect();
        assert_eq!(
            categories,
            [("61", "Dürümler", 0, true, 2), ("62", "Tatlılar", 1, false, 1)]
        );
        let [adana, urfa] = &menu.categories[0].products[..] else {
            unreachable!("two products");
        };
        assert_eq!(
            (adana.id.as_str(), adana.name.as_str(), adana.price.0),
            ("7001", "Adana Dürüm 🌯", 18_000)
        );
        assert_eq!(adana.description.as_deref(), Some("Közlenmiş biber ile"));
        assert_eq!(
            (adana.is_available, urfa.is_available, urfa.price.0),
            (true, false, 18_050)
        );
        assert_eq!(urfa.description, None);
    }
}

#[test]
fn a_menu_with_fractions_counts_in_liras() {
    let price = "/data/menuHeaderInfos/0/foodMenuItemDetailsDTOs/0/defaultPrimaryPrice";
    let prices = |value: Value| {
        read_menu(&with(MENU, price, Some(value))).map(|menu| {
            let products = menu.categories.iter().flat_map(|c| &c.products);
            products.map(|p| p.price.0).collect::<Vec<_>>()
        })
    };
    assert_eq!(prices(json!(179.9)), Ok(vec![17_990, 1_805_000, 950_000]));
    assert_eq!(prices(json!(179.0)), Ok(vec![17_900, 1_805_000, 950_000]));
    assert_eq!(prices(json!(null)), Ok(vec![18_000, 18_050, 9_500]));
    let broken = prices(json!("çok")).map_err(|error| error.to_string());
    assert!(broken.is_err_and(|words| words.contains("price of product 7001")));
}

/// No menu's dearest product costs two and a half liras.
#[test]
fn a_menu_of_small_whole_numbers_counts_in_liras() {
    let mut menu: Value = serde_json::from_str(MENU).unwrap();
    let headers = menu["data"]["menuHeaderInfos"].as_array_mut().unwrap();
    let items = headers
        .iter_mut()
        .flat_map(|header| header["foodMenuItemDetailsDTOs"].as_array_mut().unwrap());
    for (item, price) in items.zip([169, 250, 95]) {
        item["defaultPrimaryPrice"] = json!(price);
    }
    let menu = read_menu(&menu.to_string()).unwrap();
    let products = menu.categories.iter().flat_map(|category| &category.products);
    let prices: Vec<_> = products.map(|product| product.price.0).collect();
    assert_eq!(prices, [16_900, 25_000, 9_500]);
}

#[test]
fn trouble_on_the_way_to_a_menu_is_handed_on() {
    let answered = |answers: &[HttpResponse]| match menu(answers) {
        Err(PlatformError::Answered(trouble)) => trouble,
        other => unreachable!("{other:?}"),
    };
    for refusal in [
        vec![response(200, REFUSAL)],
        vec![response(200, STORE), response(403, REFUSAL)],
    ] {
        assert!(matches!(
            answered(&refusal),
            CallError::Refused { .. } | CallError::RetryableRefusal { .. }
        ));
    }
    for away in [
        response(503, ""),
        response(429, ""),
        response(200, "{}"),
        response(200, "<"),
    ] {
        assert!(matches!(answered(&[away]), CallError::Later { .. }));
    }
    let groupless = with(STORE, "/data/storeGroupId", Some(json!("")));
    assert!(matches!(
        answered(&[response(200, &groupless)]),
        CallError::Later { .. }
    ));
}

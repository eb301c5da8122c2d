//! The way to a menu, and the menu.

use super::*;
use garson_core::menu::{Menu, OptionGroup};
use garson_core::platform::MenuStep;

fn step(answers: &[HttpResponse]) -> Result<MenuStep, PlatformError> {
    Trendyol.menu(&link(&credentials()), answers)
}

fn menu(body: &str) -> Menu {
    match step(&[response(200, body)]) {
        Ok(MenuStep::Menu(menu)) => menu,
        _ => Menu::default(),
    }
}

fn written(groups: &[OptionGroup]) -> String {
    let option = |o: &garson_core::menu::MenuOption| {
        let sign = if o.is_available { "" } else { "-" };
        format!("{sign}{}:{}{}", o.name, o.price.0, written(&o.option_groups))
    };
    let group = |g: &OptionGroup| {
        let options: Vec<_> = g.options.iter().map(option).collect();
        format!("[{} {}-{} {}]", g.name, g.min, g.max, options.join(" "))
    };
    groups.iter().map(group).collect()
}

#[test]
fn one_question_leads_to_it() {
    let url = match step(&[]) {
        Ok(MenuStep::Ask(request)) => request.url,
        _ => String::new(),
    };
    assert_eq!(
        url,
        format!("{BASE}/integrator/product/meal/suppliers/107703/stores/3311/products")
    );
}

#[test]
fn flat_lists_become_a_tree() {
    let menu = menu(MENU);
    let categories: Vec<_> = menu
        .categories
        .iter()
        .map(|c| (c.id.as_str(), c.name.as_str(), c.position, c.is_available))
        .collect();
    assert_eq!(
        categories,
        [("901", "Dürümler", 1, true), ("İçecekler", "İçecekler", 2, false)]
    );
    let products: Vec<_> = menu
        .categories
        .iter()
        .flat_map(|category| &category.products)
        .map(|p| {
            (
                p.id.as_str(),
                p.price.0,
                p.is_available,
                written(&p.option_groups),
            )
        })
        .collect();
    let within = "[İçecek 1-1 Ayran:2000][Yanında 0-2 Ayran:2500 -Ezme:750]";
    assert_eq!(
        products,
        [
            ("1", 18_050, true, within.to_owned()),
            (
                "2",
                25_000,
                false,
                format!("[Dürüm seçimi 1-1 Adana dürüm:0{within}]")
            ),
            ("3", 2_500, true, String::new()),
        ]
    );
}

#[test]
fn products_that_name_themselves_come_to_an_end() {
    let places: Vec<_> = (0..30).map(|_| json!({ "id": 1 })).collect();
    let body = json!({
        "sections": [{ "name": "a", "products": [{ "id": 1 }] }],
        "products": [{ "id": 1, "name": "x", "modifierGroups": [{ "id": 1 }] }],
        "modifierGroups": [{ "id": 1, "modifierProducts": places }],
    });
    let menu = menu(&body.to_string());
    let count = written(&menu.categories[0].products[0].option_groups)
        .matches(':')
        .count();
    assert!((30..100_000).contains(&count), "{count}");
}

#[test]
fn trouble_is_handed_on() {
    let trouble = |status, body| match step(&[response(status, body)]) {
        Err(PlatformError::Answered(trouble)) => Some(trouble.to_string()),
        _ => None,
    };
    assert_eq!(
        trouble(401, r#"{"message":"hayır"}"#).as_deref(),
        Some("answered 401: hayır")
    );
    assert_eq!(
        trouble(200, r#"{"products":[{"id":1,"name":"x","sellingPrice":"y"}]}"#).as_deref(),
        Some("the answer's products[0].sellingPrice must be an amount, such as 12.50")
    );
    assert!(trouble(503, "").is_some());
    assert_eq!(menu("{}"), Menu::default());
}

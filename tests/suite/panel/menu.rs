//! The menu of a restaurant on a platform.

use crate::support::{Backend, PlatformWorld};
use garson_sim::Platform;
use garson_sim::views::Fault;

on_both! {
    the_menu_of_every_platform_that_has_one_is_shown
    ; sqlite_only:
    a_menu_that_cannot_be_read_says_why
}

async fn the_menu_of_every_platform_that_has_one_is_shown(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let mut user = world.service.user().await;
    let own = format!("/restaurants/{}/menu", world.restaurant);
    for provider in world.a.get("/providers").await.data().as_array().unwrap() {
        let key = provider["key"].as_str().unwrap();
        let page = user.open(&format!("{own}?platform={key}")).await;
        assert_eq!(page.status, 200);
        let offers = page.links().contains(&format!("{own}?platform={key}"));
        assert_eq!(offers, provider["menu"] == true, "{key}");
        if provider["menu"] != true {
            continue;
        }
        let path = format!("/providers/{key}/menus?restaurantId={}", world.restaurant);
        let menu = world.a.get(&path).await.data();
        let categories = menu["categories"].as_array().unwrap();
        assert!(!categories.is_empty());
        for category in categories {
            assert!(page.has(category["name"].as_str().unwrap()), "{key}: {category}");
            for product in category["products"].as_array().unwrap() {
                assert!(page.has(product["name"].as_str().unwrap()), "{key}: {product}");
                for group in product["optionGroups"].as_array().unwrap() {
                    assert!(page.has(group["name"].as_str().unwrap()), "{key}: {group}");
                }
            }
        }
        assert!(page.has("₺"), "{key}");
    }
}

async fn a_menu_that_cannot_be_read_says_why(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let mut user = world.service.user().await;
    let refusal = Fault::Status {
        status: 500,
        body: None,
    };
    world.fault(Platform::Migros, "*", refusal, None).await;
    let path = format!("/restaurants/{}/menu?platform=migros", world.restaurant);
    let page = user.open(&path).await;
    assert_eq!(page.status, 200);
    assert!(page.has("Menü okunamadı."), "{}", page.text());
    world.control.clear_faults().await.unwrap();
    assert!(!user.open(&path).await.has("Menü okunamadı."));
}

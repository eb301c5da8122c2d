//! What the cases of this folder share.

use crate::support::{Backend, PlatformWorld, disable_polling, fast_sim_settings, remote_id, wait_until};
use garson::config::Settings;
use garson_sim::Platform;
use garson_sim::Platform::{Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{ItemRequest, ShopRequest};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

/// The platforms whose menus can be read.
pub const WITH_MENU: [Platform; 3] = [Getir, Migros, Trendyol];

/// A restaurant with a dish that all platforms have.
pub struct ProductWorld {
    pub world: PlatformWorld,
    /// The dish's id on each platform.
    pub dish: BTreeMap<String, String>,
    /// Its product here.
    pub product: String,
}

pub const DISH: &str = "Sınama Kebabı";

impl Deref for ProductWorld {
    type Target = PlatformWorld;

    fn deref(&self) -> &PlatformWorld {
        &self.world
    }
}

impl DerefMut for ProductWorld {
    fn deref_mut(&mut self) -> &mut PlatformWorld {
        &mut self.world
    }
}

impl ProductWorld {
    pub async fn open(backend: Backend) -> Self {
        Self::open_with(backend, |_| {}).await
    }

    /// With other settings of the service.
    pub async fn open_with(backend: Backend, change: impl FnOnce(&mut Settings)) -> Self {
        let change = |settings: &mut Settings| {
            disable_polling(settings);
            change(settings);
        };
        let world = PlatformWorld::open_with(backend, fast_sim_settings(), change).await;
        let mut dish = BTreeMap::new();
        for platform in Platform::ALL {
            let id = first_product(&world, platform).await;
            let named = ItemRequest {
                name: Some(format!("{DISH} (1 porsiyon)")),
                price: Some(20_000),
                ..ItemRequest::default()
            };
            if platform != Yemeksepeti {
                let remote = remote_id(platform);
                world
                    .control
                    .change_item(platform, remote, &id, &named)
                    .await
                    .unwrap();
            }
            dish.insert(platform.to_string(), id);
        }
        let mut world = Self {
            world,
            dish,
            product: String::new(),
        };
        world.read_menus().await;
        world.product = world.find(DISH).await["id"].as_str().unwrap().to_owned();
        // The menu of this platform cannot be read.
        let link = format!("/products/{}/links/yemeksepeti", world.product);
        let body = json!({ "itemId": world.dish["yemeksepeti"] });
        world.put(&link, &body).await.data();
        world
    }

    pub fn path(&self, path: &str) -> String {
        format!("/restaurants/{}{path}", self.restaurant)
    }

    pub async fn get(&self, path: &str) -> crate::support::Reply {
        self.a.get(&self.path(path)).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> crate::support::Reply {
        self.a.put(&self.path(path), body).await
    }

    /// Has all menus read, and waits until they are, as far as limits allow.
    pub async fn read_menus(&self) -> Value {
        self.read_menus_of(&Platform::ALL).await
    }

    /// Waits only for these platforms: Getir's menu may be read twice a minute.
    pub async fn read_menus_of(&self, platforms: &[Platform]) -> Value {
        self.a.post(&self.path("/menus/read"), &json!({})).await.data();
        wait_until("the menus are read", async || {
            let states = by_provider(&self.get("/menus").await.data());
            platforms
                .iter()
                .all(|it| states[&it.to_string()]["isDue"] == json!(false))
        })
        .await;
        self.get("/menus").await.data()
    }

    /// The only product whose name contains these words.
    pub async fn find(&self, words: &str) -> Value {
        let words = words.replace(' ', "%20");
        let path = format!("/products?search={words}&kind=product");
        let found = self.get(&path).await.data();
        assert_eq!(found.as_array().unwrap().len(), 1, "{found:#}");
        found[0].clone()
    }

    /// Switches the dish; returns the result of each platform.
    pub async fn switch(&self, body: &Value) -> BTreeMap<String, Value> {
        let path = format!("/products/{}/availability", self.product);
        let results = self.put(&path, body).await.data();
        by_provider(&results["results"])
    }

    /// The last requested availability of the dish on each platform.
    pub async fn wanted(&self) -> BTreeMap<String, Value> {
        let product = self.get(&format!("/products/{}", self.product)).await.data();
        by_provider(&product["platforms"])
    }

    /// Whether the dish can be ordered, as the platform has it.
    pub async fn is_available(&self, platform: Platform) -> bool {
        let shop = self.control.shop(platform, remote_id(platform)).await.unwrap();
        let id = &self.dish[&platform.to_string()];
        let changed = shop.items.iter().find(|item| item.id == *id);
        changed.is_none_or(|item| item.available)
    }

    pub async fn wait_until_available(&self, platform: Platform, is_available: bool) {
        let what = format!("the dish is available on {platform}: {is_available}");
        wait_until(&what, async || {
            self.wake();
            self.is_available(platform).await == is_available
        })
        .await;
    }

    pub fn wake(&self) {
        self.service.app.product_work.availability.notify_one();
        self.service.app.product_work.menus.notify_one();
        self.service.app.product_work.prices.notify_one();
        self.service.app.product_work.catalogs.notify_one();
    }

    pub async fn change_shop(&self, platform: Platform, change: ShopRequest) {
        let remote = remote_id(platform);
        self.control.change_shop(platform, remote, &change).await.unwrap();
    }

    /// How many calls of an operation a platform has had.
    pub async fn calls(&self, platform: Platform, operation: &str) -> u64 {
        let counts = self.control.counts(Some(platform)).await.unwrap();
        let found = counts.iter().find(|count| count.operation == operation);
        found.map_or(0, |count| count.calls)
    }

    /// The names of the events that the account has.
    pub async fn events(&self) -> Vec<String> {
        let events = self.a.get("/events").await.data();
        let name = |event: &Value| {
            event["body"]["olay"]
                .as_str()
                .or(event["olay"].as_str())
                .map(str::to_owned)
        };
        events.as_array().unwrap().iter().filter_map(name).collect()
    }
}

async fn first_product(world: &PlatformWorld, platform: Platform) -> String {
    let items = world.control.items(platform, remote_id(platform)).await.unwrap();
    items.into_iter().find(|item| !item.is_option).unwrap().id
}

pub fn by_provider(list: &Value) -> BTreeMap<String, Value> {
    let entry = |it: &Value| (it["provider"].as_str().unwrap().to_owned(), it.clone());
    list.as_array().unwrap().iter().map(entry).collect()
}

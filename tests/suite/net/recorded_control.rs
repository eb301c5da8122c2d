//! The requests about a platform's store, hours, items and prices, which are made in steps.

use super::recorded_side::{Side, now};
use garson_core::catalog::CatalogPush;
use garson_core::explanation::PlatformTask;
use garson_core::item::{Availability, ItemChange, ItemRef, UnavailableEnd};
use garson_core::menu::Menu;
use garson_core::money::Minor;
use garson_core::opening_hours::{Span, TimeOfDay, Week};
use garson_core::platform::{HttpRequest, HttpResponse, Link, PlatformError, Step};
use garson_core::price_change::{NewPrice, PriceChange};
use garson_core::store_status::{ClosingEnd, ReasonCode, StoreChange, StoreState, StoreTarget};
use std::time::Duration;

/// What a platform may offer besides orders.
const TASKS: [PlatformTask; 12] = [
    PlatformTask::ReadStore,
    PlatformTask::ChangeStore,
    PlatformTask::BusyMode,
    PlatformTask::ReadHours,
    PlatformTask::WriteHours,
    PlatformTask::ChangeItems,
    PlatformTask::ChangeOptions,
    PlatformTask::ReadItem,
    PlatformTask::ChangePrices,
    PlatformTask::ChangeOptionPrices,
    PlatformTask::ReadPrices,
    PlatformTask::PushCatalog,
];

/// A platform's store for these requests.
pub struct ControlledStore<'a> {
    /// What the platform answers to a request: a beginning of the path, and a body. Anything else is answered with the last one.
    pub answers: &'a [(&'a str, &'a str)],
    pub product: ItemRef,
    pub option: ItemRef,
}

impl ControlledStore<'_> {
    fn answer(&self, side: &Side, request: &HttpRequest) -> HttpResponse {
        let path = request.url.strip_prefix(&side.base).unwrap_or(&request.url);
        let call = format!("{} {path}", request.method);
        let found = self.answers.iter().find(|(start, _)| call.contains(start));
        let (_, body) = found.or(self.answers.last()).unwrap();
        HttpResponse {
            status: 200,
            body: body.as_bytes().to_vec(),
        }
    }
}

impl Side {
    /// Does something in steps and records those of its requests that are not recorded yet: `name`, `name-2` and so on.
    fn steps<T>(
        &mut self,
        task: PlatformTask,
        name: &str,
        store: &ControlledStore<'_>,
        step: impl Fn(&Link<'_>, &[HttpResponse]) -> Result<Step<T>, PlatformError>,
    ) {
        if !self.platform.offers(task, &self.credentials) {
            return;
        }
        self.tasks.push(task);
        let (mut answers, mut recorded) = (Vec::new(), 0);
        while let Step::Ask(request) = step(&self.link(), &answers).unwrap() {
            answers.push(store.answer(self, &request));
            if self.requests.iter().any(|(_, known)| is_same(known, &request)) {
                continue;
            }
            recorded += 1;
            let name = match recorded {
                1 => name.to_owned(),
                number => format!("{name}-{number}"),
            };
            self.add(&name, request);
        }
    }

    /// Everything that is not about orders.
    pub fn control(&mut self, store: &ControlledStore<'_>) {
        self.store_requests(store);
        self.hours_requests(store);
        self.item_requests(store);
        self.price_requests(store);
        let (platform, menu) = (self.platform, Menu::default());
        let push = CatalogPush {
            menu: &menu,
            callback_url: Some("https://garson.example/hooks/catalog"),
        };
        self.steps(PlatformTask::PushCatalog, "catalog", store, |link, answers| {
            platform.push_catalog(&push, link, answers)
        });
    }

    fn store_requests(&mut self, store: &ControlledStore<'_>) {
        let platform = self.platform;
        self.steps(PlatformTask::ReadStore, "store-read", store, |link, answers| {
            platform.read_store(link, answers)
        });
        let closed = |end| StoreTarget::Closed {
            end,
            reason: Some(ReasonCode::KitchenBusy),
        };
        let minutes = |minutes: u64| ClosingEnd::At(now().plus(Duration::from_secs(minutes * 60)));
        let tomorrow = now().plus(Duration::from_secs(16 * 3_600));
        let (open, busy) = (StoreTarget::Open, StoreTarget::Busy { minutes: 30 });
        let (change, in_busy_mode) = (PlatformTask::ChangeStore, PlatformTask::BusyMode);
        for (task, name, to, busy_is_set) in [
            (change, "store-close", closed(ClosingEnd::Never), false),
            (change, "store-close-20-minutes", closed(minutes(20)), false),
            (change, "store-close-30-minutes", closed(minutes(30)), false),
            (change, "store-close-60-minutes", closed(minutes(60)), false),
            (
                change,
                "store-close-until-opening",
                closed(ClosingEnd::NextOpening(Some(tomorrow))),
                false,
            ),
            (change, "store-open", open, false),
            (in_busy_mode, "store-busy", busy, false),
            (in_busy_mode, "store-busy-end", open, true),
        ] {
            let change = StoreChange {
                to,
                from: StoreState::Open,
                busy_is_set,
                now: now(),
            };
            self.steps(task, name, store, |link, answers| {
                platform.change_store(&change, link, answers)
            });
        }
    }

    /// The rest of opening a store that is not active, which is answered otherwise.
    pub fn open_inactive(&mut self, store: &ControlledStore<'_>) {
        let platform = self.platform;
        let change = StoreChange {
            to: StoreTarget::Open,
            from: StoreState::Closed,
            busy_is_set: false,
            now: now(),
        };
        self.steps(
            PlatformTask::ChangeStore,
            "store-activate",
            store,
            |link, answers| platform.change_store(&change, link, answers),
        );
    }

    fn hours_requests(&mut self, store: &ControlledStore<'_>) {
        let platform = self.platform;
        self.steps(PlatformTask::ReadHours, "hours-read", store, |link, answers| {
            platform.read_hours(link, answers)
        });
        let time = |text| TimeOfDay::parse(text).unwrap();
        let week = Week::daily(Span::new(time("11:00"), time("01:30")));
        self.steps(PlatformTask::WriteHours, "hours-write", store, |link, answers| {
            platform.write_hours(&week, link, answers)
        });
    }

    fn item_requests(&mut self, store: &ControlledStore<'_>) {
        let platform = self.platform;
        let off = |end| Availability::Unavailable { end };
        let evening = now().plus(Duration::from_secs(5 * 3_600));
        for (name, to) in [
            ("off", off(UnavailableEnd::Never)),
            ("off-until", off(UnavailableEnd::At(evening))),
            ("off-today", off(UnavailableEnd::EndOfDay(evening))),
            ("on", Availability::Available),
        ] {
            for (task, kind, item) in [
                (PlatformTask::ChangeItems, "product", &store.product),
                (PlatformTask::ChangeOptions, "option", &store.option),
            ] {
                let change = ItemChange {
                    items: vec![item.clone()],
                    to,
                    now: now(),
                };
                self.steps(task, &format!("{kind}-{name}"), store, |link, answers| {
                    platform.change_items(&change, link, answers)
                });
            }
        }
        self.steps(PlatformTask::ReadItem, "product-read", store, |link, answers| {
            platform.read_item(&store.product, link, answers)
        });
    }

    fn price_requests(&mut self, store: &ControlledStore<'_>) {
        let platform = self.platform;
        let Some(support) = platform.capability().prices else {
            return;
        };
        for (task, name, item) in [
            (PlatformTask::ChangePrices, "price", &store.product),
            (PlatformTask::ChangeOptionPrices, "option-price", &store.option),
        ] {
            let change = PriceChange {
                prices: vec![NewPrice {
                    id: item.id().to_owned(),
                    is_option: item.is_option(),
                    price: Minor(18_990),
                }],
                scope: support.scope,
                reference: "018f3c1e-7b1a-7c3e-8d2a-1b2c3d4e5f60".to_owned(),
                now: now(),
            };
            self.steps(task, name, store, |link, answers| {
                platform.change_prices(&change, link, answers)
            });
        }
        self.steps(PlatformTask::ReadPrices, "price-read", store, |link, answers| {
            platform.read_prices("batch-1", link, answers)
        });
    }

    /// Everything that the platform offers besides orders is among the requests.
    pub fn is_controlled(&self) {
        for task in TASKS {
            let is_offered = self.platform.capability().has(task);
            let provider = self.platform.provider();
            assert_eq!(self.tasks.contains(&task), is_offered, "{provider} {task:?}");
        }
    }
}

fn is_same(one: &HttpRequest, other: &HttpRequest) -> bool {
    (one.method, &one.url, &one.body) == (other.method, &other.url, &other.body)
}

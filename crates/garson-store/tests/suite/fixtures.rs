//! What cases need to have anything to store: accounts, branches, and orders taken the way the service takes them.

use crate::database::Bench;
use garson_core::account::{Account, AuthorizationForm, Webhook};
use garson_core::event::order_body;
use garson_core::id::{AccountId, BusinessId, EventId, IntegrationId, OrderId, RestaurantId};
use garson_core::integration::{BranchClaim, Credentials, Health, Integration};
use garson_core::order::{NewOrder, Order, OrderOwner, place};
use garson_core::platform::Provider;
use garson_core::restaurant::{Restaurant, RestaurantFields};
use garson_core::testing::a_new_order;
use garson_core::time::Timestamp;
use garson_store::tables::events::NewEvent;
use garson_store::tables::{accounts, events, integrations, orders, restaurants};
use garson_store::vault::lookup_hash;
use garson_store::{Result, Tx, Vault, totals};
use uuid::Uuid;

pub const DIRECT: Provider = Provider::new("direct");
pub const GETIR: Provider = Provider::new("getir");

/// Some moment, so many milliseconds after the start of 2026.
pub const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_767_225_600_000 + millis)
}

/// A restaurant with the integration through which its orders come.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    pub account: AccountId,
    pub restaurant: RestaurantId,
    pub integration: IntegrationId,
}

impl Branch {
    pub fn home(&self) -> OrderOwner {
        self.home_on(DIRECT)
    }

    /// The same, as if its orders came from another platform.
    pub fn home_on(&self, provider: Provider) -> OrderOwner {
        OrderOwner {
            account_id: self.account,
            restaurant_id: self.restaurant,
            integration_id: self.integration,
            provider,
        }
    }
}

pub fn create_account(tx: &mut Tx<'_>, name: &str) -> Result<AccountId> {
    let account = Account {
        id: AccountId(Uuid::now_v7()),
        name: name.to_owned(),
        email: format!("{name}@example.com"),
        created_at: at(0),
    };
    assert!(accounts::create(tx, &account)?);
    Ok(account.id)
}

pub fn a_restaurant(fields: RestaurantFields) -> Restaurant {
    Restaurant {
        id: RestaurantId(Uuid::now_v7()),
        fields,
        created_at: at(0),
        updated_at: at(0),
        integrations: Vec::new(),
        packages: Vec::new(),
    }
}

pub fn an_integration(account: AccountId, restaurant: RestaurantId, provider: Provider) -> Integration {
    Integration {
        id: IntegrationId(Uuid::now_v7()),
        account_id: account,
        restaurant_id: restaurant,
        provider,
        is_active: true,
        remote_id: None,
        branch: BranchClaim::default(),
        has_credentials: false,
        default_cancel_reason: None,
        health: Health::default(),
        created_at: at(0),
        updated_at: at(0),
    }
}

pub fn create_branch(
    tx: &mut Tx<'_>,
    vault: &Vault,
    account: AccountId,
    business_id: Option<BusinessId>,
) -> Result<Branch> {
    let restaurant = a_restaurant(RestaurantFields {
        business_id,
        name: "Şube".to_owned(),
        ..RestaurantFields::default()
    });
    restaurants::save(tx, vault, account, &restaurant)?;
    let integration = an_integration(account, restaurant.id, DIRECT);
    integrations::save(tx, vault, &integration, &Credentials::new(), None)?;
    Ok(Branch {
        account,
        restaurant: restaurant.id,
        integration: integration.id,
    })
}

impl Bench {
    pub async fn account(&self, name: &'static str) -> AccountId {
        self.write(move |tx| create_account(tx, name)).await
    }

    pub async fn branch_of(&self, account: AccountId) -> Branch {
        let vault = self.vault.clone();
        self.write(move |tx| create_branch(tx, &vault, account, None))
            .await
    }

    /// A new account with one branch.
    pub async fn branch(&self, name: &'static str) -> Branch {
        let account = self.account(name).await;
        self.branch_of(account).await
    }

    /// From now on the account's events have somewhere to go.
    pub async fn give_webhook(&self, account: AccountId) {
        self.write(move |tx| {
            let webhook = Webhook {
                url: "https://pos.example.com/olay".to_owned(),
                authorization: AuthorizationForm::Bare,
                updated_at: at(0),
            };
            accounts::set_webhook(tx, account, Some(&webhook))
        })
        .await;
    }

    /// Takes an order and answers when it is durable.
    pub async fn order(&self, branch: Branch, id: impl Into<String>, now: Timestamp) -> Order {
        let id = id.into();
        self.engine
            .write(branch.account, move |tx| {
                take_order(tx, branch, &a_new_order(&id), now)
            })
            .await
            .unwrap()
    }

    /// Takes so many orders in one transaction, a millisecond apart, and says their places.
    pub async fn orders(&self, branch: Branch, prefix: &'static str, count: i64) -> Vec<Order> {
        self.write(move |tx| {
            (0..count)
                .map(|n| take_order(tx, branch, &a_new_order(&format!("{prefix}-{n}")), at(n)))
                .collect()
        })
        .await
    }
}

/// Takes an order in: its row, content, timeline, event, delivery and share of the totals.
pub fn take_order(tx: &mut Tx<'_>, branch: Branch, new: &NewOrder, now: Timestamp) -> Result<Order> {
    take_order_from(tx, branch, DIRECT, new, now)
}

/// The same from another platform.
pub fn take_order_from(
    tx: &mut Tx<'_>,
    branch: Branch,
    provider: Provider,
    new: &NewOrder,
    now: Timestamp,
) -> Result<Order> {
    let mut places = accounts::reserve_positions(tx, branch.account, 2, now)?;
    let decision = place(
        OrderId(Uuid::now_v7()),
        branch.home_on(provider),
        new,
        places.at,
        false,
        false,
    );
    let order = decision.order;
    let content = serde_json::to_string(&new.content).unwrap();
    let hash = lookup_hash(content.as_bytes());
    assert!(orders::insert(tx, &order, &content, &hash, places.take())?);
    orders::add_timeline(tx, order.id, 1, &decision.timeline)?;
    for event in &decision.events {
        let id = EventId(Uuid::now_v7());
        let body = order_body(id, &order, event, places.at);
        let event = NewEvent {
            id,
            account_id: branch.account,
            restaurant_id: branch.restaurant,
            order_id: Some(order.id),
            sequence: Some(event.sequence),
            name: event.kind.name(),
            body: &body,
        };
        events::write(tx, &event, &mut places)?;
    }
    totals::add_order(tx, &order)?;
    Ok(order)
}

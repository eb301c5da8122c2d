//! Failed events that are written directly to the database: the backlog of a receiver that was unavailable for long.

use super::{Backend, TestStorage};
use garson_core::account::{AuthorizationForm, Webhook};
use garson_core::clock::{Clock, SystemClock};
use garson_core::id::{AccountId, EventId, RestaurantId};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_store::tables::events::NewEvent;
use garson_store::tables::{accounts, events};
use garson_store::{Engine, Location, Options, StoreError};
use uuid::Uuid;

/// Rows in one transaction.
const CHUNK: usize = 500;

impl TestStorage {
    /// Where a program's data is.
    pub fn location(&self) -> Location {
        match self.backend {
            Backend::Sqlite => Location::Sqlite(self.data().join("garson.db")),
            Backend::Postgres => Location::Postgres(Secret::new(self.database_url())),
        }
    }

    /// Inserts this many failed events of an account, and a webhook for them.
    pub async fn insert_failed_events(&self, email: &str, count: usize, url: String) {
        // The real time: old events are removed.
        let now = SystemClock.now();
        let engine = Engine::open(&self.location(), &Options::default()).unwrap();
        let email = email.to_owned();
        let account = engine
            .read(move |tx| accounts::by_email(tx, &email))
            .await
            .unwrap()
            .unwrap()
            .id;
        write_failed_events(&engine, account, RestaurantId(Uuid::now_v7()), count, now).await;
        let webhook = Webhook {
            url,
            authorization: AuthorizationForm::Bearer,
            updated_at: now,
        };
        engine
            .write(account, move |tx| {
                accounts::set_webhook(tx, account, Some(&webhook))
            })
            .await
            .unwrap();
    }
}

/// Writes failed events of an account that has no webhook yet, so that nothing is sent.
pub async fn write_failed_events(
    engine: &Engine,
    account: AccountId,
    restaurant: RestaurantId,
    count: usize,
    now: Timestamp,
) {
    for first in (0..count).step_by(CHUNK) {
        let many = CHUNK.min(count - first);
        engine
            .write(account, move |tx| {
                let mut places = accounts::reserve_positions(tx, account, i64::try_from(many).unwrap(), now)?;
                assert!(!places.has_webhook);
                for n in first..first + many {
                    let id = EventId(Uuid::now_v7());
                    let body = format!(r#"{{"olay":"deneme","veri":{{"id":"{id}","n":{n}}}}}"#);
                    let event = NewEvent {
                        id,
                        account_id: account,
                        restaurant_id: restaurant,
                        order_id: None,
                        sequence: None,
                        name: "deneme",
                        body: &body,
                    };
                    events::write(tx, &event, &mut places)?;
                }
                tx.execute(
                    "UPDATE events SET state = 'failed', reason = 'timed_out', failures = 4 WHERE name = 'deneme'",
                    &[],
                )?;
                Ok::<_, StoreError>(())
            })
            .await
            .unwrap();
    }
}

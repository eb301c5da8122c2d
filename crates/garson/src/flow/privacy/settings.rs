//! After how many days customers' data is erased by itself.

use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::field_problem::FieldProblem;
use garson_core::id::AccountId;
use garson_store::tables::{accounts, privacy_settings};
use serde_json::json;

pub const MAX_DAYS: i64 = 36_500;

/// The days that the account has chosen, and those of the installation; 0: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub own_days: i64,
    pub installation_days: i64,
}

impl Settings {
    /// The days that count: the fewer of the two.
    #[must_use]
    pub fn days(self) -> Option<i64> {
        let chosen = [self.own_days, self.installation_days];
        chosen.into_iter().filter(|days| *days > 0).min()
    }
}

pub async fn get_settings(app: &App, account: AccountId) -> Result<Settings, Fault> {
    let own_days = app
        .store
        .read(move |tx| Ok::<_, Fault>(privacy_settings::anonymise_days(tx, account)?))
        .await?;
    Ok(Settings {
        own_days,
        installation_days: i64::from(app.settings.privacy.anonymise_days),
    })
}

/// Sets the account's own days; 0: as the installation is set.
pub async fn set_settings(app: &App, by: By, days: i64) -> Result<Settings, Fault> {
    if !(0..=MAX_DAYS).contains(&days) {
        let (min, max) = (0, MAX_DAYS);
        return Err(Fault::invalid(
            "anonymiseDays",
            FieldProblem::NotWholeNumber { min, max },
        ));
    }
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            by.must_hold_primary(tx)?;
            let before = privacy_settings::anonymise_days(tx, account)?;
            privacy_settings::set_anonymise_days(tx, account, days)?;
            let change = Recorded::new(RecordKind::Privacy, Verb::Changed);
            let fields = |days: i64| json!({ "anonymiseDays": days });
            by.record(tx, change.change(fields(before), fields(days)), now);
            Ok::<_, Fault>(())
        })
        .await?;
    app.wake_privacy.notify_one();
    get_settings(app, account).await
}

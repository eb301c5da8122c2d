//! `garson demo`: the service with simulated platforms and a sample account; orders arrive by themselves.

mod platforms;
mod shop;
mod till;

use super::command::{CommandError, Outcome, failed, print_line, runtime};
use super::options::Options;
use super::{receive, serve};
use crate::app::key_file::prepare_folder;
use crate::app::{App, lock_data};
use crate::flow::By;
use crate::flow::admin::integrations::IntegrationChange;
use crate::flow::admin::keys::NewKey;
use crate::flow::admin::randomness::random_password;
use crate::flow::admin::{accounts, businesses, integrations, keys, restaurants, user_passwords};
use crate::telemetry;
use garson_core::business::BusinessFields;
use garson_core::id::{AccountId, BusinessId, KeyId, RestaurantId};
use garson_core::restaurant::RestaurantFields;
use garson_core::secret::Secret;
use garson_sim::Platform;
use shop::{SHOP_KEY, STORE};
use std::fs::File;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The file of the log, in the data folder.
const LOG: &str = "demo.log";
const EMAIL: &str = "demo@example.com";
/// Public on purpose: the demo is for the user of this machine.
const PASSWORD: &str = "demo-garson";
/// A restaurant whose orders wait for the user, and one that handles them automatically.
const RESTAURANTS: [(&str, &str, Option<&str>); 2] = [
    (
        "Moda Lokantası",
        "Caferağa Mah. Moda Cad. 12, Kadıköy, İstanbul",
        None,
    ),
    (
        "Çarşı Pidecisi",
        "Sinanpaşa Mah. Köyiçi Cad. 8, Beşiktaş, İstanbul",
        Some(r#"{"autoVerify":true}"#),
    ),
];

pub fn demo(options: Options, args: serve::ServeArgs) -> Outcome {
    let mut settings = options.listening_on(args.listen)?;
    // A demo starts with an empty folder of its own, unless one is given.
    let own_folder = options.data.is_none();
    if own_folder {
        settings.data = std::env::temp_dir().join(format!("garson-demo-{}", std::process::id()));
    }
    settings.allow_private_targets = true;
    // The terminal is for the instructions.
    prepare_folder(&settings.data)?;
    let log = settings.data.join(LOG);
    telemetry::start_log_in(
        &settings.log,
        File::options().create(true).append(true).open(&log)?,
    );
    let folder = settings.data.clone();
    let mut lock = lock_data(&settings)?;
    let ended = runtime()?.block_on(async {
        let sim = platforms::start().await?;
        platforms::redirect(&mut settings, sim.address());
        let app = App::open_server(settings, lock.as_mut())?;
        refuse_real_data(&app).await?;
        let listener = serve::listen(&app).await?;
        let address = listener.main.local_addr()?;
        let password = password(address)?;
        let sample = prepare(&app, &password).await?;
        let reminder = format!(
            "Panel: http://{address}/, sign in with {EMAIL} and the password {}",
            password.expose()
        );
        let receiver = start_receiver(&app, sample.account, reminder).await?;
        let [_, busy] = sample.restaurants;
        let till = tokio::spawn(till::run(Arc::clone(&app), sample.account, busy));
        // Orders start once the service accepts requests.
        let opening = tokio::spawn(platforms::open(
            sim.address(),
            address,
            u32::try_from(RESTAURANTS.len())?,
        ));
        let shown = app.settings.data.display().to_string();
        let sim_address = sim.address();
        let ended = serve::run(app, listener, || {
            introduce(address, sim_address, &sample, &password, &shown);
        })
        .await;
        till.abort();
        receiver.abort();
        opening.abort();
        sim.stop().await;
        ended
    });
    if let Some(lock) = lock {
        lock.end()?;
    }
    if own_folder {
        // The folder has the process id in its name, so that only this demo used it.
        std::fs::remove_dir_all(&folder)?;
    }
    ended
}

/// Starts a receiver that shows the first events, and registers it as the webhook of the sample account.
async fn start_receiver(
    app: &App,
    account: AccountId,
    reminder: String,
) -> Result<JoinHandle<()>, CommandError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", listener.local_addr()?);
    accounts::set_webhook(app, By::operator(account, "demo"), Some(url), None, None)
        .await
        .map_err(failed)?;
    Ok(tokio::spawn(receive::show_events(listener, reminder)))
}

/// A demo uses simulated platforms, so it must not run on real orders.
async fn refuse_real_data(app: &App) -> Outcome {
    let known = accounts::list(app).await.map_err(failed)?;
    if known.iter().all(|account| account.email == EMAIL) {
        return Ok(());
    }
    Err(CommandError(
        "this database has other accounts than the demo's: the demo needs a database of its own".to_owned(),
    ))
}

/// The sample account.
struct Sample {
    account: AccountId,
    key: Secret<String>,
    restaurants: [RestaurantId; 2],
}

/// A random password if other machines can reach the demo: it may call addresses in their network.
fn password(listens_on: SocketAddr) -> Result<Secret<String>, CommandError> {
    if listens_on.ip().to_canonical().is_loopback() {
        Ok(Secret::new(PASSWORD.to_owned()))
    } else {
        random_password().map_err(failed)
    }
}

/// A sample account with two restaurants; one that is there already gets a new key.
async fn prepare(app: &Arc<App>, password: &Secret<String>) -> Result<Sample, CommandError> {
    if let Ok(account) = accounts::by_email(app, EMAIL).await {
        user_passwords::reset_of_account(app, &account, password.clone())
            .await
            .map_err(failed)?;
        let new = NewKey {
            label: Some("demo".to_owned()),
            ..NewKey::default()
        };
        let by = By::operator(account.id, "demo");
        let key = keys::issue(app, by, KeyId::at(app.now()), new)
            .await
            .map_err(failed)?;
        let known = restaurants::list(app, account.id, None).await.map_err(failed)?;
        let named = |name: &str| known.iter().find(|r| r.fields.name == name).map(|r| r.id);
        let [(first, ..), (second, ..)] = RESTAURANTS;
        let (Some(first), Some(second)) = (named(first), named(second)) else {
            return Err(CommandError("the demo account has lost a restaurant".to_owned()));
        };
        return Ok(Sample {
            account: account.id,
            key: key.secret,
            restaurants: [first, second],
        });
    }
    let name = "Demo Lokantaları".to_owned();
    let (account, key) = accounts::create(app, name, EMAIL, Some(password.clone()))
        .await
        .map_err(failed)?;
    let fields = BusinessFields {
        name: "Demo Gıda A.Ş.".to_owned(),
        ..BusinessFields::default()
    };
    let business = businesses::create(
        app,
        By::operator(account.id, "demo"),
        BusinessId::at(app.now()),
        fields,
    )
    .await
    .map_err(failed)?;
    let [first, second] = RESTAURANTS;
    let restaurants = [
        connect(app, account.id, business.id, first, 1).await?,
        connect(app, account.id, business.id, second, 2).await?,
    ];
    let [by_hand, _] = restaurants;
    connect_shop(app, account.id, by_hand).await?;
    shop::open(app, account.id).await?;
    Ok(Sample {
        account: account.id,
        key: key.secret,
        restaurants,
    })
}

/// Creates a restaurant and connects it to the four platforms.
async fn connect(
    app: &App,
    account: AccountId,
    business: BusinessId,
    (name, address, config): (&str, &str, Option<&str>),
    number: u32,
) -> Result<RestaurantId, CommandError> {
    let fields = RestaurantFields {
        business_id: Some(business),
        name: name.to_owned(),
        address: Some(address.to_owned()),
        config: config.map(str::to_owned),
        ..RestaurantFields::default()
    };
    let restaurant = restaurants::create(
        app,
        By::operator(account, "demo"),
        RestaurantId::at(app.now()),
        fields,
    )
    .await
    .map_err(failed)?;
    for platform in Platform::ALL {
        let change = platforms::integration(platform, number);
        integrations::put(
            app,
            By::operator(account, "demo"),
            restaurant.id,
            platform.name(),
            change,
        )
        .await
        .map_err(failed)?;
    }
    Ok(restaurant.id)
}

async fn connect_shop(app: &App, account: AccountId, restaurant: RestaurantId) -> Result<(), CommandError> {
    let change = IntegrationChange {
        is_active: Some(true),
        remote_id: Some(Some(STORE.to_owned())),
        credentials: Some(vec![(
            "inboundKey".to_owned(),
            Some(Secret::new(SHOP_KEY.to_owned())),
        )]),
        default_cancel_reason: None,
    };
    integrations::put(app, By::operator(account, "demo"), restaurant, "direct", change)
        .await
        .map_err(failed)?;
    Ok(())
}

fn introduce(address: SocketAddr, sim: SocketAddr, sample: &Sample, password: &Secret<String>, folder: &str) {
    let password = password.expose();
    let key = sample.key.expose();
    let [by_hand, busy] = sample.restaurants;
    let [(by_hand_name, ..), (busy_name, ..)] = RESTAURANTS;
    print_line(&format!(
        "
The demo is running. Everything is sample data below {folder}, and {LOG} there is its log.
Orders of four simulated platforms arrive by themselves, every few seconds. A sample receiver, to which the account's
webhook leads, shows the first events below, and their number every minute.

  Panel         http://{address}/
                sign in with {EMAIL} and the password {password}
  Documentation http://{address}/docs/
  API key       {key}
  Restaurants   {by_hand}  {by_hand_name}: its orders wait for you
                {busy}  {busy_name}: verifies by itself, and a sample till moves its orders along
  Platforms     http://{sim}/control

Try it:

  curl -H 'Authorization: Bearer {key}' http://{address}/web-api/v1/orders
  curl -H 'Authorization: Bearer {key}' http://{address}/web-api/v1/events
  curl -H 'Authorization: Bearer {key}' -X POST http://{address}/web-api/v1/orders/verify/WEB-5
  curl -H 'Authorization: Bearer {key}' http://{address}/web-api/v1/orders/grouped-payments
  garson sim --url http://{sim} order --platform getir --count 20

Order something, as the restaurant's web shop would:

  curl -H 'x-api-key: {SHOP_KEY}' -H 'Content-Type: application/json' http://{address}/hooks/direct/orders \\
    -d '{{\"storeId\":\"{STORE}\",\"providerOrderId\":\"WEB-100\",\"items\":[{{\"name\":\"Simit\",\"unitPrice\":1500}}],\"amount\":{{\"total\":1500}},\"payment\":{{\"type\":\"cash\"}}}}'

Ctrl-C ends it."
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_password_is_for_this_machine_only() {
        let made = |address: &str| password(address.parse().unwrap()).unwrap().expose().clone();
        assert_eq!(made("127.0.0.1:8080"), PASSWORD);
        assert_eq!(made("[::1]:8080"), PASSWORD);
        for address in ["0.0.0.0:8080", "[::]:8080", "192.0.2.1:80"] {
            assert!(
                made(address) != PASSWORD && made(address).len() >= 20,
                "{address}"
            );
        }
    }
}

//! Users of accounts, their links and their second factors.

use crate::database::Bench;
use crate::fixtures::at;
use crate::sessions::a_session;
use garson_core::channel::Language;
use garson_core::id::{AccountId, RestaurantId, UserId};
use garson_core::permission::RestaurantScope;
use garson_core::role::Role;
use garson_core::user::User;
use garson_store::tables::sessions::Session;
use garson_store::tables::user_tokens::Purpose;
use garson_store::tables::{sessions, user_tokens, users};
use garson_store::vault::lookup_hash;
use garson_store::{Result, Tx, Vault};
use std::collections::BTreeSet;
use uuid::Uuid;

fn a_user(account: AccountId, email: &str) -> User {
    User {
        id: UserId(Uuid::now_v7()),
        account_id: account,
        email: email.to_owned(),
        name: "Ayşe Yılmaz".to_owned(),
        language: Language::Tr,
        role: Role::Shift,
        restaurants: RestaurantScope::Only(BTreeSet::from([RestaurantId(Uuid::now_v7())])),
        is_disabled: false,
        has_password: false,
        has_openid: false,
        has_two_factor: false,
        created_at: at(1),
        last_sign_in_at: None,
    }
}

/// A row in each table of users; more than a chunk of recovery codes.
pub fn fill_tables(tx: &mut Tx<'_>, vault: &Vault, account: AccountId) -> Result<()> {
    let user = a_user(account, "ayse@example.com");
    users::create(tx, &user, Some("argon"))?;
    users::set_new_totp(tx, vault, user.id, b"secret")?;
    let codes: Vec<[u8; 32]> = (0..510_u64).map(|n| lookup_hash(&n.to_be_bytes())).collect();
    users::confirm_totp(tx, user.id, 3, &codes)?;
    user_tokens::issue(tx, user.id, Purpose::Invitation, &[5; 32], at(0), at(9))
}

async fn create(bench: &Bench, user: &User) -> bool {
    let user = user.clone();
    bench.write(move |tx| users::create(tx, &user, None)).await
}

async fn find(bench: &Bench, account: AccountId, id: UserId) -> Option<User> {
    bench.read(move |tx| users::find(tx, account, id)).await
}

pub async fn user_is_stored_and_changed(bench: &Bench) {
    let (ours, theirs) = (bench.account("lokanta").await, bench.account("pideci").await);
    let mut user = a_user(ours, "ayse@example.com");
    assert!(create(bench, &user).await);
    assert_eq!(find(bench, ours, user.id).await, Some(user.clone()));
    assert_eq!(find(bench, theirs, user.id).await, None);
    user.role = Role::Accountant;
    user.restaurants = RestaurantScope::All;
    user.language = Language::En;
    user.is_disabled = true;
    "ayse@example.org".clone_into(&mut user.email);
    let changed = user.clone();
    bench.write(move |tx| users::update(tx, &changed)).await;
    let id = user.id;
    bench
        .write(move |tx| users::set_password_hash(tx, id, "argon"))
        .await;
    bench.write(move |tx| users::record_sign_in(tx, id, at(5))).await;
    user.has_password = true;
    user.last_sign_in_at = Some(at(5));
    let found = bench.read(|tx| users::by_email(tx, "ayse@example.org")).await;
    assert_eq!(found, Some(user.clone()));
    assert_eq!(bench.read(move |tx| users::list(tx, ours)).await, [user]);
    assert_eq!(bench.read(move |tx| users::count(tx, theirs)).await, 0);
}

pub async fn user_is_found_by_the_identity_until_the_address_changes(bench: &Bench) {
    const ISSUER: &str = "https://login.example.com";
    let ours = bench.account("lokanta").await;
    let mut user = a_user(ours, "ayse@example.com");
    assert!(create(bench, &user).await);
    let id = user.id;
    let known = async || {
        bench
            .read(|tx| users::by_openid(tx, ISSUER, "id-1"))
            .await
            .map(|it| (it.id, it.has_openid))
    };
    assert_eq!(known().await, None);
    bench
        .write(move |tx| users::set_openid(tx, id, ISSUER, "id-1"))
        .await;
    assert_eq!(known().await, Some((id, true)));
    let other = bench.read(|tx| users::by_openid(tx, "https://login.example.org", "id-1"));
    assert_eq!(other.await, None);
    // Other changes keep it, another address does not.
    "Ayşe Y.".clone_into(&mut user.name);
    let changed = user.clone();
    bench.write(move |tx| users::update(tx, &changed)).await;
    assert_eq!(known().await, Some((id, true)));
    "ayse@example.org".clone_into(&mut user.email);
    bench.write(move |tx| users::update(tx, &user)).await;
    assert_eq!(known().await, None);
    bench
        .write(move |tx| {
            users::set_openid(tx, id, ISSUER, "id-1")?;
            users::remove_openid(tx, id)
        })
        .await;
    assert_eq!(known().await, None);
}

pub async fn email_address_has_one_user(bench: &Bench) {
    let (ours, theirs) = (bench.account("lokanta").await, bench.account("pideci").await);
    assert!(create(bench, &a_user(ours, "ayse@example.com")).await);
    assert!(!create(bench, &a_user(theirs, "ayse@example.com")).await);
    assert!(bench.read(move |tx| users::list(tx, theirs)).await.is_empty());
}

pub async fn removed_user_leaves_nothing_that_signs_in(bench: &Bench) {
    let (ours, theirs) = (bench.account("lokanta").await, bench.account("pideci").await);
    let (user, other) = (
        a_user(ours, "ayse@example.com"),
        a_user(ours, "mehmet@example.com"),
    );
    assert!(create(bench, &user).await && create(bench, &other).await);
    for (number, of) in [(1, user.id), (2, other.id)] {
        let session = Session {
            user_id: of,
            ..a_session(ours, number, at(0))
        };
        bench.write(move |tx| sessions::start(tx, &session)).await;
    }
    let id = user.id;
    bench
        .write(move |tx| user_tokens::issue(tx, id, Purpose::PasswordReset, &[3; 32], at(0), at(99)))
        .await;
    assert!(!bench.write(move |tx| users::remove(tx, theirs, id)).await);
    assert!(bench.write(move |tx| users::remove(tx, ours, id)).await);
    assert!(!bench.write(move |tx| users::remove(tx, ours, id)).await);
    let session = async |number: u8| {
        bench
            .read(move |tx| sessions::find(tx, &[number; 32], at(1)))
            .await
    };
    assert_eq!(session(1).await, None);
    assert!(session(2).await.is_some());
    let token = bench
        .read(|tx| user_tokens::find(tx, Purpose::PasswordReset, &[3; 32], at(1)))
        .await;
    assert_eq!(token, None);
}

pub async fn token_works_once_and_for_its_time(bench: &Bench) {
    let account = bench.account("lokanta").await;
    let user = a_user(account, "ayse@example.com");
    assert!(create(bench, &user).await);
    let id = user.id;
    let issue = async |hash: u8, purpose: Purpose| {
        bench
            .write(move |tx| user_tokens::issue(tx, id, purpose, &[hash; 32], at(0), at(10)))
            .await;
    };
    let found = async |hash: u8, purpose: Purpose, now: i64| {
        bench
            .read(move |tx| user_tokens::find(tx, purpose, &[hash; 32], at(now)))
            .await
    };
    issue(1, Purpose::Invitation).await;
    issue(2, Purpose::PasswordReset).await;
    assert_eq!(found(1, Purpose::Invitation, 9).await, Some(id));
    assert_eq!(found(1, Purpose::Invitation, 10).await, None);
    assert_eq!(found(1, Purpose::PasswordReset, 9).await, None);
    // A later invitation replaces the earlier one.
    issue(3, Purpose::Invitation).await;
    assert_eq!(found(1, Purpose::Invitation, 9).await, None);
    assert_eq!(found(2, Purpose::PasswordReset, 9).await, Some(id));
    let consume = async |hash: u8| bench.write(move |tx| user_tokens::consume(tx, &[hash; 32])).await;
    assert_eq!((consume(3).await, consume(3).await), (true, false));
    assert_eq!(found(3, Purpose::Invitation, 9).await, None);
    assert_eq!(bench.write(|tx| user_tokens::sweep(tx, at(10), 9)).await, 1);
}

pub async fn second_factor_is_confirmed_before_it_counts(bench: &Bench) {
    let account = bench.account("lokanta").await;
    let user = a_user(account, "ayse@example.com");
    assert!(create(bench, &user).await);
    let id = user.id;
    let vault = bench.vault.clone();
    let totp = async || {
        let vault = vault.clone();
        let found = bench.write(move |tx| users::totp(tx, &vault, id)).await;
        found.map(|(secret, step)| (secret.expose().clone(), step))
    };
    let own = vault.clone();
    bench
        .write(move |tx| users::set_new_totp(tx, &own, id, b"secret"))
        .await;
    assert_eq!(totp().await, None);
    assert!(!find(bench, account, id).await.unwrap().has_two_factor);
    bench
        .write(move |tx| users::confirm_totp(tx, id, 7, &[[1; 32], [2; 32]]))
        .await;
    assert_eq!(totp().await, Some((b"secret".to_vec(), 7)));
    assert!(find(bench, account, id).await.unwrap().has_two_factor);
    bench.write(move |tx| users::set_totp_step(tx, id, 9)).await;
    assert_eq!(totp().await.map(|(_, step)| step), Some(9));
    bench.write(move |tx| users::remove_totp(tx, id)).await;
    assert_eq!(totp().await, None);
    assert_eq!(bench.read(move |tx| users::recovery_codes_left(tx, id)).await, 0);
}

pub async fn recovery_code_works_once(bench: &Bench) {
    let (id, other) = (UserId(Uuid::now_v7()), UserId(Uuid::now_v7()));
    bench
        .write(move |tx| users::set_recovery_codes(tx, id, &[[1; 32], [2; 32]]))
        .await;
    let used = async |user: UserId, code: u8| {
        bench
            .write(move |tx| users::use_recovery_code(tx, user, &[code; 32]))
            .await
    };
    assert!(!used(other, 1).await && !used(id, 3).await);
    assert_eq!((used(id, 1).await, used(id, 1).await), (true, false));
    assert_eq!(bench.read(move |tx| users::recovery_codes_left(tx, id)).await, 1);
}

//! Unresolvable names of one account do not delay name resolution for other accounts and platforms.

use crate::support::{Backend, Receiver, TestService, credentials, remote_id};
use garson::config::Settings;
use garson::net::Client;
use garson::net::guard::Policy;
use garson::net::resolve::{SharedResolver, SystemResolver};
use garson_sim::Platform;
use serde_json::json;
use std::net::IpAddr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

on_both! {
    unresolvable_callback_names_delay_neither_platforms_nor_other_accounts
}

/// Names that start with `dead` do not resolve before the case ends, as with name servers that do not answer. All other names
/// lead to this machine.
#[derive(Default)]
struct NameServer {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    hanging: usize,
    is_over: bool,
}

impl NameServer {
    fn resolver(self: &Arc<Self>) -> SystemResolver {
        let server = Arc::clone(self);
        SystemResolver::with_lookup(move |name| {
            if !name.starts_with("dead") {
                return Ok(vec![IpAddr::from([127, 0, 0, 1])]);
            }
            let mut state = server.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.hanging += 1;
            while !state.is_over {
                state = server.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            Err(std::io::ErrorKind::TimedOut.into())
        })
    }

    fn hanging(&self) -> usize {
        self.state.lock().unwrap().hanging
    }
}

/// Lets the threads that look names up end, also when the case fails.
struct Ends(Arc<NameServer>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_over = true;
        self.0.changed.notify_all();
    }
}

async fn unresolvable_callback_names_delay_neither_platforms_nor_other_accounts(backend: Backend) {
    let names = Arc::<NameServer>::default();
    let _ends = Ends(Arc::clone(&names));
    let policy = Policy {
        allow_private: true,
        ..Policy::default()
    };
    let resolver = Arc::new(SharedResolver::new(names.resolver()));
    let net = Client::with_resolver(policy, resolver).unwrap();
    let (platform, shop) = (Receiver::start().await, Receiver::start().await);
    let base_url = format!("http://platform.example.com:{}", platform.addr.port());
    let change = |settings: &mut Settings| {
        let getir = settings.platforms.get_mut("getir").unwrap();
        getir.base_url.clone_from(&base_url);
    };
    let service = TestService::open_with(backend, change, Some(net)).await;

    // As many shops as an account has threads, and some more.
    for n in 0..9 {
        let made = service
            .b
            .post("/restaurants", &json!({ "name": "r" }))
            .await
            .data();
        let callback = json!({ "callbackUrl": format!("http://dead-{n}.example.com/") });
        let dead = service
            .connect(
                &service.b,
                made["id"].as_str().unwrap(),
                &format!("dead{n}"),
                callback,
            )
            .await;
        let id = dead.order(&format!("D-{n}")).await;
        service.b.act(&format!("/orders/verify/{id}")).await.data();
    }
    crate::support::wait_until("all threads of the account wait", async || names.hanging() >= 6).await;

    let made = service
        .a
        .post("/restaurants", &json!({ "name": "r" }))
        .await
        .data();
    let restaurant = made["id"].as_str().unwrap();
    // A platform's name, which the operator gave.
    let body = json!({
        "isActive": true,
        "remoteId": remote_id(Platform::Getir),
        "credentials": credentials(Platform::Getir),
    });
    let path = format!("/restaurants/{restaurant}/integrations/getir");
    service.a.put(&path, &body).await.data();
    platform.wait_for(1).await;
    // A name of another account.
    let callback = format!("http://shop.example.com:{}/status", shop.addr.port());
    let fine = service
        .connect(&service.a, restaurant, "fine", json!({ "callbackUrl": callback }))
        .await;
    let id = fine.order("F-1").await;
    service.a.act(&format!("/orders/verify/{id}")).await.data();
    shop.wait_for(1).await;
    assert_eq!(names.hanging(), 6, "an account has no more threads");
}

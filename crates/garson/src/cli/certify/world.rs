//! What scenarios run in: the temporary service, the simulated platforms, the relay, and the POS behind it.

use super::super::command::{CommandError, Outcome};
use super::api::Api;
use super::args::{BodyForm, CertifyArgs, Profile};
use super::folder::Folder;
use super::pos::Pos;
use super::relay::Relay;
use super::service::{Service, write_settings};
use super::setup::{Shop, prepare};
use crate::net::Client;
use garson_core::clock::{Clock, SystemClock};
use garson_core::id::uuid_at;
use garson_core::secret::Secret;
use garson_sim::views::{Quirks, StoreRequest};
use garson_sim::{ControlClient, Platform, Sim, SimSettings, sample_store};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

pub struct World {
    pub api: Api,
    pub address: SocketAddr,
    /// The key that events carry, which the API accepts too.
    pub key: Secret<String>,
    /// It was issued here, so the developer does not know it yet.
    pub is_new_key: bool,
    pub shops: [Shop; 2],
    pub control: ControlClient,
    pub relay: Arc<Relay>,
    pub profile: Profile,
    pub body: BodyForm,
    /// How long an answer of the POS may take.
    pub answer_limit: Duration,
    /// How long the POS may take to accept an order.
    pub accept_limit: Duration,
    /// Part of the ids of this run's orders, which distinguishes them from those of other runs.
    pub run: String,
    service: Mutex<Service>,
    sim: Sim,
    /// Aborted with the value.
    _serving: JoinSet<()>,
}

impl World {
    pub async fn start(
        args: &CertifyArgs,
        folder: &Folder,
        client: &Client,
        given: Option<Secret<String>>,
    ) -> Result<Self, CommandError> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let relay_url = format!("http://{}/", listener.local_addr()?);
        let relay = Relay::new();
        let mut serving = JoinSet::new();
        serving.spawn(Arc::clone(&relay).serve(listener));
        let sim = Sim::start(SimSettings {
            rate_limits: false,
            getir_gap_seconds: 0,
            getir_answer_seconds: 0,
            yemeksepeti_expiry_seconds: 0,
            push_retry_millis: Some(500),
            seed: u64::from(std::process::id()),
            ..SimSettings::default()
        })
        .await?;
        let answer_limit = Duration::from_secs(args.timeout_seconds);
        let config = write_settings(folder.path(), sim.address(), answer_limit)?;
        let is_new_key = given.is_none();
        let account = prepare(args, &config, relay_url, given).await?;
        let service = Service::start(config, args.listen).await?;
        let address = service.address;
        let control = ControlClient::new(format!("http://{}", sim.address()));
        for platform in Platform::ALL {
            let (remote_id, credentials) = sample_store(platform, 1);
            control
                .put_store(&StoreRequest {
                    platform,
                    remote_id,
                    name: None,
                    hook_url: Some(format!("http://{address}")),
                    credentials,
                    quirks: Quirks::default(),
                })
                .await?;
        }
        // The end of a UUIDv7 is random.
        let mut run = uuid_at(SystemClock.now()).simple().to_string().to_uppercase();
        let run = run.split_off(run.len() - 6);
        Ok(Self {
            api: Api::new(client.clone(), address, account.key.clone()),
            address,
            key: account.key,
            is_new_key,
            shops: account.shops,
            control,
            relay,
            profile: args.profile,
            body: args.body,
            answer_limit,
            accept_limit: Duration::from_secs(args.accept_seconds),
            run,
            service: Mutex::new(service),
            sim,
            _serving: serving,
        })
    }

    /// Sets the POS, once.
    pub fn attach(&self, pos: Pos) -> Outcome {
        if self.relay.attach(pos) {
            Ok(())
        } else {
            Err(CommandError("the relay has a POS already".to_owned()))
        }
    }

    /// What a POS needs to know of the API.
    pub fn api_json(&self) -> String {
        let url = format!("http://{}", self.address);
        format!("{}\n", json!({ "url": url, "key": self.key.expose() }))
    }

    pub async fn kill_service(&self) {
        self.service.lock().await.kill();
    }

    pub async fn start_service_again(&self) -> Outcome {
        self.service.lock().await.start_again().await
    }

    pub async fn stop(self) {
        self.kill_service().await;
        self.sim.stop().await;
    }
}

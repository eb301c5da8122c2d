//! What can be set: addresses, the platforms' clocks, and how patient they are.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// All settings, each with the real platform's value as its default where one is known.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SimSettings {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The base URL in Yemeksepeti's `callbackUrls`, if it is not the listening address.
    pub public_url: Option<String>,
    /// The same seed gives the same restaurants, customers and baskets. Order ids differ in every run.
    pub seed: u64,
    /// Whether the platforms count calls and answer 429.
    pub rate_limits: bool,
    /// Getir: the least time between verify, prepare and the move after it.
    pub getir_gap_seconds: u64,
    /// Getir: how long a login is good for.
    pub getir_token_seconds: u64,
    /// Getir: an unanswered order is cancelled after this time; 0 means never.
    pub getir_answer_seconds: u64,
    /// Trendyol: how long a batch of prices takes.
    pub trendyol_batch_seconds: u64,
    /// Migros: the name of "until the next shift".
    pub migros_next_shift_option: String,
    /// Yemeksepeti: for how long after a push is acknowledged the order answers 409 "not yet".
    pub not_ready_seconds: u64,
    /// Yemeksepeti: how long a login is good for.
    pub yemeksepeti_token_seconds: u64,
    /// Yemeksepeti: the time until `expiryDate`, when an unanswered order is cancelled. 0: never.
    pub yemeksepeti_expiry_seconds: u64,
    /// The first pause before a push is repeated; later ones grow from it. Without it each platform has its own.
    pub push_retry_millis: Option<u64>,
    /// How long a push waits for its answer.
    pub push_timeout_millis: u64,
    /// How many pushes are on the wire at once.
    pub pushes_at_once: usize,
}

impl Default for SimSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            public_url: None,
            seed: 0,
            rate_limits: true,
            getir_gap_seconds: 60,
            getir_token_seconds: 3600,
            getir_answer_seconds: 300,
            trendyol_batch_seconds: 2,
            migros_next_shift_option: "NEXT_SHIFT_START".to_owned(),
            not_ready_seconds: 0,
            yemeksepeti_token_seconds: 1800,
            yemeksepeti_expiry_seconds: 900,
            push_retry_millis: None,
            push_timeout_millis: 10_000,
            pushes_at_once: 64,
        }
    }
}

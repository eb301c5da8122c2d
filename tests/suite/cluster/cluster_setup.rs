//! Three real processes on one PostgreSQL, with accounts whose events go to one sink.

use super::sink::Sink;
use crate::support::{
    ApiClient, Backend, Program, Reply, Shop, TestStorage, on_postgres, order_body, request, wait_until,
};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const SETTINGS: [(&str, &str); 5] = [
    ("GARSON_RATE_LIMIT", "off"),
    ("GARSON_ALLOW_PRIVATE_TARGETS", "true"),
    ("GARSON_STORAGE__READERS", "2"),
    ("GARSON_STORAGE__WRITERS", "2"),
    // Only what is wrong is of interest here.
    ("GARSON_LOG__LEVEL", "warn"),
];

/// How long a node is given to answer.
const CASE_TIMEOUT: Duration = Duration::from_secs(10);

/// An account with a shop, whose events go to a path of the sink.
#[derive(Clone, Debug)]
pub struct Account {
    pub name: &'static str,
    pub key: String,
    pub path: String,
    shop: Shop,
}

pub struct Cluster {
    pub nodes: Vec<Program>,
    pub doors: Vec<SocketAddr>,
    pub sink: Sink,
    // Last, so that the database goes after everything that uses it.
    pub storage: TestStorage,
}

impl Cluster {
    pub async fn start(count: usize) -> Self {
        let storage = TestStorage::new(Backend::Postgres);
        let mut nodes: Vec<Program> = (0..count).map(|_| Program::serve(&storage, &SETTINGS)).collect();
        let mut doors = Vec::new();
        for node in &mut nodes {
            doors.push(node.address().await);
        }
        Self {
            nodes,
            doors,
            sink: Sink::start().await,
            storage,
        }
    }

    /// Starts a node again where it was; its door opens when it has joined.
    pub async fn restart(&mut self, node: usize) {
        self.restart_with(node, &[]).await;
    }

    /// The same with more variables.
    pub async fn restart_with(&mut self, node: usize, more: &[(&str, &str)]) {
        let variables = [SETTINGS.as_slice(), more].concat();
        self.nodes[node] = Program::serve_at(&self.storage, self.doors[node].port(), &variables);
        self.nodes[node].address().await;
    }

    pub fn client(&self, account: &Account, node: usize) -> ApiClient {
        ApiClient::new(self.doors[node], &account.key)
    }

    /// An account that a node delivers for, because it takes the first order: `first`.
    pub async fn account(&self, name: &'static str, node: usize) -> Account {
        let key = self.storage.create_account(&format!("{name}@example.com"));
        let client = ApiClient::new(self.doors[node], &key);
        let made = client.post("/restaurants", &json!({ "name": name })).await.data();
        let restaurant = made["id"].as_str().unwrap().to_owned();
        let inbound = format!("inbound-{name}");
        let callback = self.sink.url(&format!("/calls/{name}"));
        let body = json!({
            "isActive": true, "remoteId": name,
            "credentials": { "inboundKey": inbound, "callbackUrl": callback },
        });
        let integration = format!("/restaurants/{restaurant}/integrations/direct");
        client.put(&integration, &body).await.data();
        let account = Account {
            name,
            path: format!("/{name}"),
            shop: Shop {
                addr: client.addr,
                restaurant,
                store: name.to_owned(),
                key: inbound,
            },
            key,
        };
        let url = self.sink.url(&account.path);
        client.put("/webhook", &json!({ "url": url })).await.data();
        self.order(&account, "first", node).await.unwrap();
        wait_until("the first order is told", async || {
            self.sink.count(&account.path) > 0
        })
        .await;
        assert_eq!(self.owner(&account), Some(node));
        account
    }

    /// The node that delivers for an account.
    pub fn owner(&self, account: &Account) -> Option<usize> {
        let sql =
            "SELECT n.name FROM accounts a JOIN nodes n ON n.id = a.deliver_node WHERE a.name = 'Şirket'
                   AND a.email = $1";
        let email = format!("{}@example.com", account.name);
        let name = on_postgres(&self.storage.database_url(), |client| {
            client
                .query_opt(sql, &[&email])
                .unwrap()
                .map(|row| row.get::<_, String>(0))
        })?;
        let is_at = |door: &SocketAddr| name.split(' ').any(|part| part == door.to_string());
        self.doors.iter().position(is_at)
    }

    /// Takes an order in at a node.
    pub async fn order(&self, account: &Account, id: &str, node: usize) -> Result<String, String> {
        order_at(self.doors[node], account, id).await
    }

    /// What the nodes have printed.
    pub fn printed(&self) -> String {
        self.nodes.iter().map(Program::printed).collect()
    }

    /// A number from the database.
    pub fn number(&self, sql: &str) -> i64 {
        on_postgres(&self.storage.database_url(), |client| {
            client.query_one(sql, &[]).unwrap().get(0)
        })
    }

    /// Rows of a query as text.
    pub fn rows(&self, sql: &str) -> Vec<String> {
        on_postgres(&self.storage.database_url(), |client| {
            let rows = client.query(sql, &[]).unwrap();
            rows.iter().map(|row| row.get(0)).collect()
        })
    }

    /// All of an account's events, as a node shows them.
    pub async fn events(&self, account: &Account, node: usize) -> Vec<Value> {
        let client = self.client(account, node);
        let mut items = Vec::new();
        let mut path = "/events?limit=200".to_owned();
        loop {
            let page = client.get(&path).await.success();
            items.extend(page["data"].as_array().unwrap().iter().cloned());
            let Some(next) = page["paging"]["next"].as_str() else {
                return items;
            };
            path = format!("/events?limit=200&cursor={next}");
        }
    }
}

/// Posts an order; answers its record when it is acknowledged, else what was the matter.
pub async fn order_at(door: SocketAddr, account: &Account, id: &str) -> Result<String, String> {
    let body = order_body(&account.shop.store, id, 100).to_string();
    let headers = [
        ("x-api-key", account.shop.key.as_str()),
        ("content-type", "application/json"),
    ];
    let bytes = request("POST", "/hooks/direct/orders", &headers, body.as_bytes());
    let reply = ask(door, &bytes).await?;
    let id = reply.json()["data"]["orderId"].as_str().map(str::to_owned);
    id.ok_or_else(|| format!("no order in {}", reply.text()))
}

/// Takes an order a step further at a node.
pub async fn step_at(door: SocketAddr, account: &Account, step: &str, id: &str) -> Result<(), String> {
    let bearer = format!("Bearer {}", account.key);
    let path = format!("/web-api/v1/orders/{step}/{id}");
    let bytes = request("POST", &path, &[("authorization", &bearer)], &[]);
    ask(door, &bytes).await.map(drop)
}

/// Sends a request to a node that may be gone or asleep; only a whole 200 is an answer.
async fn ask(door: SocketAddr, bytes: &[u8]) -> Result<Reply, String> {
    let asking = async {
        let mut stream = TcpStream::connect(door).await?;
        stream.write_all(bytes).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    let answer = match tokio::time::timeout(CASE_TIMEOUT, asking).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_) => return Err(format!("no answer within {CASE_TIMEOUT:?}")),
    };
    if answer.starts_with(b"HTTP/1.1 200") {
        Ok(Reply::parse(&answer))
    } else {
        Err(String::from_utf8_lossy(&answer).into_owned())
    }
}

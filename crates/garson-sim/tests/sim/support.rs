//! A simulator, a client of it, and a receiver of its messages.

use std::{
    collections::VecDeque,
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use garson_sim::{
    ControlClient, Platform, Sim, SimSettings,
    views::{Courier, OrderRequest, OrderView, PlacedOrder, Quirks, StoreRequest},
};
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::timeout,
};

const PATIENCE: Duration = Duration::from_secs(20);

/// A simulator with one store of a platform, and the service's place taken by a receiver.
pub struct Stage {
    pub sim: Sim,
    pub control: ControlClient,
    pub receiver: Receiver,
    pub platform: Platform,
    pub remote_id: String,
}

/// No waiting times; tests of a platform's own times set them.
pub fn quick() -> SimSettings {
    SimSettings {
        getir_gap_seconds: 0,
        push_retry_millis: Some(1),
        ..SimSettings::default()
    }
}

pub fn credentials(platform: Platform) -> Value {
    match platform {
        Platform::Getir => {
            json!({"appSecretKey": "app", "restaurantSecretKey": "rest", "inboundKey": "knock"})
        }
        Platform::Yemeksepeti => {
            json!({"username": "user", "password": "pa&ss", "chainCode": "chain", "pluginSecret": "123"})
        }
        Platform::Trendyol => json!({
            "supplierId": "2738", "apiKey": "key", "apiSecret": "secret", "integratorName": "Garson",
            "executorUser": "kasa@example.com", "inboundHeaders": {"x-api-key": "knock"},
        }),
        Platform::Migros => json!({
            "apiKey": "branch-key", "secretKey": "0123456789abcdef0123456789abcdef", "keyDerivation": "raw",
            "inboundUser": "migros", "inboundPassword": "kapı",
        }),
    }
}

pub fn store(platform: Platform, remote_id: &str, hook_url: Option<String>) -> StoreRequest {
    StoreRequest {
        platform,
        remote_id: remote_id.to_owned(),
        name: None,
        hook_url,
        credentials: credentials(platform),
        quirks: Quirks::default(),
    }
}

impl Stage {
    pub async fn new(platform: Platform, remote_id: &str) -> Self {
        Self::with(platform, remote_id, quick(), |_| {}).await
    }

    pub async fn with(
        platform: Platform,
        remote_id: &str,
        settings: SimSettings,
        change: impl FnOnce(&mut StoreRequest),
    ) -> Self {
        let sim = Sim::start(settings).await.unwrap();
        let control = ControlClient::new(format!("http://{}", sim.address()));
        let receiver = Receiver::start().await;
        let mut request = store(platform, remote_id, Some(receiver.url()));
        change(&mut request);
        control.put_store(&request).await.unwrap();
        Self {
            sim,
            control,
            receiver,
            platform,
            remote_id: remote_id.to_owned(),
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{}{path}", self.sim.address(), self.platform)
    }

    pub fn request(&self, courier: Courier) -> OrderRequest {
        OrderRequest {
            courier: Some(courier),
            ..OrderRequest::new(self.platform)
        }
    }

    /// An order that is not pushed.
    pub async fn quiet_order(&self, courier: Courier) -> PlacedOrder {
        self.place(OrderRequest {
            push: false,
            ..self.request(courier)
        })
        .await
    }

    pub async fn place(&self, request: OrderRequest) -> PlacedOrder {
        self.control.place_orders(&request).await.unwrap().remove(0)
    }

    pub async fn order(&self, id: &str) -> OrderView {
        self.control.order(self.platform, id).await.unwrap()
    }

    pub async fn state(&self, id: &str) -> String {
        self.order(id).await.state_text()
    }

    /// Asks until it is so.
    pub async fn until(&self, id: &str, so: impl Fn(&OrderView) -> bool) -> OrderView {
        self.until_on(self.platform, id, so).await
    }

    pub async fn until_on(&self, platform: Platform, id: &str, so: impl Fn(&OrderView) -> bool) -> OrderView {
        let wait = async {
            loop {
                let order = self.control.order(platform, id).await.unwrap();
                if so(&order) {
                    return order;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, wait)
            .await
            .expect("it should have come to that")
    }
}

/// What came back: the status, and the body as JSON where it is.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
    pub text: String,
}

/// A call as a program of one's own would make it, with its length and its headers spelled as given; the error is the
/// connection's.
pub async fn call(
    method: Method,
    url: &str,
    headers: &[(&str, &str)],
    body: impl Into<String>,
) -> Result<Answer, String> {
    let body = body.into();
    let length = body.len().to_string();
    let mut all = headers.to_vec();
    if method != Method::GET {
        all.push(("Content-Length", &length));
    }
    raw_call(method.as_str(), url, &all, &body).await
}

/// A call with exactly these headers, and `Host` and `Connection` before them.
pub async fn raw_call(
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Result<Answer, String> {
    let uri: http::Uri = url.parse().unwrap();
    let address = uri.authority().unwrap().as_str();
    let path = uri.path_and_query().unwrap();
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    request.push_str(body);
    let mut stream = TcpStream::connect(address)
        .await
        .map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let exchange = async {
        stream.write_all(request.as_bytes()).await?;
        stream.read_to_end(&mut bytes).await
    };
    timeout(PATIENCE, exchange)
        .await
        .map_err(|_| "no answer".to_owned())?
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, text) = text.split_once("\r\n\r\n").ok_or("no answer")?;
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Ok(Answer {
        status,
        body: serde_json::from_str(text).unwrap_or(Value::Null),
        text: text.to_owned(),
    })
}

pub async fn post(url: &str, headers: &[(&str, &str)], body: impl Into<String>) -> Answer {
    call(Method::POST, url, headers, body).await.unwrap()
}

pub async fn put(url: &str, headers: &[(&str, &str)], body: impl Into<String>) -> Answer {
    call(Method::PUT, url, headers, body).await.unwrap()
}

pub async fn get(url: &str, headers: &[(&str, &str)]) -> Answer {
    call(Method::GET, url, headers, "").await.unwrap()
}

/// One push as it arrived.
#[derive(Debug)]
pub struct Pushed {
    pub method: Method,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Value,
    pub text: String,
}

impl Pushed {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// The answers that the receiver gives next; then 200 with an id for the order.
type Script = Arc<Mutex<VecDeque<(u16, Value)>>>;

pub struct Receiver {
    address: SocketAddr,
    arrived: tokio::sync::Mutex<mpsc::UnboundedReceiver<Pushed>>,
    script: Script,
}

impl Receiver {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, arrived) = mpsc::unbounded_channel();
        let script = Script::default();
        let answers = Arc::clone(&script);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (sender, answers) = (sender.clone(), Arc::clone(&answers));
                let service = service_fn(move |request| take(request, sender.clone(), Arc::clone(&answers)));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self {
            address,
            arrived: tokio::sync::Mutex::new(arrived),
            script,
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn answer_next(&self, status: u16, body: Value) {
        self.script.lock().unwrap().push_back((status, body));
    }

    pub async fn next(&self) -> Pushed {
        timeout(PATIENCE, self.arrived.lock().await.recv())
            .await
            .expect("a push should have come")
            .unwrap()
    }

    /// What has arrived and was not looked at.
    pub async fn is_quiet(&self) -> bool {
        self.arrived.lock().await.try_recv().is_err()
    }
}

async fn take(
    request: Request<Incoming>,
    sender: mpsc::UnboundedSender<Pushed>,
    answers: Script,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let text = String::from_utf8_lossy(&body.collect().await.unwrap().to_bytes()).into_owned();
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    let (status, answer) = answers.lock().unwrap().pop_front().unwrap_or_else(|| {
        (200, json!({"remoteResponse": {"remoteOrderId": format!("garson-{}", body["code"].as_str().unwrap_or("1"))}}))
    });
    let pushed = Pushed {
        method: parts.method,
        path: parts.uri.path().to_owned(),
        headers: parts.headers,
        body,
        text,
    };
    sender.send(pushed).ok();
    let mut response = Response::new(Full::new(Bytes::from(answer.to_string())));
    *response.status_mut() = status.try_into().unwrap();
    Ok(response)
}

//! Customers, and a search for their data in the whole database.

use crate::support::{ApiClient, Backend, Shop, TestService, on_postgres, order_body, wait_until};
use serde_json::{Value, json};

/// Everything that identifies the customer, as it is stored.
pub const TRACES: [&str; 7] = [
    "Zeynep",
    "zeynep",
    "Karaağaç",
    "5559871234",
    "555 987 12 34",
    "Lavanta Sokağı",
    "arka kapıdan",
];

pub const PHONE: &str = "+90 555 987 12 34";

/// An order of the customer.
pub fn order_of_zeynep(store: &str, id: &str, total: i64) -> Value {
    let mut body = order_body(store, id, total);
    body["note"] = json!("Zeynep: arka kapıdan gelin");
    body["items"][0]["note"] = json!("Zeynep'e az acılı");
    body["customer"] = json!({
        "name": "Zeynep Karaağaç", "phone": PHONE, "email": "Zeynep@example.org",
        "address": { "text": "Lavanta Sokağı 7", "city": "İzmir", "district": "Karşıyaka", "directions": "arka kapıdan",
                     "lat": 38.45, "lon": 27.11 },
    });
    body
}

pub async fn place(shop: &Shop, body: &Value) -> String {
    let taken = shop.post(body.to_string().as_bytes()).await.data();
    taken["orderId"].as_str().unwrap().to_owned()
}

pub async fn deliver(client: &ApiClient, order: &str) {
    for _ in 0..3 {
        let path = format!("/orders/change-status/{order}");
        client.post(&path, &json!({})).await.data();
    }
}

/// Waits until so many orders can be searched.
pub async fn indexed(service: &TestService, orders: i64) {
    wait_until("the orders are indexed", async || {
        service.count("order_words") == orders
    })
    .await;
}

/// Does the work of all erasures.
pub async fn finish(service: &TestService) {
    while garson::flow::privacy::step(&service.app).await.unwrap() {}
}

/// Where the customer's data is still found, in any column of any table.
pub fn traces(service: &TestService) -> Vec<String> {
    let rows = match service.backend {
        Backend::Sqlite => sqlite_rows(service),
        Backend::Postgres => on_postgres(&service.storage().database_url(), |client| {
            let tables: Vec<String> = client
                .query(
                    "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'",
                    &[],
                )
                .unwrap()
                .iter()
                .map(|row| row.get(0))
                .collect();
            let mut rows = Vec::new();
            for table in tables {
                // As text and with bytes as text, so that nothing is overlooked.
                let sql = format!("SELECT t::text FROM {table} t");
                for row in client.query(&sql, &[]).unwrap() {
                    rows.push((table.clone(), readable(&row.get::<_, String>(0))));
                }
            }
            rows
        }),
    };
    let is_trace = |text: &str| TRACES.iter().any(|trace| text.contains(trace));
    rows.into_iter()
        .filter(|(_, text)| is_trace(text))
        .map(|(table, text)| format!("{table}: {text}"))
        .collect()
}

/// Bytes are shown as `\x…` in hexadecimal digits.
fn readable(text: &str) -> String {
    let mut all = text.to_owned();
    for part in text.split("\\x").skip(1) {
        let digits: String = part.chars().take_while(char::is_ascii_hexdigit).collect();
        let bytes: Vec<u8> = (0..digits.len() / 2)
            .map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap())
            .collect();
        all.push_str(&String::from_utf8_lossy(&bytes));
    }
    all
}

fn sqlite_rows(service: &TestService) -> Vec<(String, String)> {
    let connection = rusqlite::Connection::open(service.storage().data().join("garson.db")).unwrap();
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table'";
    let mut statement = connection.prepare(sql).unwrap();
    let tables: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut rows = Vec::new();
    for table in tables {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let width = statement.column_count();
        let mut found = statement.query([]).unwrap();
        while let Some(row) = found.next().unwrap() {
            let mut text = String::new();
            for column in 0..width {
                use rusqlite::types::ValueRef;
                match row.get_ref(column).unwrap() {
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                        text.push_str(&String::from_utf8_lossy(bytes))
                    }
                    _ => {}
                }
                text.push(' ');
            }
            rows.push((table.clone(), text));
        }
    }
    rows
}

/// Does the file of a stopped SQLite service contain any trace, in free pages too?
pub fn is_in_file(service: &TestService) -> bool {
    let path = service.storage().data().join("garson.db");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    let file = std::fs::read(path).unwrap();
    TRACES
        .iter()
        .any(|trace| file.windows(trace.len()).any(|bytes| bytes == trace.as_bytes()))
}

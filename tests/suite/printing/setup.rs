//! A restaurant with a printer and a print agent.

use crate::support::{Backend, Program, Shop, SocketPrinter, TestService, command, wait_until};
use garson_core::clock::{Clock, SystemClock};
use serde_json::{Value, json};
use std::path::PathBuf;

pub struct Kitchen {
    pub service: TestService,
    pub shop: Shop,
    pub printer: SocketPrinter,
    folder: tempfile::TempDir,
}

impl Kitchen {
    pub async fn open(backend: Backend) -> Self {
        // The agent has the clock of the machine.
        let service = TestService::open_at(backend, SystemClock.now(), |_| {}, None).await;
        let shop = service.shop(&service.a, "kadikoy").await;
        Self {
            shop,
            service,
            printer: SocketPrinter::start(48).await,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The command of an agent for any printer.
    pub fn agent_command(&self, printer: &str, flags: &[&str]) -> std::process::Command {
        let mut start = command();
        start
            .args(["print", "--url", &format!("http://{}", self.service.addr)])
            .args(["--printer", printer, "--name", "Mutfak", "--state"])
            .arg(self.file("print.json"))
            .args(flags)
            .env("GARSON_PRINT_KEY", &self.service.a.key);
        start
    }

    /// An agent that follows the events.
    pub async fn agent(&self, flags: &[&str]) -> Program {
        self.agent_for(&self.printer.url(), flags).await
    }

    pub async fn agent_for(&self, printer: &str, flags: &[&str]) -> Program {
        let program = Program::start(self.agent_command(printer, flags));
        wait_until("the agent follows the events", async || {
            self.state()["cursor"].is_string() && program.printed().contains("is running")
        })
        .await;
        program
    }

    /// What the agent remembers.
    pub fn state(&self) -> Value {
        let bytes = std::fs::read(self.file("print.json")).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Places an order whose ticket shows its id.
    pub async fn order(&self, id: &str) -> String {
        self.shop.order(id).await
    }

    pub async fn wait_for_tickets(&self, id: &str, count: usize) {
        wait_until(&format!("{count} tickets of {id}"), async || {
            self.printer.count(id) >= count
        })
        .await;
    }

    /// Waits until the service shows this state of the printer.
    pub async fn wait_for_state(&self, state: &str) {
        wait_until(&format!("the printer is {state}"), async || {
            self.service.a.get("/printers").await.data()[0]["state"] == json!(state)
        })
        .await;
    }

    /// Waits until the agent has stored everything up to the newest event.
    pub async fn wait_until_idle(&self) {
        let newest = self.service.a.get("/events?limit=1").await.success();
        let cursor = newest["paging"]["prev"].clone();
        wait_until("the agent has done everything", async || {
            let state = self.state();
            state["cursor"] == cursor && state["sending"].is_null()
        })
        .await;
    }
}

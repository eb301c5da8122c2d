//! A PostgreSQL server for one case, which can be stopped, frozen and restarted.

use std::path::PathBuf;
use std::process::Command;
use uuid::Uuid;

/// A server; dropping it removes it.
pub struct Server {
    folder: PathBuf,
    pub url: String,
}

impl Server {
    pub fn start() -> Self {
        // Its user must be able to reach it, which folders made for one user do not allow.
        let folder = std::env::temp_dir().join(format!("garson-e2e-{}", Uuid::now_v7().simple()));
        let mut server = Self {
            folder,
            url: String::new(),
        };
        server.url = server.script("start");
        server
    }

    /// It is killed; its files stay.
    pub fn crash(&self) {
        self.script("crash");
    }

    /// It is started again, where it was.
    pub fn recover(&self) {
        self.script("recover");
    }

    /// Freezes all its processes: connections stay open without responses.
    pub fn freeze(&self) {
        self.script("freeze");
    }

    pub fn thaw(&self) {
        self.script("thaw");
    }

    fn script(&self, action: &str) -> String {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/postgres");
        let output = Command::new(path).arg(action).arg(&self.folder).output().unwrap();
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        );
        assert!(output.status.success(), "scripts/postgres {action}: {out}{err}");
        out.trim().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // It may be frozen and cannot be stopped then.
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/postgres");
            // It may not be frozen.
            let _ = Command::new(path).arg("thaw").arg(&self.folder).output();
        }
        self.script("stop");
    }
}

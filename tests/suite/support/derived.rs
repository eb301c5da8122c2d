//! The recomputation of every derived value, for the storage of a test.

use super::{Backend, TestStorage, on_postgres, wait_until};

impl TestStorage {
    /// PostgreSQL goes on for a moment with what a killed server has sent; meanwhile tables that are read one after the other do
    /// not belong together.
    async fn wait_for_last_sessions(&self) {
        if self.backend == Backend::Sqlite {
            return;
        }
        let url = self.database_url();
        wait_until("the sessions of the killed server have ended", async || {
            let sql = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
            on_postgres(&url, |client| client.query_one(sql, &[]).unwrap().get::<_, i64>(0)) == 0
        })
        .await;
    }

    /// Compares everything that is derived with what it is derived from. No server may be running.
    pub async fn assert_derived_values(&self) {
        self.wait_for_last_sessions().await;
        self.assert_derived(false).await;
    }

    /// The same where orders were imported: their first events were another service's. A service of this process may have stopped
    /// without closing the database.
    pub async fn assert_derived_values_of_import(&self) {
        self.assert_derived(true).await;
    }

    async fn assert_derived(&self, has_imported: bool) {
        let wrong = derived::wrong_values(&self.location(), has_imported).await;
        assert!(
            wrong.is_empty(),
            "{} derived values are wrong, among them:\n{}",
            wrong.len(),
            wrong[..wrong.len().min(20)].join("\n")
        );
    }
}

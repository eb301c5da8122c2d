//! `check-derived DATABASE`: prints every derived value that is wrong, of a SQLite file or of a `postgres://` URL. No server may be
//! running.

use garson_core::secret::Secret;
use garson_store::engine::Location;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(database) = std::env::args().nth(1) else {
        eprintln!("usage: check-derived DATABASE");
        return ExitCode::from(2);
    };
    let location = if database.starts_with("postgres") {
        Location::Postgres(Secret::new(database))
    } else {
        Location::Sqlite(database.into())
    };
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let wrong = runtime.block_on(derived::wrong_values(&location, false));
    for value in &wrong {
        println!("{value}");
    }
    if wrong.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

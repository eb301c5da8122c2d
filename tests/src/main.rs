//! The `garson` program under another name, for the tests that start it.

mod next_schema;

/// Makes it a later version of the program, with more migrations.
const NEXT_VERSION: &str = "E2E_NEXT_VERSION";

fn main() -> std::process::ExitCode {
    if std::env::var_os(NEXT_VERSION).is_some() {
        return garson::cli::run_knowing(std::env::args_os(), next_schema::migrations());
    }
    garson::cli::run()
}

//! The `garson` program under another name, for the tests that start it.

fn main() -> std::process::ExitCode {
    garson::cli::run()
}

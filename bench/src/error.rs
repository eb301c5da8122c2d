//! The error of the benchmark: any failure ends the run.

pub type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

//! The listening side: clients that hold connections, bodies or sign-ins do not lock others out.

mod connections;
mod overload;
mod refusal_logging;
mod request_bodies;
mod shutdown;

//! The listening side: clients that keep connections, bodies and sign-ins to themselves do not keep others out.

mod connections;
mod refusal_logging;
mod request_bodies;
mod shutdown;

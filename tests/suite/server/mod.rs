//! The listening side: clients that keep connections, bodies and sign-ins to themselves do not keep others out.

mod accepting;
mod bodies;
mod refusals;
mod stopping;

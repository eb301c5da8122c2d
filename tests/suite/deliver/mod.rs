//! Events go out by themselves: real receivers, real sockets, and a ledger of what arrived.

mod basics;
mod changing;
mod clock;
mod crash;
mod crowd;
mod hostile;
mod isolation;
mod order;
mod reasons;
mod resend;
mod scene;
mod site;

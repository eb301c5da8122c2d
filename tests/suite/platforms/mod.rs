//! Every platform from end to end, through the simulator: what the API shows and what the platform has heard.

mod accepting;
mod arriving;
mod automatic;
mod away;
mod branches;
mod cancelling;
mod counting;
mod crash;
mod doors;
mod gap;
mod joining;
mod kept;
mod lost_answers;
mod matrix;
mod missing;
mod polling;
mod quirks;
mod reviewed;
mod revisions;
mod road;
mod scheduled;
mod sessions;
mod shown;
mod steps;
mod stopping;
mod unclear;

//! The book at `/docs/`: its pages, links, search and samples.

mod links;
mod pages;
mod samples;
mod source;

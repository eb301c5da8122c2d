//! Builds the model of a ticket from an order.

mod courier;
mod customer;
mod items;
mod kitchen;
mod maker;

pub use maker::Source;

use crate::model::{Blocks, Ticket};
use crate::options::{Kind, Options};
use crate::words::Words;
use maker::Maker;

/// The ticket of an order.
#[must_use]
pub fn build(source: &Source<'_>, options: Options) -> Ticket {
    let maker = Maker {
        source: *source,
        lang: options.lang,
        t: Words::of(options.lang),
    };
    let mut blocks = Blocks::default();
    maker.add_banners(&mut blocks, options.copy);
    let name = match options.kind {
        Kind::Kitchen => {
            kitchen::add(&maker, &mut blocks);
            maker.t.kitchen
        }
        Kind::Courier => {
            courier::add(&maker, &mut blocks);
            maker.t.courier
        }
        Kind::Customer => {
            customer::add(&maker, &mut blocks);
            maker.t.customer
        }
    };
    Ticket {
        options,
        title: format!("{name} {}", crate::clean::clean(maker.code())),
        blocks: blocks.0,
    }
}

#[cfg(test)]
mod tests;

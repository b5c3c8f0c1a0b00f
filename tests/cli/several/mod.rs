//! Several shops behind one gate: each host reaches its shop and the rooms of that shop, and no other host reaches any.

mod elsewhere;
mod endpoints;
mod health;
mod hosts;
mod looks;
mod reload;
mod rooms;

use crate::gate::{Gate, Site};
use crate::shop::Shop;
use crate::visitor::Visitor;

const MUSIC: &str = "music.test";
const BOOKS: &str = "books.test";

/// Two shops: the room `shop` with one slot is over the whole first one, the room `books` with one slot over `/buy` of the
/// second one.
struct Two {
    site: Site,
    books: Shop,
}

impl Two {
    /// With these further lines in each upstream, and `tables` behind.
    fn new(each: &str, tables: &str) -> Self {
        let room = "[[room]]\nname = \"books\"\nupstream = \"books\"\nroutes = [\"/buy\"]\ntotal_active_users = 1";
        let site = Site::new("upstream = \"music\"", &format!("{room}\n{tables}"));
        let books = Shop::open();
        let upstream = |name: &str, url: &str| {
            format!("[[upstream]]\nname = \"{name}\"\nhosts = [\"{name}.test\"]\nurl = \"{url}\"\n{each}\n")
        };
        let single = format!("[upstream]\nurl = \"{}\"\n", site.shop.url());
        let both = upstream("music", &site.shop.url()) + &upstream("books", &books.url());
        site.edit(&single, &both);
        Self { site, books }
    }

    fn start(&self) -> Gate {
        let gate = self.site.start();
        gate.lives();
        gate
    }

    /// Puts the second upstream before the first in the configuration.
    fn swap(&self) {
        let config = std::fs::read_to_string(self.site.path("config.toml")).unwrap();
        let [music, books] = ["[[upstream]]\nname = \"music\"", "[[upstream]]\nname = \"books\""];
        let (first, second) = (config.find(music).unwrap(), config.find(books).unwrap());
        let end = config.find("[store]").unwrap();
        let swapped = [
            &config[..first],
            &config[second..end],
            &config[first..second],
            &config[end..],
        ]
        .concat();
        std::fs::write(self.site.path("config.toml"), swapped).unwrap();
    }

    /// How often each of the two was asked for this path.
    fn asked(&self, path: &str) -> (usize, usize) {
        (self.site.shop.asked(path), self.books.asked(path))
    }
}

/// A visitor of this host.
fn at(gate: &Gate, host: &str) -> Visitor {
    gate.visitor().at_host(host)
}

/// A visitor who has the one slot of a room.
fn inside(gate: &Gate, host: &str, page: &str) -> Visitor {
    let mut visitor = at(gate, host);
    for _ in 0..2 {
        let answer = visitor.goes_to(page);
        assert!(answer.is_the_shops(), "{answer:?}\n{}", gate.program.err());
    }
    visitor
}

//! Cases over HTTP/2: frames of our own make, judged by what the shop got over HTTP/1.1 and what the client was told.

pub mod case;
pub mod cases;
pub mod client;
pub mod floods;
pub mod judge;
pub mod run;
pub mod wire;

//! Cases over HTTP/2: hand-made frames, judged by the shop's requests over HTTP/1.1 and the client's answer.

pub mod case;
pub mod cases;
pub mod client;
pub mod floods;
pub mod judge;
pub mod run;
pub mod wire;

//! Through the gate, without another proxy.

#[path = "cases/mod.rs"]
mod cases;

type House = crate::house::House<crate::house::Direct>;

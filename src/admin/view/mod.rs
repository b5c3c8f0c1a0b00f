//! Conversion of rooms, orders and gates to the API's types.

pub mod gate;
pub mod order;
pub mod room;

//! What rooms and gates say, in the API's types.

pub mod gate;
pub mod order;
pub mod room;

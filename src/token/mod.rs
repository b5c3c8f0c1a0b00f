//! token

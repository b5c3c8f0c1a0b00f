//! A lock that ignores poisoning: the data that it guards is never left half changed.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

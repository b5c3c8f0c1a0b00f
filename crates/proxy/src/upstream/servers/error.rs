//! Why there is no way to the upstream.

use std::io;

/// Why there is no way to the upstream.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// The certificates or the key to be used cannot be.
    #[error("[upstream] {key}: {why}")]
    Tls {
        /// The key of the configuration.
        key: &'static str,
        /// The reason for the error.
        why: String,
    },
    /// The system gives no thread.
    #[error("the system gives no threads: {0}")]
    Thread(#[from] io::Error),
}

//! Durations for people.

/// A count as a figure.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
pub fn float(count: u64) -> f64 {
    count as f64
}

/// Milliseconds as seconds.
pub fn secs(ms: u64) -> f64 {
    float(ms) / 1_000.0
}

/// Seconds in words: to the tenth below a minute.
pub fn in_words(secs: f64) -> String {
    if secs < 60.0 {
        return format!("{secs:.1} s");
    }
    whole_in_words(rounded(secs))
}

/// Whole seconds in words.
pub fn whole_in_words(secs: u64) -> String {
    match (secs / 3_600, secs / 60 % 60, secs % 60) {
        (0, 0, secs) => format!("{secs} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, secs) => format!("{minutes} min {secs} s"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// To the nearest whole second.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a duration is neither negative nor beyond 2^53"
)]
pub fn rounded(secs: f64) -> u64 {
    secs.round() as u64
}

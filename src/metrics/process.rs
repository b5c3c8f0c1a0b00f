//! Process metrics under the standard names of Prometheus clients.
//!
//! Read from `/proc` when asked; where there is none (not Linux) the figures are left out.

use std::fmt;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, NoLabelSet};
use prometheus_client::metrics::MetricType;
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

use ropeline_ids::Wall;

/// The `process_*` metrics; register it without a prefix.
#[derive(Debug)]
pub struct Process {
    /// When the process began.
    pub started: Wall,
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let used = clock_gettime(ClockId::ProcessCPUTime);
        #[expect(clippy::cast_precision_loss, reason = "a figure for a graph")]
        let cpu_secs = used.tv_sec as f64 + used.tv_nsec as f64 / 1e9;
        counter(
            &mut encoder,
            "process_cpu_seconds",
            "User and system CPU time",
            &cpu_secs,
        )?;
        #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit")]
        let started = self.started.0 as f64 / 1e3;
        gauge(
            &mut encoder,
            "process_start_time_seconds",
            "Start of the process, seconds since 1970",
            &started,
        )?;
        if let Some(limit) = getrlimit(Resource::Nofile).current {
            gauge(
                &mut encoder,
                "process_max_fds",
                "Most file descriptors the system allows",
                &limit,
            )?;
        }
        if let Ok(open) = fs::read_dir("/proc/self/fd") {
            gauge(
                &mut encoder,
                "process_open_fds",
                "Open file descriptors",
                &(open.count() as u64),
            )?;
        }
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        for (key, name, help) in MEMORY {
            if let Some(bytes) = kibibytes(&status, key) {
                gauge(&mut encoder, name, help, &bytes)?;
            }
        }
        if let Some(threads) = figure(&status, "Threads:") {
            gauge(&mut encoder, "process_threads", "Threads of the process", &threads)?;
        }
        Ok(())
    }
}

const MEMORY: [(&str, &str, &str); 2] = [
    ("VmRSS:", "process_resident_memory_bytes", "Memory in use"),
    ("VmSize:", "process_virtual_memory_bytes", "Address space in use"),
];

/// A line of `/proc/self/status` such as `VmRSS:      1234 kB`, in bytes.
fn kibibytes(status: &str, key: &str) -> Option<u64> {
    figure(status, key)?.checked_mul(1_024)
}

fn figure(status: &str, key: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

fn gauge(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: &impl EncodeGaugeValue) -> fmt::Result {
    encoder
        .encode_descriptor(name, help, None, MetricType::Gauge)?
        .encode_gauge(value)
}

fn counter(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    value: &impl EncodeCounterValue,
) -> fmt::Result {
    encoder
        .encode_descriptor(name, help, None, MetricType::Counter)?
        .encode_counter::<NoLabelSet, _, f64>(value, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_proc_are_read_in_bytes() {
        let status = "Name:\tx\nVmSize:\t  2048 kB\nVmRSS:\t    12 kB\nThreads:\t3\n";
        assert_eq!(kibibytes(status, "VmRSS:"), Some(12_288));
        assert_eq!(figure(status, "Threads:"), Some(3));
        assert_eq!(figure("VmRSS: many kB", "VmRSS:"), None);
    }
}

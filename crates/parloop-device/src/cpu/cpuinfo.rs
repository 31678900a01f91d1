//! The system's description of the CPU.

/// The first line of the system's CPU description with that key.
pub(super) fn cpuinfo_line(key: &str) -> Option<String> {
    use std::io::Read;
    let mut start = String::new();
    std::fs::File::open("/proc/cpuinfo").ok()?.take(16 << 10).read_to_string(&mut start).ok()?;
    start.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim().to_owned())
    })
}

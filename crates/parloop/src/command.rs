//! The `parloop` command: devices, doctor, cache.

use std::ffi::OsString;
use std::fmt::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{ContentArrangement, Table};
use parloop_device::{CompileError, Device, DeviceError, DeviceKind, Properties};
use parloop_kernel::Cache;
use serde_json::json;

/// Write a kernel once; run it on CPU threads, OpenCL, CUDA and HIP devices.
#[derive(Parser)]
#[command(name = "parloop", version, after_help = "Example:\n  parloop devices --json | jq '.[].name'")]
struct Command {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List the devices found, with the names that open them.
    #[command(after_help = "Example:\n  parloop devices\n  parloop devices --json")]
    Devices {
        /// Print JSON for programs instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Say what was found, what was not, and the one command that would get it.
    #[command(after_help = "Example:\n  parloop doctor")]
    Doctor,
    /// Look at the compile cache, or empty it.
    #[command(after_help = "Example:\n  parloop cache info\n  parloop cache clear")]
    Cache {
        #[command(subcommand)]
        action: CacheAction,
    },
}

#[derive(Subcommand)]
enum CacheAction {
    /// Where it is, how many kernels it holds, how large it is.
    Info,
    /// Remove every compiled kernel from it.
    Clear,
    /// Print its folder.
    Path,
}

/// Runs the command line `arguments`, the program's name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let command = match Command::try_parse_from(arguments) {
        Ok(command) => command,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    for name in unknown_variables() {
        eprintln!("parloop: warning: the environment variable {name} is not known; it has no effect");
    }
    let (text, success) = match command.action {
        Action::Devices { json: true } => (devices_json(), true),
        Action::Devices { json: false } => (devices_table(), true),
        Action::Doctor => doctor(),
        Action::Cache { action } => cache(action),
    };
    // A reader that has seen enough (`| head`) is no failure.
    let _ = std::io::Write::write_all(&mut std::io::stdout().lock(), text.as_bytes());
    if success { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Environment variables that look like ours and are not.
pub fn unknown_variables() -> Vec<String> {
    const KNOWN: [&str; 8] = [
        "PARLOOP_DEVICE",
        "PARLOOP_CHECKED",
        "PARLOOP_CACHE_DIR",
        "PARLOOP_CC",
        "PARLOOP_THREADS",
        "PARLOOP_LOG",
        "PARLOOP_NVRTC",
        "PARLOOP_HIP",
    ];
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    names.filter(|name| name.starts_with("PARLOOP_") && !KNOWN.contains(&name.as_str())).collect()
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Disabled).set_header(header.to_vec());
    table
}

fn devices_table() -> String {
    let mut table = table(&["device", "name", "arch", "units", "SIMD", "memory", "free"]);
    for device in Device::list() {
        let properties = device.properties();
        let free = device.memory_info().map_or_else(|_| "?".into(), |info| gibibytes(info.free));
        table.add_row([
            properties.id.to_string(),
            properties.name.clone(),
            properties.arch.clone(),
            properties.compute_units.to_string(),
            properties.simd_width.to_string(),
            gibibytes(properties.memory_total),
            free,
        ]);
    }
    format!("{table}\n")
}

fn devices_json() -> String {
    let devices: Vec<serde_json::Value> = Device::list().iter().map(|device| describe(device, device.properties())).collect();
    let text = serde_json::to_string_pretty(&devices).unwrap_or_default();
    format!("{text}\n")
}

fn describe(device: &Device, properties: &Properties) -> serde_json::Value {
    json!({
        "device": properties.id.to_string(),
        "kind": device.kind().name(),
        "name": properties.name,
        "arch": properties.arch,
        "driver": properties.driver,
        "compute_units": properties.compute_units,
        "simd_width": properties.simd_width,
        "memory_total": properties.memory_total,
        "memory_free": device.memory_info().ok().map(|info| info.free),
        "max_allocation": properties.max_allocation,
        "max_block": properties.max_block,
        "max_block_dims": properties.max_block_dims,
        "max_grid": properties.max_grid,
        "shared_memory": properties.shared_memory,
        "memory_alignment": properties.memory_alignment,
        "uuid": properties.uuid.map(|uuid| uuid.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))),
        "pci": properties.pci.map(|pci| pci.to_string()),
    })
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// One line a part: found or not, and how to get it.
fn doctor() -> (String, bool) {
    let mut table = table(&["part", "found", "how to get it"]);
    let mut usable = true;
    for (kind, devices) in Device::probe() {
        let (found, advice) = match devices {
            Ok(devices) if devices.is_empty() => ("the driver, but no device".to_owned(), no_device_advice(kind).to_owned()),
            Ok(devices) => (devices.iter().map(|d| d.properties().name.clone()).collect::<Vec<_>>().join("\n"), String::new()),
            Err(DeviceError::DriverMissing { hint, .. }) => ("no".to_owned(), hint),
            Err(error) => (format!("no: {error}"), String::new()),
        };
        table.add_row([format!("{kind} devices"), found, advice]);
    }
    let compilers = [
        (DeviceKind::Cpu, parloop_device::cpu::compiler()),
        (DeviceKind::Cuda, parloop_device::cuda::compiler("sm_80")),
        (DeviceKind::Hip, parloop_device::hip::compiler("gfx90a")),
    ];
    for (kind, compiler) in compilers {
        let (found, advice) = match compiler {
            Ok(compiler) => (compiler.identity().split_whitespace().next().unwrap_or_default().to_owned(), String::new()),
            Err(CompileError::NoCompiler { hint, .. }) => ("no".to_owned(), hint),
            Err(error) => (format!("no: {error}"), String::new()),
        };
        usable &= kind != DeviceKind::Cpu || advice.is_empty();
        table.add_row([format!("{kind} compiler"), found, advice]);
    }
    let cache = Cache::user().info();
    let (found, advice) = match cache.folder {
        Ok(folder) => (folder.display().to_string(), String::new()),
        Err(reason) => (format!("in memory only: {reason}"), "set PARLOOP_CACHE_DIR to a folder of your own".to_owned()),
    };
    table.add_row(["compile cache".to_owned(), found, advice]);
    let mut text = format!("{table}\n");
    let _ = writeln!(
        text,
        "{}",
        if usable { "CPU kernels can be compiled and run." } else { "No kernel can be compiled: install a C compiler." }
    );
    (text, usable)
}

fn no_device_advice(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Cpu => "",
        DeviceKind::OpenCl => "apt-get install pocl-opencl-icd",
        DeviceKind::Cuda => "an NVIDIA GPU; `nvidia-smi` says what the driver sees",
        DeviceKind::Hip => "an AMD GPU; `rocminfo` says what the driver sees",
    }
}

fn cache(action: CacheAction) -> (String, bool) {
    let cache = Cache::user();
    let info = cache.info();
    match (action, info.folder) {
        (CacheAction::Path, Ok(folder)) => (format!("{}\n", folder.display()), true),
        (CacheAction::Path, Err(reason)) | (CacheAction::Clear, Err(reason)) => (format!("there is no cache folder: {reason}\n"), false),
        (CacheAction::Clear, Ok(folder)) => (format!("{} compiled kernels removed from {}\n", cache.clear(), folder.display()), true),
        (CacheAction::Info, folder) => {
            let folder = folder.map_or_else(|reason| format!("in memory only: {reason}"), |folder| folder.display().to_string());
            let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
            let text =
                format!("folder   {folder}\nkernels  {}\nsize     {} of at most {}\n", info.entries, mib(info.bytes), mib(info.limit));
            (text, true)
        }
    }
}

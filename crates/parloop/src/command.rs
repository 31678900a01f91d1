//! The `parloop` command: devices, doctor, cache, show.

mod show;

use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{ContentArrangement, Table};
use parloop_device::{CompileError, Device, DeviceError, DeviceKind, Properties};
use parloop_kernel::Cache;
use parloop_loop::IslError;
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
    /// Show what was found, what is missing, and the command that installs it.
    #[command(after_help = "Example:\n  parloop doctor")]
    Doctor,
    /// Print the code of the kernel in a `.loop` file.
    #[command(after_help = "Example:\n  parloop show kernel.loop --target cuda")]
    Show {
        /// The file.
        file: PathBuf,
        /// The target of the code (default: the target in the file, or C).
        #[arg(long, value_parser = show::TARGETS)]
        target: Option<String>,
        /// Print the kernel after its transformations instead of code.
        #[arg(long, conflicts_with = "schedule")]
        kernel: bool,
        /// Print the order of its loops, instructions, barriers and launches instead of code.
        #[arg(long)]
        schedule: bool,
    },
    /// Inspect or clear the compile cache.
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
        eprintln!("parloop: warning: unknown environment variable {name}; it has no effect");
    }
    let (text, success) = match command.action {
        Action::Devices { json: true } => (devices_json(), true),
        Action::Devices { json: false } => (devices_table(), true),
        Action::Doctor => doctor(),
        Action::Show { file, target, kernel, schedule } => show::show(&file, target.as_deref(), show::What::asked(kernel, schedule)),
        Action::Cache { action } => cache(action),
    };
    // A reader that has seen enough (`| head`) is not a failure.
    let _ = std::io::Write::write_all(&mut std::io::stdout().lock(), text.as_bytes());
    if success { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Environment variables that look like ours and are not.
pub fn unknown_variables() -> Vec<String> {
    const KNOWN: [&str; 18] = [
        "PARLOOP_DEVICE",
        "PARLOOP_ARRAYS_DEVICE",
        "PARLOOP_CACHE_DIR",
        "PARLOOP_CC",
        "PARLOOP_CXX",
        "PARLOOP_THREADS",
        "PARLOOP_CHECKED",
        "PARLOOP_NVRTC",
        "PARLOOP_HIP",
        "PARLOOP_CUFFT",
        "PARLOOP_HIPFFT",
        "PARLOOP_ISL",
        "PARLOOP_MPI",
        "PARLOOP_MPI_ERRORS",
        "PARLOOP_MPI_GPU",
        "PARLOOP_MPI_INC",
        // How often `make leaks` makes each object.
        "PARLOOP_LEAKS",
        // How many random kernels a test tries.
        "PARLOOP_RANDOM_KERNELS",
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
    let mut text = String::new();
    let mut tell = |part: String, finding: Finding| {
        let _ = match finding {
            Finding::Here(what) => writeln!(text, "✓ {part:<16} {what}"),
            Finding::Missing(how) => writeln!(text, "✗ {part:<16} not found: {how}"),
        };
    };
    for (kind, devices) in Device::probe() {
        let names = |devices: Vec<Device>| devices.iter().map(|device| device.properties().name.clone()).collect::<Vec<_>>().join(", ");
        let finding = match devices {
            Ok(devices) if devices.is_empty() => Finding::Missing(format!("the driver found no device; {}", no_device_advice(kind))),
            Ok(devices) => Finding::Here(names(devices)),
            Err(DeviceError::DriverMissing { hint, .. }) => Finding::Missing(hint),
            Err(error) => Finding::Missing(error.to_string()),
        };
        tell(format!("{kind} devices"), finding);
    }
    let cpu_compiler = parloop_device::cpu::compiler();
    let usable = cpu_compiler.is_ok();
    let compilers = [
        (DeviceKind::Cpu, cpu_compiler),
        (DeviceKind::Cuda, parloop_device::cuda::compiler("sm_80")),
        (DeviceKind::Hip, parloop_device::hip::compiler("gfx90a")),
    ];
    for (kind, compiler) in compilers {
        let finding = match compiler {
            Ok(compiler) => Finding::Here(compiler.identity().split_whitespace().next().unwrap_or_default().to_owned()),
            Err(CompileError::NoCompiler { hint, .. }) => Finding::Missing(hint),
            Err(error) => Finding::Missing(error.to_string()),
        };
        tell(format!("{kind} compiler"), finding);
    }
    let isl = match parloop_loop::library_file() {
        Ok(file) => Finding::Here(file.display().to_string()),
        Err(IslError::Missing { reason }) if std::env::var_os("PARLOOP_ISL").is_some_and(|file| !file.is_empty()) => {
            Finding::Missing(reason)
        }
        Err(_) => Finding::Missing(
            "loop kernels need it; apt-get install libisl23, or pip install islpy, or set PARLOOP_ISL to the path of the library".into(),
        ),
    };
    tell("libisl".into(), isl);
    let cache = match Cache::user().info().folder {
        Ok(folder) => Finding::Here(folder.display().to_string()),
        Err(reason) => {
            Finding::Missing(format!("{reason}; kernels are compiled in every process; set PARLOOP_CACHE_DIR to a folder that you own"))
        }
    };
    tell("compile cache".into(), cache);
    text.push_str(if usable { "\nCPU kernels can be compiled and run.\n" } else { "\nNo kernel can be compiled: install a C compiler.\n" });
    (text, usable)
}

/// What `doctor` says of one part.
enum Finding {
    Here(String),
    /// With the way to get it.
    Missing(String),
}

fn no_device_advice(kind: DeviceKind) -> String {
    match (kind, parloop_device::opencl::unwritable_cache()) {
        (DeviceKind::Cpu, _) => "",
        (DeviceKind::OpenCl, Some(folder)) => {
            return format!("PoCL cannot write to {}; set POCL_CACHE_DIR to a folder that you own", folder.display());
        }
        (DeviceKind::OpenCl, None) => "apt-get install pocl-opencl-icd",
        (DeviceKind::Cuda, _) => "an NVIDIA GPU; `nvidia-smi` shows what the driver sees",
        (DeviceKind::Hip, _) => "an AMD GPU; `rocminfo` shows what the driver sees",
    }
    .to_owned()
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

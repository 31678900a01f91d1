//! The calls of a capture, seen by a driver of our own that writes them down.

use std::cell::RefCell;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::OnceLock;

use super::*;
use crate::backend::Compiler;
use crate::error::{CompileError, DeviceError};
use crate::gpu::calls::Failure;
use crate::gpu::driver::{Attributes, CallNames, Calls, GraphCallNames, PoolCalls};
use crate::gpu::fft_library::FftLibrary;
use crate::identity::{DeviceId, Properties};
use crate::kind::DeviceKind;

thread_local! {
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// The call that fails, if any.
    static FAILING: RefCell<&'static str> = const { RefCell::new("") };
}

fn log(call: &'static str, words: String) -> c_int {
    LOG.with_borrow_mut(|log| log.push(format!("{call}{words}")));
    if FAILING.with_borrow(|failing| *failing == call) { 901 } else { 0 }
}

unsafe extern "C" fn stream_create(handle: *mut u64, flags: c_uint) -> c_int {
    // SAFETY: a place for one handle.
    unsafe { handle.write(7) };
    log("stream_create", format!(" with {flags}"))
}

unsafe extern "C" fn stream_destroy(stream: u64) -> c_int {
    log("stream_destroy", format!(" {stream}"))
}

unsafe extern "C" fn fill(_address: u64, value: u8, len: usize, stream: u64) -> c_int {
    log("fill", format!(" {len} bytes by {value} on {stream}"))
}

unsafe extern "C" fn begin(stream: u64, mode: c_int) -> c_int {
    log("begin", format!(" {stream} in mode {mode}"))
}

unsafe extern "C" fn end(stream: u64, graph: *mut u64) -> c_int {
    let failed = log("end", format!(" {stream}"));
    // SAFETY: a place for one handle; a capture that failed gives none.
    unsafe { graph.write(if failed == 0 { 8 } else { 0 }) };
    failed
}

unsafe extern "C" fn instantiate(handle: *mut u64, graph: u64, flags: u64) -> c_int {
    // SAFETY: a place for one handle.
    unsafe { handle.write(9) };
    log("instantiate", format!(" {graph} with {flags}"))
}

unsafe extern "C" fn launch(graph: u64, stream: u64) -> c_int {
    log("launch", format!(" {graph} on {stream}"))
}

unsafe extern "C" fn destroy(graph: u64) -> c_int {
    log("destroy", format!(" {graph}"))
}

unsafe extern "C" fn destroy_instance(graph: u64) -> c_int {
    log("destroy_instance", format!(" {graph}"))
}

/// What no test calls.
unsafe extern "C" fn unused() {}

fn find(name: &'static str) -> Option<*const c_void> {
    Some(match name {
        "stream_create" => stream_create as *const c_void,
        "stream_destroy" => stream_destroy as *const c_void,
        "fill" => fill as *const c_void,
        "begin" => begin as *const c_void,
        "end" => end as *const c_void,
        "instantiate" => instantiate as *const c_void,
        "launch" => launch as *const c_void,
        "destroy" => destroy as *const c_void,
        "destroy_instance" => destroy_instance as *const c_void,
        _ => unused as *const c_void,
    })
}

const UNUSED: &str = "unused";
const CALLS: CallNames = CallNames {
    init: UNUSED,
    driver_version: UNUSED,
    device_count: UNUSED,
    device_get: UNUSED,
    device_name: UNUSED,
    device_total_memory: UNUSED,
    device_attribute: UNUSED,
    synchronize: UNUSED,
    memory_info: UNUSED,
    pointer_attribute: UNUSED,
    allocate: UNUSED,
    free: UNUSED,
    allocate_host: UNUSED,
    free_host: UNUSED,
    copy_to_device: UNUSED,
    copy_to_host: UNUSED,
    copy_on_device: UNUSED,
    fill: "fill",
    stream_create: "stream_create",
    stream_destroy: "stream_destroy",
    stream_synchronize: UNUSED,
    stream_query: UNUSED,
    stream_wait_event: UNUSED,
    event_create: UNUSED,
    event_destroy: UNUSED,
    event_record: UNUSED,
    event_query: UNUSED,
    event_synchronize: UNUSED,
    event_elapsed: UNUSED,
    module_load: UNUSED,
    module_unload: UNUSED,
    module_function: UNUSED,
    function_attribute: UNUSED,
    launch: UNUSED,
};
const GRAPH_CALLS: GraphCallNames = GraphCallNames {
    begin_capture: "begin",
    end_capture: "end",
    instantiate: "instantiate",
    launch: "launch",
    destroy: "destroy",
    destroy_instance: "destroy_instance",
};

struct Fake {
    calls: Calls,
    graphs: Option<GraphCalls>,
}

impl Driver for Fake {
    const KIND: DeviceKind = DeviceKind::Cuda;
    const ATTRIBUTES: Attributes = Attributes {
        compute_units: 0,
        simd_width: 0,
        max_block: 0,
        max_block_dims: 0,
        max_grid: 0,
        shared_memory: 0,
        pci_domain: 0,
        pci_bus: 0,
        pci_device: 0,
        pools_supported: 0,
    };

    fn id(index: usize) -> DeviceId {
        DeviceId::Cuda { index }
    }

    fn calls(&self) -> &Calls {
        &self.calls
    }

    fn pools(&self) -> Option<&PoolCalls> {
        None
    }

    fn graphs(&self) -> Option<&GraphCalls> {
        self.graphs.as_ref()
    }

    fn error_text(&self, _code: i32) -> String {
        "as told".into()
    }

    fn describe(&self, _device: c_int, _properties: &mut Properties) -> Result<(), Failure> {
        Ok(())
    }

    fn context(&self, _device: c_int) -> Result<u64, Failure> {
        Ok(1)
    }

    fn make_current(&self, _context: u64) -> Result<(), Failure> {
        Ok(())
    }

    fn compiler(&self, _arch: &str) -> Result<Arc<dyn Compiler>, CompileError> {
        unreachable!("nothing is compiled")
    }

    fn fft(&self) -> Result<&'static FftLibrary, DeviceError> {
        unreachable!("nothing is transformed")
    }
}

fn context(has_graphs: bool) -> Arc<Context<Fake>> {
    static WITH: OnceLock<Fake> = OnceLock::new();
    static WITHOUT: OnceLock<Fake> = OnceLock::new();
    let make = || Fake {
        // SAFETY: those that are called have the signatures of their fields.
        calls: unsafe { Calls::load(&CALLS, find) }.unwrap(),
        // SAFETY: as above.
        graphs: has_graphs.then(|| unsafe { GraphCalls::load(&GRAPH_CALLS, find) }.unwrap()),
    };
    let driver = if has_graphs { WITH.get_or_init(make) } else { WITHOUT.get_or_init(make) };
    Arc::new(Context::new(driver, "fake".into(), 0).unwrap())
}

/// What the driver saw since it was last asked.
fn seen() -> Vec<String> {
    LOG.with_borrow_mut(std::mem::take)
}

fn queue_fill(stream: &dyn RawStream) -> Result<()> {
    // SAFETY: the driver writes nothing.
    unsafe { stream.fill(64, 0, 4, 5) }
}

#[test]
fn work_is_captured_on_a_stream_of_its_own_and_launched_on_the_users() {
    let graph = GpuGraph::capture(context(true), &mut queue_fill).unwrap().unwrap();
    let captured = ["begin 7 in mode 2", "fill 4 bytes by 5 on 7", "end 7", "instantiate 8 with 0", "destroy 8", "stream_destroy 7"];
    assert_eq!(seen(), [&["stream_create with 1"], &captured[..]].concat());
    graph.launch(0).unwrap();
    graph.launch(3).unwrap();
    assert_eq!(seen(), ["launch 9 on 0", "launch 9 on 3"]);
    drop(graph);
    assert_eq!(seen(), ["destroy_instance 9"]);
}

#[test]
fn whatever_fails_the_capture_ends_and_everything_is_given_back() {
    let failing = |call: &'static str| {
        FAILING.set(call);
        let error = GpuGraph::capture(context(true), &mut queue_fill).err().unwrap().to_string();
        FAILING.set("");
        (error, seen().split_off(1).join(", "))
    };
    let (begun, ended) = ("begin 7 in mode 2, fill 4 bytes by 5 on 7, end 7", "destroy 8, stream_destroy 7");
    assert_eq!(failing("fill"), ("fake: fill failed with 901 (as told)".into(), format!("{begun}, {ended}")));
    assert_eq!(failing("end"), ("fake: end failed with 901 (as told)".into(), format!("{begun}, stream_destroy 7")));
    let instantiated = format!("{begun}, instantiate 8 with 0, {ended}");
    assert_eq!(failing("instantiate"), ("fake: instantiate failed with 901 (as told)".into(), instantiated));
    let not_begun = "begin 7 in mode 2, stream_destroy 7".to_owned();
    assert_eq!(failing("begin"), ("fake: begin failed with 901 (as told)".into(), not_begun));
}

#[test]
fn a_driver_without_graphs_is_asked_for_nothing() {
    let graph = GpuGraph::capture(context(false), &mut |_| unreachable!("there is nothing to capture")).unwrap();
    assert!(graph.is_none());
    assert!(seen().is_empty());
}

//! Pointers into memory at any offset, on every device.

mod devices;

use devices::on_every_device;
use parloop_device::{DType, DeviceError, Memory, as_bytes, as_bytes_mut};
use parloop_kernel::{Arg, Context, DeviceKind, Items, KernelError, Program, Slots, args};

fn compile_text(ctx: &Context, source: &str) -> Result<Program, KernelError> {
    // SAFETY: the kernels of these tests stay inside of what the tests pass.
    unsafe { ctx.compile(source) }
}

const SOURCE: &str = "
GPUKERN void add(GPUGLMEM const int32_t *RESTRICT x, GPUGLMEM int32_t *y, const int64_t n) {
    VECTORIZE_OVER(i, n)
        y[i] += x[i];
    END_VECTORIZE
}
GPUKERN void shift(const int32_t *x, int32_t *y,
                   // of a few
                   int32_t *first, const int64_t n) {
    VECTORIZE_OVER(i, n)
        y[i] = x[i] + 100;
        if (i == 0) *first = *x;
    END_VECTORIZE
}
GPUKERN void rows(const double table[2][3], double out[], const int64_t n) {
    VECTORIZE_OVER(i, n)
        out[i] = table[1][i];
    END_VECTORIZE
}
GPUKERN void which(const double *a, double *b, const char *c, void *d, int32_t *answer) {
    answer[0] = (a == NULL) + 2 * (b == NULL) + 4 * (c == NULL) + 8 * (d == NULL);
}
";

fn bytes_of(ctx: &Context, values: &[i32]) -> Memory {
    let memory = ctx.device().allocate(size_of_val(values)).unwrap();
    ctx.stream().write(&memory, 0, as_bytes(values)).unwrap();
    memory
}

fn values_of(ctx: &Context, memory: &Memory) -> Vec<i32> {
    let mut values = vec![0; memory.len() / 4];
    ctx.stream().read(memory, 0, as_bytes_mut(&mut values)).unwrap();
    values
}

fn of_i32(memory: &Memory, writable: bool) -> Arg<'_> {
    Arg::Memory { memory, dtype: Some(DType::I32), writable }
}

#[test]
fn parts_at_any_offset_are_read_and_written_where_they_are() {
    on_every_device(|ctx| {
        let prog = compile_text(ctx, SOURCE).unwrap();
        let add = prog.kernel("add").unwrap();
        for (from, to) in [(0, 0), (8, 4), (12, 8), (4, 12), (20, 36)] {
            let (x, y) = (bytes_of(ctx, &(0..16).collect::<Vec<_>>()), bytes_of(ctx, &[1000; 16]));
            let (x_part, y_part) = (x.slice(from, 24).unwrap(), y.slice(to, 24).unwrap());
            add.call(&mut [of_i32(&x_part, false), of_i32(&y_part, true), Arg::from(6)]).unwrap();
            let mut expected = vec![1000; 16];
            (0..6).for_each(|i| expected[to / 4 + i] += (from / 4 + i) as i32);
            assert_eq!(values_of(ctx, &y), expected, "from {from} to {to}");
        }
    });
}

#[test]
fn parts_of_parts_and_overlapping_parts_are_places_of_one_memory() {
    on_every_device(|ctx| {
        let prog = compile_text(ctx, SOURCE).unwrap();
        let shift = prog.kernel("shift").unwrap();
        let memory = bytes_of(ctx, &(0..16).collect::<Vec<_>>());
        let half = memory.slice(12, 48).unwrap();
        let inner = half.slice(8, 20).unwrap();
        let first = memory.slice(0, 4).unwrap();
        // The parts overlap, but no iteration writes what another reads.
        shift.call(&mut [of_i32(&half, false), of_i32(&inner, true), of_i32(&first, true), Arg::from(2)]).unwrap();
        let mut expected: Vec<i32> = (0..16).collect();
        (expected[5], expected[6], expected[0]) = (103, 104, 3);
        assert_eq!(values_of(ctx, &memory), expected);
        shift.call(&mut [of_i32(&inner, false), of_i32(&inner, true), of_i32(&first, true), Arg::from(5)]).unwrap();
        (5..10).for_each(|i| expected[i] += 100);
        expected[0] = 203;
        assert_eq!(values_of(ctx, &memory), expected);
    });
}

#[test]
fn arrays_of_rows_are_pointers_too() {
    on_every_device(|ctx| {
        let prog = compile_text(ctx, SOURCE).unwrap();
        let mut out = vec![0.0; 3];
        prog.kernel("rows").unwrap().call(args![&vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut out, 3]).unwrap();
        assert_eq!(out, [4.0, 5.0, 6.0]);
    });
}

#[test]
fn null_is_null_and_nothing_else_is() {
    on_every_device(|ctx| {
        let prog = compile_text(ctx, SOURCE).unwrap();
        let which = prog.kernel("which").unwrap();
        let memory = ctx.device().allocate(64).unwrap();
        let empty = memory.slice(8, 0).unwrap();
        let mut answer = [-1i32];
        which.call(&mut [Arg::Null, Arg::Null, Arg::Null, Arg::Null, Arg::from(&mut answer[..])]).unwrap();
        assert_eq!(answer, [15]);
        let part = memory.slice(8, 8).unwrap();
        which.call(&mut [Arg::from(&part), Arg::Null, Arg::from(&memory), Arg::from(&empty), Arg::from(&mut answer[..])]).unwrap();
        assert_eq!(answer, [10]);
    });
}

#[test]
fn a_bound_kernel_keeps_its_parts() {
    on_every_device(|ctx| {
        let prog = compile_text(ctx, SOURCE).unwrap();
        let (x, y) = (bytes_of(ctx, &[1, 2, 3, 4]), bytes_of(ctx, &[0; 4]));
        let parts = (x.slice(4, 12).unwrap(), y.slice(4, 12).unwrap());
        let mut add = prog.kernel("add").unwrap().bind(&mut [of_i32(&parts.0, false), of_i32(&parts.1, true), Arg::from(3)]).unwrap();
        drop((x, parts));
        add.call().unwrap();
        add.call().unwrap();
        assert_eq!(values_of(ctx, &y), [0, 4, 6, 8]);
    });
}

#[test]
fn a_pointer_slot_leads_to_a_byte_of_the_memory_or_to_its_end() {
    on_every_device(|ctx| {
        let prog = compile_text(ctx, SOURCE).unwrap();
        let add = prog.kernel("add").unwrap();
        let (x, y) = (bytes_of(ctx, &(0..8).collect::<Vec<_>>()), bytes_of(ctx, &[0; 8]));
        let mut slots = Slots::new();
        slots.extend([add.pointer_slot(&x, 12).unwrap(), add.pointer_slot(&y.slice(4, 28).unwrap(), 8).unwrap(), [2, 0]]);
        // SAFETY: two elements from each of the places are inside the memory, which lives to the end.
        unsafe { add.launch(&mut slots).unwrap() };
        assert_eq!(values_of(ctx, &y), [0, 0, 0, 3, 4, 0, 0, 0]);
        assert!(add.pointer_slot(&x, 32).is_ok());
        let error = add.pointer_slot(&x, 33).unwrap_err();
        assert_eq!(error, KernelError::Device(DeviceError::OutOfBounds { operation: "argument", offset: 33, len: 0, size: 32 }));
        assert_eq!(error.to_string(), "argument: bytes 33..33+0 were requested, but the memory has 32 bytes");
    });
}

#[test]
fn kernels_in_the_words_of_their_target_run_over_a_grid_of_blocks() {
    let opencl = "
__kernel void __attribute__ ((reqd_work_group_size(4, 2, 1))) place(__global int *__restrict__ out, __global int const *__restrict__ one, int const n)
{
  int const x = get_group_id(0) * 4 + get_local_id(0);
  int const y = get_group_id(1) * 2 + get_local_id(1);
  if (x < n)
    out[y * n + x] = 100 * y + x + one[0];
}";
    let cuda = "
extern \"C\" __global__ void __launch_bounds__(8) place(int *__restrict__ out, int const *__restrict__ one, int const n)
{
  int const x = blockIdx.x * 4 + threadIdx.x;
  int const y = blockIdx.y * 2 + threadIdx.y;
  if (x < n)
    out[y * n + x] = 100 * y + x + one[0];
}";
    on_every_device(|ctx| {
        let source = match ctx.device().kind() {
            DeviceKind::Cpu => return,
            DeviceKind::OpenCl => opencl,
            _ => cuda,
        };
        let prog = compile_text(ctx, source).unwrap();
        let (mut out, one) = (ctx.zeros::<i32>(6 * 10).unwrap(), ctx.array(&[1i32]).unwrap());
        let blocks = Items::Blocks { grid: [3, 3, 1], block: [4, 2, 1] };
        prog.kernel("place").unwrap().call_over(args![&mut out, &one, 10], blocks).unwrap();
        let expected: Vec<i32> = (0..6).flat_map(|y| (0..10).map(move |x| 100 * y + x + 1)).collect();
        assert_eq!(out.to_vec().unwrap(), expected);
    });
}

//! The C functions of object types against hand-written C on the same bytes and by the same compiler: the ratio of their times.
//!
//! `cargo bench -p parloop-object --bench capi`. Each loop is measured in turns with its counterpart; what is printed are medians.

use std::time::Instant;

use parloop_device::DType;
use parloop_kernel::{Array, BoundKernel, Context, Grid, args};
use parloop_object::{ApiOptions, ArrayType, StructType, Type, class_api, in_dependency_order};

const N: usize = 20_000;
const ROUNDS: usize = 401;

/// A loop written twice, and the bytes it runs over.
struct Case {
    name: &'static str,
    class: Type,
    words: Vec<u64>,
    /// Statements over `obj` and `n` that may add to `sum`.
    by_api: &'static str,
    /// What stands before the kernel, and the same statements over `base`.
    by_hand: (&'static str, &'static str),
}

fn structure(name: &str, fields: &[(&str, Type)]) -> Type {
    StructType::with_fields(name, fields.iter().map(|(name, ty)| (name.to_string(), ty.clone())).collect()).unwrap()
}

fn numbers(shape: &[Option<usize>]) -> Type {
    ArrayType::c_order(Type::Scalar(DType::F64), shape.to_vec()).unwrap()
}

fn cases() -> Vec<Case> {
    let number = Type::Scalar(DType::F64);
    let particle = structure("Particle", &[("x", number.clone()), ("px", number.clone()), ("id", Type::Scalar(DType::I32)), ("w", number)]);
    let particles = ArrayType::c_order(particle, vec![None]).unwrap();
    let n = N as u64;
    let reals = |count: usize| (0..count).map(|i| (1.0 + (i % 7) as f64).to_bits()).collect::<Vec<u64>>();
    let header = |header: &[u64], count| [header, &reals(count)].concat();
    let hand_particle = "struct particle { double x, px; int32_t id; double w; };";
    let array = 8 * (2 + n);
    let soa = [&[24 + 2 * array, n, 24 + array, array, n][..], &reals(N), &[array, n], &reals(N)].concat();
    let soa_class = structure("Soa", &[("n", Type::Scalar(DType::I64)), ("x", numbers(&[None])), ("px", numbers(&[None]))]);
    let (rows, columns) = (100u64, n / 100);
    vec![
        Case {
            name: "array of structs, updated",
            class: particles.clone(),
            words: header(&[16 + 32 * n, n], 4 * N),
            by_api: "
                for (int64_t i = 0; i < n; i++)
                    ArrNParticle_set_x(obj, i, ArrNParticle_get_x(obj, i) + 0.5 * ArrNParticle_get_px(obj, i));",
            by_hand: (
                hand_particle,
                "struct particle *p = (struct particle *)(base + 16);
                for (int64_t i = 0; i < n; i++) p[i].x = p[i].x + 0.5 * p[i].px;",
            ),
        },
        Case {
            name: "array of structs, by items",
            class: particles,
            words: header(&[16 + 32 * n, n], 4 * N),
            by_api: "
                for (int64_t i = 0; i < n; i++) {
                    Particle p = ArrNParticle_getp1(obj, i);
                    Particle_set_px(p, Particle_get_px(p) * 0.99);
                    sum += Particle_get_w(p);
                }",
            by_hand: (
                hand_particle,
                "struct particle *all = (struct particle *)(base + 16);
                for (int64_t i = 0; i < n; i++) { struct particle *p = &all[i]; p->px = p->px * 0.99; sum += p->w; }",
            ),
        },
        Case {
            name: "struct of arrays, updated",
            class: soa_class.clone(),
            words: soa.clone(),
            by_api: "for (int64_t i = 0; i < n; i++) Soa_set_x(obj, i, Soa_get_x(obj, i) + 0.5 * Soa_get_px(obj, i));",
            by_hand: (
                "struct soa { double *x, *px; };",
                "struct soa s = {(double *)(base + 40), (double *)(base + ((int64_t *)base)[2] + 16)};
                for (int64_t i = 0; i < n; i++) s.x[i] = s.x[i] + 0.5 * s.px[i];",
            ),
        },
        Case {
            name: "struct of arrays, summed",
            class: soa_class,
            words: soa,
            by_api: "for (int64_t i = 0; i < Soa_get_n(obj); i++) sum += Soa_get_x(obj, i) * Soa_get_px(obj, i);",
            by_hand: (
                "struct soa { double *x, *px; int64_t n; };",
                "struct soa s = {(double *)(base + 40), (double *)(base + ((int64_t *)base)[2] + 16), ((int64_t *)base)[1]};
                for (int64_t i = 0; i < s.n; i++) sum += s.x[i] * s.px[i];",
            ),
        },
        Case {
            name: "static struct of arrays",
            class: structure("Fixed", &[("x", numbers(&[Some(N)])), ("px", numbers(&[Some(N)]))]),
            words: reals(2 * N),
            by_api: "for (int64_t i = 0; i < n; i++) Fixed_set_x(obj, i, Fixed_get_x(obj, i) * 0.99 + Fixed_get_px(obj, i));",
            by_hand: (
                "struct fixed { double x[20000], px[20000]; };",
                "struct fixed *f = (struct fixed *)base;
                for (int64_t i = 0; i < n; i++) f->x[i] = f->x[i] * 0.99 + f->px[i];",
            ),
        },
        Case {
            name: "matrix with dynamic axes",
            class: numbers(&[None, None]),
            words: header(&[40 + 8 * n, rows, columns, 8 * columns, 8], N),
            by_api: "
                for (int64_t i = 0; i < ArrNxMFloat64_dim(obj, 0); i++)
                    for (int64_t j = 0; j < ArrNxMFloat64_dim(obj, 1); j++)
                        ArrNxMFloat64_set(obj, i, j, ArrNxMFloat64_get(obj, i, j) * 0.99 + 1);",
            by_hand: (
                "struct matrix { int64_t size, rows, columns, row_bytes, item_bytes; double items[]; };",
                "struct matrix *m = (struct matrix *)base;
                for (int64_t i = 0; i < m->rows; i++) {
                    double *row = (double *)((char *)m->items + i * m->row_bytes);
                    for (int64_t j = 0; j < m->columns; j++) row[j] = row[j] * 0.99 + 1;
                }",
            ),
        },
    ]
}

/// One kernel with these statements, bound to memory of its own.
struct Bound {
    kernel: BoundKernel,
    memory: Array<u64>,
    out: Array<f64>,
}

impl Bound {
    fn new(ctx: &Context, words: &[u64], before: &str, statements: &str) -> Bound {
        let body = format!("double sum = 0; {statements} out[0] = sum;");
        let text = format!("{before}\nGPUKERN void run(GPUGLMEM char *base, GPUGLMEM double *out, const int64_t n) {{ {body} }}");
        // SAFETY: the loops stay inside of `N` items.
        let program = unsafe { ctx.compile(&text) }.unwrap();
        let (memory, mut out) = (ctx.array(words).unwrap(), ctx.zeros::<f64>(1).unwrap());
        let kernel = program.kernel("run").unwrap().with_grid(Grid::Items(1), None).unwrap();
        let kernel = kernel.bind(args![memory.memory(), &mut out, N]).unwrap();
        Bound { kernel, memory, out }
    }

    /// The microseconds of one call.
    fn time(&mut self) -> f64 {
        let start = Instant::now();
        self.kernel.call().unwrap();
        start.elapsed().as_secs_f64() * 1e6
    }

    fn result(&self) -> (Vec<u64>, Vec<f64>) {
        (self.memory.to_vec().unwrap(), self.out.to_vec().unwrap())
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let ctx = Context::open("cpu:1").unwrap();
    for case in cases() {
        let classes = in_dependency_order(std::slice::from_ref(&case.class)).unwrap();
        let api: String = classes.iter().map(|class| class_api(class, &[], &ApiOptions::default(), 0).source).collect();
        let name = case.class.name();
        let mut by_api = Bound::new(&ctx, &case.words, &api, &format!("{name} obj = ({name})base; {}", case.by_api));
        let mut by_hand = Bound::new(&ctx, &case.words, case.by_hand.0, case.by_hand.1);
        let times: Vec<(f64, f64)> = (0..ROUNDS).map(|_| (by_api.time(), by_hand.time())).collect();
        assert_eq!(by_api.result(), by_hand.result(), "{}", case.name);
        let (api, hand) = (median(times.iter().map(|pair| pair.0).collect()), median(times.iter().map(|pair| pair.1).collect()));
        println!("{:28} {api:8.2} µs by API, {hand:8.2} µs by hand, ratio {:.3}", case.name, api / hand);
    }
}

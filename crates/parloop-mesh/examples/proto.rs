use std::sync::Arc;
use parloop_loop::callable::{Access, CFunction};
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::syntax::{KernelOptions, Target};
use parloop_loop::transform::register_callable;
fn main() {
    let src = "static inline void res(const double *x, const double *q, double *r) {\n  double dx = x[0]-x[2]; r[0] += dx*q[0]; r[4] -= dx*q[4]; }\n";
    let f = CFunction::parse(src, "res").unwrap().with_access([Access::Read, Access::Read, Access::ReadWrite]);
    let mut options = KernelOptions::default();
    options.check_bounds = false;
    options.silenced = ["write_race(s2)".into()].into_iter().collect();
    for target in [Target::C, Target::Cuda, Target::OpenCl] {
    let b = if target == Target::C { KernelBuilder::new().domain("{[g]: 0<=g<groups}").domain("[lo,hi]->{[k]: lo<=k<hi}")
        .instructions("<int32> lo = bounds[first+g] {id=lo}\n<int32> hi = bounds[first+g+1] {id=hi}\n<int32> e = k {id=e,dep=lo:hi}")
        } else { KernelBuilder::new().domain("{[g,l]: 0<=l<128 and 0<=128*g+l<count}").instructions("<int32> e = begin + 128*g+l {id=e}") };
    let program = b
        .domain("{[i0,d0,i0_c,d0_c]: 0<=i0,i0_c<2 and 0<=d0,d0_c<2}")
        .domain("{[i1,d1,i1_c,d1_c]: 0<=i1,i1_c<2 and 0<=d1,d1_c<4}")
        .domain("{[i2,d2,i2_c,d2_c,i2_s,d2_s]: 0<=i2,i2_c,i2_s<2 and 0<=d2,d2_c,d2_s<4}")
        .instructions("
            t0[i0,d0] = dat0[map0[e,i0],d0] {id=g0,dep=e}
            t1[i1,d1] = dat1[map1[e,i1],d1] {id=g1,dep=e}
            t2[i2,d2] = 0.0 {id=g2,dep=e}
            [i2_c,d2_c]: t2[i2_c,d2_c] = res([i0_c,d0_c]: t0[i0_c,d0_c], [i1_c,d1_c]: t1[i1_c,d1_c], [i2_c,d2_c]: t2[i2_c,d2_c]) {id=call,dep=g0:g1:g2}
            dat2[map1[e,i2_s],d2_s] = dat2[map1[e,i2_s],d2_s] + t2[i2_s,d2_s] {id=s2,dep=call}
        ")
        .data(Data::global("dat0").dtype("float64").unknown_shape().strides("2,1"))
        .data(Data::global("dat1,dat2").dtype("float64").unknown_shape().strides("4,1"))
        .data(Data::global("map0,map1").dtype("int32").unknown_shape().strides("2,1"))
        .data(Data::global("bounds").dtype("int32").unknown_shape().strides("1"))
        .data(Data::temporary("t0").dtype("float64").shape("2,2"))
        .data(Data::temporary("t1").dtype("float64").shape("2,4"))
        .data(Data::temporary("t2").dtype("float64").shape("2,4"))
        .data(Data::value(if target==Target::C {"first, groups"} else {"begin, count"}).dtype("int32"))
        .options(options.clone())
        .name("loop_res").build();
    let program = match program { Ok(p) => p, Err(e) => { println!("create: {e}"); continue } };
    let mut program = register_callable(&program, "res", Arc::new(f.clone()), false).unwrap();
    for t in ["g:g.0", "l:l.0", "i0:unr","d0:unr","i1:unr","d1:unr","i2:unr","d2:unr","i2_s:unr","d2_s:unr"] {
        if target == Target::C && t == "l:l.0" { continue }
        program = program.with_kernel(parloop_loop::transform::tag_inames(program.kernel("loop_res").unwrap(), &t.parse().unwrap()).unwrap());
    }
    let t0 = std::time::Instant::now();
    match program.generate(target) { Ok(g) => println!("{}\n{:?}", g.code.text, t0.elapsed()), Err(e) => println!("{target:?}: {e}") }
    }
}

//! Schedules of whole kernels, as transformations leave them.

use parloop_device::DType;
use parloop_loop::check::{after_schedule, before_schedule};
use parloop_loop::create::{Data, KernelBuilder};
use parloop_loop::infer::address_spaces;
use parloop_loop::reduce::{Realization, realize};
use parloop_loop::schedule::{assign_automatic_axes, schedule};
use parloop_loop::syntax::{InameTag, LoopKernel, Program};
use parloop_loop::transform::{Prefetch, Split, add_prefetch, split_iname};

fn matmul() -> LoopKernel {
    let data = Data::global("a, b, c").dtype(DType::F32).shape("n, n");
    let kernel =
        KernelBuilder::new().domain("{[i,j,k]: 0<=i,j,k<n}").instructions("c[i,j] = sum(k, a[i,k]*b[k,j]) {id=mul}").data(data).rest();
    let kernel = kernel.build_kernel().unwrap();
    let kernel = split_iname(&kernel, "i", &Split::by(16).outer(InameTag::Group(0)).inner(InameTag::Local(1))).unwrap();
    let kernel = split_iname(&kernel, "j", &Split::by(16).outer(InameTag::Group(1)).inner(InameTag::Local(0))).unwrap();
    let kernel = split_iname(&kernel, "k", &Split::by(16)).unwrap();
    let kernel = add_prefetch(&kernel, &Prefetch::new("a", ["k_inner", "i_inner"])).unwrap();
    add_prefetch(&kernel, &Prefetch::new("b", ["j_inner", "k_inner"])).unwrap()
}

#[test]
fn a_tiled_matrix_product_fetches_between_two_barriers() {
    let kernel = assign_automatic_axes(&matmul()).unwrap();
    let kernel = realize(&kernel, &Realization::default(), &|_, _| Ok(DType::F32.into())).unwrap();
    let kernel = address_spaces(&kernel).unwrap();
    let program = Program::of(kernel.clone());
    before_schedule(&program, &kernel).unwrap();
    let schedule = schedule(&program, &kernel).unwrap();
    after_schedule(&program, &schedule).unwrap();
    assert_eq!(schedule.launches[0].group_size, [16, 16].map(parloop_loop::syntax::Expr::int));
    let expected = "launch loopy_kernel
  run mul_k_outer_k_inner_init
  for k_outer
    barrier local, local memory
    run a_fetch_rule
    run b_fetch_rule
    barrier local, local memory
    for k_inner
      run mul_k_outer_k_inner_update
  run mul
";
    assert_eq!(schedule.to_string(), expected);
}

//! A struct on every device: a kernel changes it in place, and it is read back. `cargo run --release --example 02_objects`.

use parloop::prelude::*;

#[derive(Object, Debug, PartialEq)]
struct Beam {
    /// Turns done so far.
    turns: i64,
    x: Vec<f64>,
    px: Vec<f64>,
    name: String,
}

/// A turn in phase space, by the C functions that come with the struct.
const TURN: &str = "
GPUKERN void turn(Beam beam, const double cosine, const double sine) {
    VECTORIZE_OVER(i, Beam_len_x(beam))
        double x = Beam_get_x(beam, i);
        double px = Beam_get_px(beam, i);
        Beam_set_x(beam, i, cosine * x + sine * px);
        Beam_set_px(beam, i, cosine * px - sine * x);
        if (i == 0) Beam_set_turns(beam, Beam_get_turns(beam) + 1);
    END_VECTORIZE
}";

fn main() -> Result<(), ObjectError> {
    let beam = Beam { turns: 0, x: vec![1.0, 3.0, 2.0], px: vec![2.0, 1.0, -1.0], name: "probe".into() };
    println!("{:<12} {:<7} {:>5}  {:<18} px", "device", "name", "turns", "x");
    for device in Device::list() {
        let ctx = Context::on(device.default_stream()?);
        // SAFETY: the kernel goes through as many particles as the beam has.
        let prog = unsafe { ctx.compile_with_objects(TURN, &[Beam::object_type()], &ObjectOptions::default())? };
        let mut placed = ctx.place(&beam)?;
        // A quarter of a turn, twice: x and px change their signs.
        for _ in 0..2 {
            prog.kernel("turn")?.call(args![&mut placed, 0.0, 1.0])?;
        }

        let Beam { turns, x, px, name } = placed.get()?;
        let (id, list) = (device.id().to_string(), format!("{x:?}"));
        println!("{id:<12} {name:<7} {turns:>5}  {list:<18} {px:?}");
        assert_eq!((turns, name.as_str()), (2, "probe"));
        assert_eq!((x, px), (vec![-1.0, -3.0, -2.0], vec![-2.0, -1.0, 1.0]));
    }
    Ok(())
}

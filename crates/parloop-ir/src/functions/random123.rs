//! Counter-based random numbers: Philox and Threefry (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
//!
//! `values, counter = philox4x32_f32(counter, key)`: random numbers for a counter and a key, and the next counter.

use std::any::Any;
use std::fmt::Write;
use std::sync::Arc;

use parloop_device::DType;
use parloop_isl::Name;

use super::scalar::only_values;
use super::words::{function_words, native_type, vector_maker, vector_type};
use crate::callable::{ArgDescriptors, ArgId, ArgTypes, CallSite, Callable, CallableError, Emitted, Inference, TypeName};
use crate::syntax::{Preamble, Target, Type, lane_name};

/// How counters are mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mixing {
    /// By multiplication, in 10 rounds.
    Philox,
    /// By addition and rotation, in 20 rounds.
    Threefry,
}

/// What the numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gives {
    /// Integers of the width of the counter.
    Integers,
    /// Single-precision numbers from 0 to 1.
    Singles,
    /// Double-precision numbers from 0 to 1.
    Doubles,
}

/// A generator: `philox4x32`, `threefry2x64_f64`.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomFunction {
    name: Name,
    name_in_target: Name,
    mixing: Mixing,
    /// The numbers of a counter: 2 or 4.
    width: u8,
    /// The type of the numbers of a counter.
    word: DType,
    gives: Gives,
    types: Option<ArgTypes>,
    descriptors: Option<ArgDescriptors>,
}

impl RandomFunction {
    /// The generator of that name.
    ///
    /// ```
    /// use parloop_loop::callable::{Callable, RandomFunction};
    /// assert_eq!(RandomFunction::find("philox4x32_f32").unwrap().name(), "philox4x32_f32");
    /// assert!(RandomFunction::find("philox3x32").is_none());
    /// ```
    pub fn find(name: &str) -> Option<RandomFunction> {
        let (generator, gives) = match name.rsplit_once('_') {
            None => (name, Gives::Integers),
            Some((generator, "f32")) => (generator, Gives::Singles),
            Some((generator, "f64")) => (generator, Gives::Doubles),
            Some(_) => return None,
        };
        let (mixing, size) = match generator.strip_prefix("philox") {
            Some(size) => (Mixing::Philox, size),
            None => (Mixing::Threefry, generator.strip_prefix("threefry")?),
        };
        let (width, word) = match size {
            "2x32" => (2, DType::U32),
            "2x64" => (2, DType::U64),
            "4x32" => (4, DType::U32),
            "4x64" => (4, DType::U64),
            _ => return None,
        };
        let name_in_target = format!("pl_{name}").into();
        Some(RandomFunction { name: name.into(), name_in_target, mixing, width, word, gives, types: None, descriptors: None })
    }

    /// The generator without what it gives: `philox4x32`.
    fn generator(&self) -> &str {
        self.name.split('_').next().unwrap_or(&self.name)
    }

    /// The numbers of a key as it is passed. Philox uses half as many as a counter has, Threefry as many.
    fn key_width(&self) -> u8 {
        if self.mixing == Mixing::Philox { 2 } else { 4 }
    }

    fn counter(&self) -> Type {
        Type::Vector(self.word, self.width)
    }

    fn result(&self) -> Type {
        match self.gives {
            Gives::Integers => self.counter(),
            Gives::Singles => Type::Vector(DType::F32, self.width),
            Gives::Doubles => Type::Vector(DType::F64, self.width),
        }
    }

    /// Whether each number takes two counters: a double has more bits than an integer of 32.
    fn takes_two(&self) -> bool {
        self.gives == Gives::Doubles && self.word == DType::U32
    }

    fn misfit(&self, reason: String) -> CallableError {
        CallableError::Misfit { function: self.name.clone(), reason }
    }

    /// `values`, then the next counter.
    fn emitted(&self) -> [Emitted; 2] {
        let args = || [0, 1].map(Emitted::argument).to_vec();
        let next = format!("pl_{}_next{}", self.generator(), if self.takes_two() { "_two" } else { "" });
        [Emitted::Call(self.name_in_target.clone(), args()), Emitted::Call(next.into(), vec![Emitted::argument(0)])]
    }
}

// SAFETY: the preamble defines the functions that it emits, which use no memory.
unsafe impl Callable for RandomFunction {
    fn name(&self) -> &Name {
        &self.name
    }

    fn name_in_target(&self) -> Option<&Name> {
        Some(&self.name_in_target)
    }

    fn types(&self) -> Option<&ArgTypes> {
        self.types.as_ref()
    }

    fn descriptors(&self) -> Option<&ArgDescriptors> {
        self.descriptors.as_ref()
    }

    fn with_types(&self, types: &ArgTypes, inference: &mut dyn Inference) -> Result<Arc<dyn Callable>, CallableError> {
        if inference.target() == Target::Ispc {
            return Err(CallableError::NotOnTarget { function: self.name.clone(), target: Target::Ispc });
        }
        let takes = [self.counter(), Type::Vector(self.word, self.key_width())];
        for (id, ty) in types {
            let expected = match id {
                ArgId::Position(place) if *place < 0 => continue,
                ArgId::Position(place) => takes.get(*place as usize),
                ArgId::Keyword(name) => return Err(self.misfit(format!("it takes no keyword arguments, but `{name}` is given"))),
            };
            match expected {
                None => return Err(CallableError::ArgumentCount { function: self.name.clone(), takes: "2".into(), found: types.len() }),
                Some(expected) if expected != ty => {
                    let (expected, found) = (TypeName(expected.clone()), TypeName(ty.clone()));
                    return Err(self.misfit(format!("{id} must be of type {expected}, not {found}")));
                }
                Some(_) => {}
            }
        }
        let [counter, key] = takes;
        let types = [
            (ArgId::argument(0), counter.clone()),
            (ArgId::argument(1), key),
            (ArgId::result(0), self.result()),
            (ArgId::result(1), counter),
        ];
        Ok(Arc::new(RandomFunction { types: Some(types.into()), ..self.clone() }))
    }

    fn with_descriptors(
        &self,
        descriptors: &ArgDescriptors,
        site: &CallSite<'_>,
        _inference: &mut dyn Inference,
    ) -> Result<Arc<dyn Callable>, CallableError> {
        if site.args.len() != 2 {
            return Err(CallableError::ArgumentCount { function: self.name.clone(), takes: "2".into(), found: site.args.len() });
        }
        only_values(&self.name, descriptors)?;
        Ok(Arc::new(RandomFunction { descriptors: Some(descriptors.clone()), ..self.clone() }))
    }

    fn emit_call(&self, _site: &CallSite<'_>) -> Result<Emitted, CallableError> {
        Err(CallableError::ResultCount { function: self.name.clone(), gives: "2".into(), found: 1 })
    }

    fn emit_call_insn(&self, site: &CallSite<'_>) -> Result<(Emitted, bool), CallableError> {
        if site.results.len() != 2 {
            return Err(CallableError::ResultCount { function: self.name.clone(), gives: "2".into(), found: site.results.len() });
        }
        Ok((Emitted::Tuple(self.emitted().into()), false))
    }

    fn preambles(&self, target: Target) -> Result<Vec<Preamble>, CallableError> {
        let text = Text { function: self, target };
        let generator = self.generator();
        // SAFETY: the texts define functions that use no memory, the second after the first.
        unsafe {
            let mut found = vec![Preamble::new(format!("60_random_{generator}"), text.generator())];
            if self.gives != Gives::Integers {
                found.push(Preamble::new(format!("61_random_{}", self.name), text.converted()));
            }
            Ok(found)
        }
    }

    fn is_builtin(&self) -> bool {
        true
    }

    fn is_same(&self, other: &dyn Callable) -> bool {
        other.as_any().downcast_ref::<RandomFunction>() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The text of a generator in the language of a target.
struct Text<'a> {
    function: &'a RandomFunction,
    target: Target,
}

impl Text<'_> {
    /// A vector of those lanes.
    fn vector(&self, dtype: DType, lanes: &[String]) -> String {
        let (count, list) = (lanes.len() as u8, lanes.join(", "));
        match self.target {
            Target::OpenCl => format!("({})({list})", vector_type(dtype, count, self.target)),
            _ => format!("{}({list})", vector_maker(dtype, count, self.target)),
        }
    }

    fn type_of(&self, ty: &Type) -> String {
        match ty {
            Type::Vector(dtype, lanes) => vector_type(*dtype, *lanes, self.target),
            other => other.to_string(),
        }
    }

    fn is_wide(&self) -> bool {
        self.function.word == DType::U64
    }

    /// A constant of the generator.
    fn word(&self, value: u64) -> String {
        match (self.is_wide(), self.target) {
            (false, _) => format!("{value:#x}u"),
            (true, Target::Cuda | Target::Hip) => format!("{value:#x}ull"),
            (true, _) => format!("{value:#x}ul"),
        }
    }

    /// The functions that mix a counter with a key, and count.
    fn generator(&self) -> String {
        let function = self.function;
        let (words, word) = (function_words(self.target), native_type(function.word, self.target));
        let counter = self.type_of(&function.counter());
        let key = vector_type(function.word, function.key_width(), self.target);
        let name = function.generator();
        let mut text = String::new();
        let mut line = |part: String| writeln!(text, "{part}").expect("invariant: strings take all text");
        line(format!("{words} {counter} pl_{name}({counter} counter, {key} key)"));
        line("{".into());
        for lane in 0..function.width {
            line(format!("  {word} c{lane} = counter.{};", lane_name(lane, function.width)));
        }
        let body = match function.mixing {
            Mixing::Philox => self.philox(),
            Mixing::Threefry => self.threefry(),
        };
        body.into_iter().for_each(&mut line);
        let lanes: Vec<String> = (0..function.width).map(|lane| format!("c{lane}")).collect();
        line(format!("  return {};", self.vector(function.word, &lanes)));
        line("}".into());
        line(format!("{words} {counter} pl_{name}_next({counter} counter)"));
        line("{".into());
        // The last number of four tells streams apart.
        line(match function.width {
            2 => "  if (++counter.x == 0)\n    ++counter.y;".into(),
            _ => "  if (++counter.x == 0)\n    if (++counter.y == 0)\n      ++counter.z;".into(),
        });
        line("  return counter;".into());
        line("}".into());
        line(format!("{words} {counter} pl_{name}_next_two({counter} counter)"));
        line("{".into());
        line(format!("  return pl_{name}_next(pl_{name}_next(counter));"));
        line("}".into());
        text
    }

    /// The upper half of a product.
    fn upper(&self, a: &str, b: &str) -> String {
        match (self.is_wide(), self.target) {
            (_, Target::OpenCl) => format!("mul_hi({a}, {b})"),
            (true, Target::Cuda | Target::Hip) => format!("__umul64hi({a}, {b})"),
            (false, Target::Cuda | Target::Hip) => format!("__umulhi({a}, {b})"),
            (true, _) => format!("(uint64_t)(((unsigned __int128){a} * {b}) >> 64)"),
            (false, _) => format!("(uint32_t)(((uint64_t){a} * {b}) >> 32)"),
        }
    }

    fn philox(&self) -> Vec<String> {
        let (width, is_wide) = (self.function.width, self.is_wide());
        let word = native_type(self.function.word, self.target);
        let factors: &[u64] = match (width, is_wide) {
            (2, false) => &[0xd256_d193],
            (2, true) => &[0xd2b7_4407_b1ce_6e93],
            (_, false) => &[0xd251_1f53, 0xcd9e_8d57],
            (_, true) => &[0xd2e7_470e_e14c_6c93, 0xca5a_8263_9512_1157],
        };
        let steps: [u64; 2] = match is_wide {
            false => [0x9e37_79b9, 0xbb67_ae85],
            true => [0x9e37_79b9_7f4a_7c15, 0xbb67_ae85_84ca_a73b],
        };
        let keys = usize::from(width) / 2;
        let mut lines: Vec<String> = (0..keys).map(|at| format!("  {word} k{at} = key.{};", ["x", "y"][at])).collect();
        lines.push("  for (int turn = 0; turn < 10; ++turn)".into());
        lines.push("  {".into());
        for (at, &factor) in factors.iter().enumerate() {
            let (factor, lane) = (self.word(factor), format!("c{}", 2 * at));
            lines.push(format!("    {word} const upper{at} = {};", self.upper(&factor, &lane)));
            lines.push(format!("    {word} const lower{at} = {factor} * {lane};"));
        }
        lines.extend(
            match width {
                2 => vec!["    c0 = upper0 ^ k0 ^ c1;", "    c1 = lower0;"],
                _ => vec!["    c0 = upper1 ^ c1 ^ k0;", "    c1 = lower1;", "    c2 = upper0 ^ c3 ^ k1;", "    c3 = lower0;"],
            }
            .into_iter()
            .map(String::from),
        );
        lines.extend((0..keys).map(|at| format!("    k{at} += {};", self.word(steps[at]))));
        lines.push("  }".into());
        lines
    }

    fn threefry(&self) -> Vec<String> {
        let (width, is_wide) = (usize::from(self.function.width), self.is_wide());
        let word = native_type(self.function.word, self.target);
        let parity = if is_wide { 0x1bd1_1bda_a9fc_1a22 } else { 0x1bd1_1bda };
        // For each of eight rounds, how far each pair is rotated.
        let rotations: [&[u32]; 8] = match (width, is_wide) {
            (2, false) => [&[13], &[15], &[26], &[6], &[17], &[29], &[16], &[24]],
            (2, true) => [&[16], &[42], &[12], &[31], &[16], &[32], &[24], &[21]],
            (_, false) => [&[10, 26], &[11, 21], &[13, 27], &[23, 5], &[6, 20], &[17, 11], &[25, 10], &[18, 20]],
            (_, true) => [&[14, 16], &[52, 57], &[23, 40], &[5, 37], &[25, 33], &[46, 12], &[58, 22], &[32, 32]],
        };
        let bits = if is_wide { 64 } else { 32 };
        let mut lines: Vec<String> = (0..width).map(|at| format!("  {word} const k{at} = key.{};", ["x", "y", "z", "w"][at])).collect();
        let all: Vec<String> = (0..width).map(|at| format!("k{at}")).collect();
        lines.push(format!("  {word} const k{width} = {} ^ {};", self.word(parity), all.join(" ^ ")));
        lines.extend((0..width).map(|at| format!("  c{at} += k{at};")));
        for round in 0..20 {
            for (pair, by) in rotations[round % 8].iter().enumerate() {
                // Every second round, the other numbers of the pairs change places.
                let (to, from) = (2 * pair, if round % 2 == 0 || width == 2 { 2 * pair + 1 } else { 3 - 2 * pair });
                lines.push(format!("  c{to} += c{from};"));
                lines.push(format!("  c{from} = ((c{from} << {by}) | (c{from} >> {})) ^ c{to};", bits - by));
            }
            if round % 4 == 3 {
                let turn = round / 4 + 1;
                let more = |at: usize| if at == width - 1 { format!(" + {}", self.word(turn as u64)) } else { String::new() };
                lines.extend((0..width).map(|at| format!("  c{at} += k{}{};", (turn + at) % (width + 1), more(at))));
            }
        }
        lines
    }

    /// The function that makes floating-point numbers of the integers.
    fn converted(&self) -> String {
        let function = self.function;
        let (words, name, generator) = (function_words(self.target), &function.name_in_target, function.generator());
        let (result, counter) = (self.type_of(&function.result()), self.type_of(&function.counter()));
        let key = vector_type(function.word, function.key_width(), self.target);
        let (dtype, suffix) = if function.gives == Gives::Singles { (DType::F32, "f") } else { (DType::F64, "") };
        let number = native_type(dtype, self.target);
        let scale = if self.is_wide() { "5.421010862427522e-20" } else { "2.3283064365386963e-10" };
        let lanes = (0..function.width).map(|lane| {
            let lane = lane_name(lane, function.width);
            let upper = format!("({number})upper.{lane} * {scale}{suffix}");
            if function.takes_two() { format!("{upper} + ({number})lower.{lane} * 5.421010862427522e-20") } else { upper }
        });
        let lanes: Vec<String> = lanes.collect();
        let lower = match function.takes_two() {
            true => format!("  {counter} const lower = pl_{generator}(pl_{generator}_next(counter), key);\n"),
            false => String::new(),
        };
        format!(
            "{words} {result} {name}({counter} counter, {key} key)\n{{\n  {counter} const upper = pl_{generator}(counter, key);\n{lower}  return {};\n}}\n",
            self.vector(dtype, &lanes)
        )
    }
}

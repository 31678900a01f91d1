//! Random numbers that are the same in every run, and integers seen as numbers of any type.

use parloop_device::DType;
use parloop_mesh::{Dat, DataSet, Global};

/// A small generator (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to, but without, an end.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    pub fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// The types that loops are tried with.
pub const TYPES: [DType; 10] =
    [DType::F64, DType::F32, DType::I32, DType::I64, DType::U32, DType::U8, DType::I8, DType::I16, DType::U16, DType::U64];

/// The type in C.
pub fn c_name(dtype: DType) -> &'static str {
    match dtype {
        DType::F64 => "double",
        DType::F32 => "float",
        DType::I8 => "int8_t",
        DType::I16 => "int16_t",
        DType::I32 => "int32_t",
        DType::I64 => "int64_t",
        DType::U8 => "uint8_t",
        DType::U16 => "uint16_t",
        DType::U32 => "uint32_t",
        DType::U64 => "uint64_t",
        other => panic!("{other:?} is not tried"),
    }
}

/// What is left of an integer in a number of that type.
pub fn kept(dtype: DType, value: i64) -> i64 {
    match dtype {
        DType::I8 => (value as i8).into(),
        DType::I16 => (value as i16).into(),
        DType::I32 => (value as i32).into(),
        DType::U8 => (value as u8).into(),
        DType::U16 => (value as u16).into(),
        DType::U32 => (value as u32).into(),
        _ => value,
    }
}

/// Calls a macro's body with the Rust type of a dtype.
macro_rules! with_type {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            DType::F64 => {
                type $T = f64;
                $body
            }
            DType::F32 => {
                type $T = f32;
                $body
            }
            DType::I8 => {
                type $T = i8;
                $body
            }
            DType::I16 => {
                type $T = i16;
                $body
            }
            DType::I32 => {
                type $T = i32;
                $body
            }
            DType::I64 => {
                type $T = i64;
                $body
            }
            DType::U8 => {
                type $T = u8;
                $body
            }
            DType::U16 => {
                type $T = u16;
                $body
            }
            DType::U32 => {
                type $T = u32;
                $body
            }
            DType::U64 => {
                type $T = u64;
                $body
            }
            other => panic!("{other:?} is not tried"),
        }
    };
}

pub fn dat(dataset: &DataSet, dtype: DType, values: &[i64], name: &str) -> Dat {
    with_type!(dtype, T => Dat::new(dataset, &values.iter().map(|&value| value as T).collect::<Vec<_>>(), name)).unwrap()
}

pub fn global(axes: &[usize], dtype: DType, values: &[i64], name: &str) -> Global {
    with_type!(dtype, T => Global::new(axes, &values.iter().map(|&value| value as T).collect::<Vec<_>>(), name)).unwrap()
}

#[allow(clippy::unnecessary_cast)]
pub fn values_of(storage: &parloop_mesh::Storage) -> Vec<i64> {
    with_type!(storage.dtype(), T => storage.to_vec::<T>().unwrap().into_iter().map(|value| value as i64).collect())
}

#[allow(clippy::unnecessary_cast)]
pub fn gathered(dat: &Dat) -> Vec<i64> {
    with_type!(dat.dtype(), T => dat.gather::<T>().unwrap().into_iter().map(|value| value as i64).collect())
}

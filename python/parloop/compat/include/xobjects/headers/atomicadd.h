/* Kernels find atomicAdd in every source already; these are its names by type. */
#ifndef PARLOOP_XOBJECTS_ATOMICADD_H
#define PARLOOP_XOBJECTS_ATOMICADD_H
#include "xobjects/headers/common.h"
#define atomicAdd_i8(AT, VALUE) atomicAdd((AT), (int8_t)(VALUE))
#define atomicAdd_i16(AT, VALUE) atomicAdd((AT), (int16_t)(VALUE))
#define atomicAdd_i32(AT, VALUE) atomicAdd((AT), (int32_t)(VALUE))
#define atomicAdd_i64(AT, VALUE) atomicAdd((AT), (int64_t)(VALUE))
#define atomicAdd_u8(AT, VALUE) atomicAdd((AT), (uint8_t)(VALUE))
#define atomicAdd_u16(AT, VALUE) atomicAdd((AT), (uint16_t)(VALUE))
#define atomicAdd_u32(AT, VALUE) atomicAdd((AT), (uint32_t)(VALUE))
#define atomicAdd_u64(AT, VALUE) atomicAdd((AT), (uint64_t)(VALUE))
#define atomicAdd_f32(AT, VALUE) atomicAdd((AT), (float)(VALUE))
#define atomicAdd_f64(AT, VALUE) atomicAdd((AT), (double)(VALUE))
#endif

/* struct Scalars: 112 bytes
 *      0  bool        Bool
 *      8  int8        Int8
 *     16  int16       Int16
 *     24  int32       Int32
 *     32  int64       Int64
 *     40  uint8       Uint8
 *     48  uint16      Uint16
 *     56  uint32      Uint32
 *     64  uint64      Uint64
 *     72  float32     Float32
 *     80  float64     Float64
 *     88  complex64   Complex64
 *     96  complex128  Complex128
 */
#ifndef PARLOOP_TYPEDEF_Scalars
#define PARLOOP_TYPEDEF_Scalars
typedef GPUGLMEM struct Scalars_s *Scalars;
GPUFUN Scalars Scalars_getp(Scalars obj) { return obj; }
GPUFUN int64_t Scalars_size(const Scalars obj) { return 112; }

/* Scalars.bool: Bool */
GPUFUN bool Scalars_get_bool(const Scalars obj) { return *(GPUGLMEM uint8_t *)obj != 0; }
GPUFUN void Scalars_set_bool(Scalars obj, bool value) { *(GPUGLMEM uint8_t *)obj = value; }
GPUFUN GPUGLMEM uint8_t *Scalars_getp_bool(Scalars obj) { return (GPUGLMEM uint8_t *)obj; }
GPUFUN int64_t Scalars_size_bool(const Scalars obj) { return 1; }

/* Scalars.int8: Int8 */
GPUFUN int8_t Scalars_get_int8(const Scalars obj) { return *(GPUGLMEM int8_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN void Scalars_set_int8(Scalars obj, int8_t value) { *(GPUGLMEM int8_t *)((GPUGLMEM char *)obj + 8) = value; }
GPUFUN GPUGLMEM int8_t *Scalars_getp_int8(Scalars obj) { return (GPUGLMEM int8_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN int64_t Scalars_size_int8(const Scalars obj) { return 1; }

/* Scalars.int16: Int16 */
GPUFUN int16_t Scalars_get_int16(const Scalars obj) { return *(GPUGLMEM int16_t *)((GPUGLMEM char *)obj + 16); }
GPUFUN void Scalars_set_int16(Scalars obj, int16_t value) { *(GPUGLMEM int16_t *)((GPUGLMEM char *)obj + 16) = value; }
GPUFUN GPUGLMEM int16_t *Scalars_getp_int16(Scalars obj) { return (GPUGLMEM int16_t *)((GPUGLMEM char *)obj + 16); }
GPUFUN int64_t Scalars_size_int16(const Scalars obj) { return 2; }

/* Scalars.int32: Int32 */
GPUFUN int32_t Scalars_get_int32(const Scalars obj) { return *(GPUGLMEM int32_t *)((GPUGLMEM char *)obj + 24); }
GPUFUN void Scalars_set_int32(Scalars obj, int32_t value) { *(GPUGLMEM int32_t *)((GPUGLMEM char *)obj + 24) = value; }
GPUFUN GPUGLMEM int32_t *Scalars_getp_int32(Scalars obj) { return (GPUGLMEM int32_t *)((GPUGLMEM char *)obj + 24); }
GPUFUN int64_t Scalars_size_int32(const Scalars obj) { return 4; }

/* Scalars.int64: Int64 */
GPUFUN int64_t Scalars_get_int64(const Scalars obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32); }
GPUFUN void Scalars_set_int64(Scalars obj, int64_t value) { *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32) = value; }
GPUFUN GPUGLMEM int64_t *Scalars_getp_int64(Scalars obj) { return (GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32); }
GPUFUN int64_t Scalars_size_int64(const Scalars obj) { return 8; }

/* Scalars.uint8: Uint8 */
GPUFUN uint8_t Scalars_get_uint8(const Scalars obj) { return *(GPUGLMEM uint8_t *)((GPUGLMEM char *)obj + 40); }
GPUFUN void Scalars_set_uint8(Scalars obj, uint8_t value) { *(GPUGLMEM uint8_t *)((GPUGLMEM char *)obj + 40) = value; }
GPUFUN GPUGLMEM uint8_t *Scalars_getp_uint8(Scalars obj) { return (GPUGLMEM uint8_t *)((GPUGLMEM char *)obj + 40); }
GPUFUN int64_t Scalars_size_uint8(const Scalars obj) { return 1; }

/* Scalars.uint16: Uint16 */
GPUFUN uint16_t Scalars_get_uint16(const Scalars obj) { return *(GPUGLMEM uint16_t *)((GPUGLMEM char *)obj + 48); }
GPUFUN void Scalars_set_uint16(Scalars obj, uint16_t value) { *(GPUGLMEM uint16_t *)((GPUGLMEM char *)obj + 48) = value; }
GPUFUN GPUGLMEM uint16_t *Scalars_getp_uint16(Scalars obj) { return (GPUGLMEM uint16_t *)((GPUGLMEM char *)obj + 48); }
GPUFUN int64_t Scalars_size_uint16(const Scalars obj) { return 2; }

/* Scalars.uint32: Uint32 */
GPUFUN uint32_t Scalars_get_uint32(const Scalars obj) { return *(GPUGLMEM uint32_t *)((GPUGLMEM char *)obj + 56); }
GPUFUN void Scalars_set_uint32(Scalars obj, uint32_t value) { *(GPUGLMEM uint32_t *)((GPUGLMEM char *)obj + 56) = value; }
GPUFUN GPUGLMEM uint32_t *Scalars_getp_uint32(Scalars obj) { return (GPUGLMEM uint32_t *)((GPUGLMEM char *)obj + 56); }
GPUFUN int64_t Scalars_size_uint32(const Scalars obj) { return 4; }

/* Scalars.uint64: Uint64 */
GPUFUN uint64_t Scalars_get_uint64(const Scalars obj) { return *(GPUGLMEM uint64_t *)((GPUGLMEM char *)obj + 64); }
GPUFUN void Scalars_set_uint64(Scalars obj, uint64_t value) { *(GPUGLMEM uint64_t *)((GPUGLMEM char *)obj + 64) = value; }
GPUFUN GPUGLMEM uint64_t *Scalars_getp_uint64(Scalars obj) { return (GPUGLMEM uint64_t *)((GPUGLMEM char *)obj + 64); }
GPUFUN int64_t Scalars_size_uint64(const Scalars obj) { return 8; }

/* Scalars.float32: Float32 */
GPUFUN float Scalars_get_float32(const Scalars obj) { return *(GPUGLMEM float *)((GPUGLMEM char *)obj + 72); }
GPUFUN void Scalars_set_float32(Scalars obj, float value) { *(GPUGLMEM float *)((GPUGLMEM char *)obj + 72) = value; }
GPUFUN GPUGLMEM float *Scalars_getp_float32(Scalars obj) { return (GPUGLMEM float *)((GPUGLMEM char *)obj + 72); }
GPUFUN int64_t Scalars_size_float32(const Scalars obj) { return 4; }

/* Scalars.float64: Float64 */
GPUFUN double Scalars_get_float64(const Scalars obj) { return *(GPUGLMEM double *)((GPUGLMEM char *)obj + 80); }
GPUFUN void Scalars_set_float64(Scalars obj, double value) { *(GPUGLMEM double *)((GPUGLMEM char *)obj + 80) = value; }
GPUFUN GPUGLMEM double *Scalars_getp_float64(Scalars obj) { return (GPUGLMEM double *)((GPUGLMEM char *)obj + 80); }
GPUFUN int64_t Scalars_size_float64(const Scalars obj) { return 8; }

/* Scalars.complex64: Complex64 */
GPUFUN GPUGLMEM float *Scalars_getp_complex64(Scalars obj) { return (GPUGLMEM float *)((GPUGLMEM char *)obj + 88); }
GPUFUN int64_t Scalars_size_complex64(const Scalars obj) { return 8; }

/* Scalars.complex128: Complex128 */
GPUFUN GPUGLMEM double *Scalars_getp_complex128(Scalars obj) { return (GPUGLMEM double *)((GPUGLMEM char *)obj + 96); }
GPUFUN int64_t Scalars_size_complex128(const Scalars obj) { return 16; }
#endif


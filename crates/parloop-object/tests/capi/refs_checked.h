/* array ArrNFloat64, Float64[:]: each instance has its own size
 *      0  (size)
 *      8  (number of items)
 *     16  items
 */
#ifndef PARLOOP_TYPEDEF_ArrNFloat64
#define PARLOOP_TYPEDEF_ArrNFloat64
typedef GPUGLMEM struct ArrNFloat64_s *ArrNFloat64;
GPUFUN ArrNFloat64 ArrNFloat64_getp(ArrNFloat64 obj) { return obj; }
GPUFUN int64_t ArrNFloat64_len(const ArrNFloat64 obj) {
    if (!PARLOOP_CHECK(obj != 0, 0, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN uint32_t ArrNFloat64_nd(const ArrNFloat64 obj) { return 1; }
GPUFUN int64_t ArrNFloat64_ndim(const ArrNFloat64 obj) { return 1; }
GPUFUN int64_t ArrNFloat64_dim(const ArrNFloat64 obj, int64_t axis) {
    if (!PARLOOP_CHECK(obj != 0, 0, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 1, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) : 0;
}
GPUFUN void ArrNFloat64_shape(const ArrNFloat64 obj, GPUGLMEM int64_t *out_shape) {
    if (!PARLOOP_CHECK(obj != 0, 0, 0, -1)) { out_shape[0] = 0; return; }
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void ArrNFloat64_strides(const ArrNFloat64 obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t ArrNFloat64_size(const ArrNFloat64 obj) {
    if (!PARLOOP_CHECK(obj != 0, 0, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)obj;
}

/* ArrNFloat64[i0]: Float64 */
GPUFUN double ArrNFloat64_get(const ArrNFloat64 obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 0, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 0, i0, n0)) return 0;
    return *(GPUGLMEM double *)(at + 16 + i0 * 8);
}
GPUFUN void ArrNFloat64_set(ArrNFloat64 obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 0, 0, -1)) return;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 0, i0, n0)) return;
    *(GPUGLMEM double *)(at + 16 + i0 * 8) = value;
}
GPUFUN GPUGLMEM double *ArrNFloat64_getp1(ArrNFloat64 obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 0, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 0, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM double *)(at + 16 + i0 * 8);
}
GPUFUN int64_t ArrNFloat64_size1(const ArrNFloat64 obj, int64_t i0) { return 8; }
#endif

/* struct Value: each instance has its own size
 *      0  (size)
 *      8  a  Int64
 *     16  b  ArrNFloat64
 */
#ifndef PARLOOP_TYPEDEF_Value
#define PARLOOP_TYPEDEF_Value
typedef GPUGLMEM struct Value_s *Value;
GPUFUN Value Value_getp(Value obj) { return obj; }
GPUFUN int64_t Value_size(const Value obj) {
    if (!PARLOOP_CHECK(obj != 0, 2, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)obj;
}

/* Value.a: Int64 */
GPUFUN int64_t Value_get_a(const Value obj) {
    if (!PARLOOP_CHECK(obj != 0, 2, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void Value_set_a(Value obj, int64_t value) {
    if (!PARLOOP_CHECK(obj != 0, 2, 0, -1)) return;
    *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) = value;
}
GPUFUN GPUGLMEM int64_t *Value_getp_a(Value obj) {
    if (!PARLOOP_CHECK(obj != 0, 2, 0, -1)) return 0;
    return (GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN int64_t Value_size_a(const Value obj) { return 8; }

/* Value.b: ArrNFloat64 */
GPUFUN ArrNFloat64 Value_getp_b(Value obj) {
    if (!PARLOOP_CHECK(obj != 0, 2, 0, -1)) return 0;
    return (ArrNFloat64)((GPUGLMEM char *)obj + 16);
}
GPUFUN int64_t Value_len_b(const Value obj) {
    if (!PARLOOP_CHECK(obj != 0, 2, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 24);
}
GPUFUN uint32_t Value_nd_b(const Value obj) { return 1; }
GPUFUN int64_t Value_ndim_b(const Value obj) { return 1; }
GPUFUN int64_t Value_dim_b(const Value obj, int64_t axis) {
    if (!PARLOOP_CHECK(obj != 0, 2, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 3, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 24) : 0;
}
GPUFUN void Value_shape_b(const Value obj, GPUGLMEM int64_t *out_shape) {
    if (!PARLOOP_CHECK(obj != 0, 2, 0, -1)) { out_shape[0] = 0; return; }
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 24);
}
GPUFUN void Value_strides_b(const Value obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Value_size_b(const Value obj) {
    if (!PARLOOP_CHECK(obj != 0, 2, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 16);
}

/* Value.b[i0]: Float64 */
GPUFUN double Value_get_b(const Value obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 2, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 4, i0, n0)) return 0;
    return *(GPUGLMEM double *)(at + 32 + i0 * 8);
}
GPUFUN void Value_set_b(Value obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 2, 0, -1)) return;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 4, i0, n0)) return;
    *(GPUGLMEM double *)(at + 32 + i0 * 8) = value;
}
GPUFUN GPUGLMEM double *Value_getp1_b(Value obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 2, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 4, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM double *)(at + 32 + i0 * 8);
}
GPUFUN int64_t Value_size1_b(const Value obj, int64_t i0) { return 8; }
#endif

/* array ArrNRefValue, RefValue[:]: each instance has its own size
 *      0  (size)
 *      8  (number of items)
 *     16  items
 */
#ifndef PARLOOP_TYPEDEF_ArrNRefValue
#define PARLOOP_TYPEDEF_ArrNRefValue
typedef GPUGLMEM struct ArrNRefValue_s *ArrNRefValue;
GPUFUN ArrNRefValue ArrNRefValue_getp(ArrNRefValue obj) { return obj; }
GPUFUN int64_t ArrNRefValue_len(const ArrNRefValue obj) {
    if (!PARLOOP_CHECK(obj != 0, 5, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN uint32_t ArrNRefValue_nd(const ArrNRefValue obj) { return 1; }
GPUFUN int64_t ArrNRefValue_ndim(const ArrNRefValue obj) { return 1; }
GPUFUN int64_t ArrNRefValue_dim(const ArrNRefValue obj, int64_t axis) {
    if (!PARLOOP_CHECK(obj != 0, 5, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 6, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) : 0;
}
GPUFUN void ArrNRefValue_shape(const ArrNRefValue obj, GPUGLMEM int64_t *out_shape) {
    if (!PARLOOP_CHECK(obj != 0, 5, 0, -1)) { out_shape[0] = 0; return; }
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void ArrNRefValue_strides(const ArrNRefValue obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t ArrNRefValue_size(const ArrNRefValue obj) {
    if (!PARLOOP_CHECK(obj != 0, 5, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)obj;
}

/* ArrNRefValue[i0]: Value */
GPUFUN Value ArrNRefValue_getp1(ArrNRefValue obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 5, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 5, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    at += 16 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 7, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return (Value)at;
}
GPUFUN int64_t ArrNRefValue_size1(const ArrNRefValue obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 5, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 5, i0, n0)) return 0;
    at += 16 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 7, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)at;
}

/* ArrNRefValue[i0].a: Int64 */
GPUFUN int64_t ArrNRefValue_get_a(const ArrNRefValue obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 5, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 5, i0, n0)) return 0;
    at += 16 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 7, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void ArrNRefValue_set_a(ArrNRefValue obj, int64_t i0, int64_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 5, 0, -1)) return;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 5, i0, n0)) return;
    at += 16 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 7, 0, -1)) return;
    at += *(GPUGLMEM int64_t *)at;
    *(GPUGLMEM int64_t *)(at + 8) = value;
}
GPUFUN GPUGLMEM int64_t *ArrNRefValue_getp1_a(ArrNRefValue obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 5, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 5, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    at += 16 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 7, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return (GPUGLMEM int64_t *)(at + 8);
}
GPUFUN int64_t ArrNRefValue_size1_a(const ArrNRefValue obj, int64_t i0) { return 8; }

/* ArrNRefValue[i0].b: ArrNFloat64 */
GPUFUN ArrNFloat64 ArrNRefValue_getp1_b(ArrNRefValue obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 5, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 5, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    at += 16 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 7, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return (ArrNFloat64)(at + 16);
}
GPUFUN int64_t ArrNRefValue_len1_b(const ArrNRefValue obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 5, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 5, i0, n0)) return 0;
    at += 16 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 7, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN uint32_t ArrNRefValue_nd1_b(const ArrNRefValue obj, int64_t i0) { return 1; }
GPUFUN int64_t ArrNRefValue_ndim1_b(const ArrNRefValue obj, int64_t i0) { return 1; }
GPUFUN int64_t ArrNRefValue_dim1_b(const ArrNRefValue obj, int64_t i0, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 5, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 5, i0, n0)) return 0;
    at += 16 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 7, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 8, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 24) : 0;
}
GPUFUN void ArrNRefValue_shape1_b(const ArrNRefValue obj, int64_t i0, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 5, 0, -1)) { out_shape[0] = 0; return; }
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 5, i0, n0)) { out_shape[0] = 0; return; }
    at += 16 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 7, 0, -1)) { out_shape[0] = 0; return; }
    at += *(GPUGLMEM int64_t *)at;
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN void ArrNRefValue_strides1_b(const ArrNRefValue obj, int64_t i0, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t ArrNRefValue_size1_b(const ArrNRefValue obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 5, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 5, i0, n0)) return 0;
    at += 16 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 7, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 16);
}

/* ArrNRefValue[i0].b[i1]: Float64 */
GPUFUN double ArrNRefValue_get_b(const ArrNRefValue obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 5, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 5, i0, n0)) return 0;
    at += 16 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 7, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    const int64_t n1 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i1 && i1 < n1, 9, i1, n1)) return 0;
    return *(GPUGLMEM double *)(at + 32 + i1 * 8);
}
GPUFUN void ArrNRefValue_set_b(ArrNRefValue obj, int64_t i0, int64_t i1, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 5, 0, -1)) return;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 5, i0, n0)) return;
    at += 16 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 7, 0, -1)) return;
    at += *(GPUGLMEM int64_t *)at;
    const int64_t n1 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i1 && i1 < n1, 9, i1, n1)) return;
    *(GPUGLMEM double *)(at + 32 + i1 * 8) = value;
}
GPUFUN GPUGLMEM double *ArrNRefValue_getp2_b(ArrNRefValue obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 5, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 5, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    at += 16 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 7, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    const int64_t n1 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i1 && i1 < n1, 9, i1, n1)) { if (n1 <= 0) return 0; i1 = 0; }
    return (GPUGLMEM double *)(at + 32 + i1 * 8);
}
GPUFUN int64_t ArrNRefValue_size2_b(const ArrNRefValue obj, int64_t i0, int64_t i1) { return 8; }
#endif

/* struct Particle: 32 bytes
 *      0  x      Float64
 *      8  px     Float64
 *     16  id     Int32
 *     24  alive  Bool
 */
#ifndef PARLOOP_TYPEDEF_Particle
#define PARLOOP_TYPEDEF_Particle
typedef GPUGLMEM struct Particle_s *Particle;
GPUFUN Particle Particle_getp(Particle obj) { return obj; }
GPUFUN int64_t Particle_size(const Particle obj) { return 32; }

/* Particle.x: Float64 */
GPUFUN double Particle_get_x(const Particle obj) {
    if (!PARLOOP_CHECK(obj != 0, 10, 0, -1)) return 0;
    return *(GPUGLMEM double *)obj;
}
GPUFUN void Particle_set_x(Particle obj, double value) {
    if (!PARLOOP_CHECK(obj != 0, 10, 0, -1)) return;
    *(GPUGLMEM double *)obj = value;
}
GPUFUN GPUGLMEM double *Particle_getp_x(Particle obj) {
    if (!PARLOOP_CHECK(obj != 0, 10, 0, -1)) return 0;
    return (GPUGLMEM double *)obj;
}
GPUFUN int64_t Particle_size_x(const Particle obj) { return 8; }

/* Particle.px: Float64 */
GPUFUN double Particle_get_px(const Particle obj) {
    if (!PARLOOP_CHECK(obj != 0, 10, 0, -1)) return 0;
    return *(GPUGLMEM double *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void Particle_set_px(Particle obj, double value) {
    if (!PARLOOP_CHECK(obj != 0, 10, 0, -1)) return;
    *(GPUGLMEM double *)((GPUGLMEM char *)obj + 8) = value;
}
GPUFUN GPUGLMEM double *Particle_getp_px(Particle obj) {
    if (!PARLOOP_CHECK(obj != 0, 10, 0, -1)) return 0;
    return (GPUGLMEM double *)((GPUGLMEM char *)obj + 8);
}
GPUFUN int64_t Particle_size_px(const Particle obj) { return 8; }

/* Particle.id: Int32 */
GPUFUN int32_t Particle_get_id(const Particle obj) {
    if (!PARLOOP_CHECK(obj != 0, 10, 0, -1)) return 0;
    return *(GPUGLMEM int32_t *)((GPUGLMEM char *)obj + 16);
}
GPUFUN void Particle_set_id(Particle obj, int32_t value) {
    if (!PARLOOP_CHECK(obj != 0, 10, 0, -1)) return;
    *(GPUGLMEM int32_t *)((GPUGLMEM char *)obj + 16) = value;
}
GPUFUN GPUGLMEM int32_t *Particle_getp_id(Particle obj) {
    if (!PARLOOP_CHECK(obj != 0, 10, 0, -1)) return 0;
    return (GPUGLMEM int32_t *)((GPUGLMEM char *)obj + 16);
}
GPUFUN int64_t Particle_size_id(const Particle obj) { return 4; }

/* Particle.alive: Bool */
GPUFUN bool Particle_get_alive(const Particle obj) {
    if (!PARLOOP_CHECK(obj != 0, 10, 0, -1)) return 0;
    return *(GPUGLMEM uint8_t *)((GPUGLMEM char *)obj + 24) != 0;
}
GPUFUN void Particle_set_alive(Particle obj, bool value) {
    if (!PARLOOP_CHECK(obj != 0, 10, 0, -1)) return;
    *(GPUGLMEM uint8_t *)((GPUGLMEM char *)obj + 24) = value;
}
GPUFUN GPUGLMEM uint8_t *Particle_getp_alive(Particle obj) {
    if (!PARLOOP_CHECK(obj != 0, 10, 0, -1)) return 0;
    return (GPUGLMEM uint8_t *)((GPUGLMEM char *)obj + 24);
}
GPUFUN int64_t Particle_size_alive(const Particle obj) { return 1; }
#endif

/* array ArrNParticle, Particle[:]: each instance has its own size
 *      0  (size)
 *      8  (number of items)
 *     16  items
 */
#ifndef PARLOOP_TYPEDEF_ArrNParticle
#define PARLOOP_TYPEDEF_ArrNParticle
typedef GPUGLMEM struct ArrNParticle_s *ArrNParticle;
GPUFUN ArrNParticle ArrNParticle_getp(ArrNParticle obj) { return obj; }
GPUFUN int64_t ArrNParticle_len(const ArrNParticle obj) {
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN uint32_t ArrNParticle_nd(const ArrNParticle obj) { return 1; }
GPUFUN int64_t ArrNParticle_ndim(const ArrNParticle obj) { return 1; }
GPUFUN int64_t ArrNParticle_dim(const ArrNParticle obj, int64_t axis) {
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 12, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) : 0;
}
GPUFUN void ArrNParticle_shape(const ArrNParticle obj, GPUGLMEM int64_t *out_shape) {
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) { out_shape[0] = 0; return; }
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void ArrNParticle_strides(const ArrNParticle obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 32; }
GPUFUN int64_t ArrNParticle_size(const ArrNParticle obj) {
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)obj;
}

/* ArrNParticle[i0]: Particle */
GPUFUN Particle ArrNParticle_getp1(ArrNParticle obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 11, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (Particle)(at + 16 + i0 * 32);
}
GPUFUN int64_t ArrNParticle_size1(const ArrNParticle obj, int64_t i0) { return 32; }

/* ArrNParticle[i0].x: Float64 */
GPUFUN double ArrNParticle_get_x(const ArrNParticle obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 11, i0, n0)) return 0;
    return *(GPUGLMEM double *)(at + 16 + i0 * 32);
}
GPUFUN void ArrNParticle_set_x(ArrNParticle obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 11, i0, n0)) return;
    *(GPUGLMEM double *)(at + 16 + i0 * 32) = value;
}
GPUFUN GPUGLMEM double *ArrNParticle_getp1_x(ArrNParticle obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 11, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM double *)(at + 16 + i0 * 32);
}
GPUFUN int64_t ArrNParticle_size1_x(const ArrNParticle obj, int64_t i0) { return 8; }

/* ArrNParticle[i0].px: Float64 */
GPUFUN double ArrNParticle_get_px(const ArrNParticle obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 11, i0, n0)) return 0;
    return *(GPUGLMEM double *)(at + 24 + i0 * 32);
}
GPUFUN void ArrNParticle_set_px(ArrNParticle obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 11, i0, n0)) return;
    *(GPUGLMEM double *)(at + 24 + i0 * 32) = value;
}
GPUFUN GPUGLMEM double *ArrNParticle_getp1_px(ArrNParticle obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 11, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM double *)(at + 24 + i0 * 32);
}
GPUFUN int64_t ArrNParticle_size1_px(const ArrNParticle obj, int64_t i0) { return 8; }

/* ArrNParticle[i0].id: Int32 */
GPUFUN int32_t ArrNParticle_get_id(const ArrNParticle obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 11, i0, n0)) return 0;
    return *(GPUGLMEM int32_t *)(at + 32 + i0 * 32);
}
GPUFUN void ArrNParticle_set_id(ArrNParticle obj, int64_t i0, int32_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 11, i0, n0)) return;
    *(GPUGLMEM int32_t *)(at + 32 + i0 * 32) = value;
}
GPUFUN GPUGLMEM int32_t *ArrNParticle_getp1_id(ArrNParticle obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 11, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM int32_t *)(at + 32 + i0 * 32);
}
GPUFUN int64_t ArrNParticle_size1_id(const ArrNParticle obj, int64_t i0) { return 4; }

/* ArrNParticle[i0].alive: Bool */
GPUFUN bool ArrNParticle_get_alive(const ArrNParticle obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 11, i0, n0)) return 0;
    return *(GPUGLMEM uint8_t *)(at + 40 + i0 * 32) != 0;
}
GPUFUN void ArrNParticle_set_alive(ArrNParticle obj, int64_t i0, bool value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 11, i0, n0)) return;
    *(GPUGLMEM uint8_t *)(at + 40 + i0 * 32) = value;
}
GPUFUN GPUGLMEM uint8_t *ArrNParticle_getp1_alive(ArrNParticle obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 11, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM uint8_t *)(at + 40 + i0 * 32);
}
GPUFUN int64_t ArrNParticle_size1_alive(const ArrNParticle obj, int64_t i0) { return 1; }
#endif

/* struct Refs: each instance has its own size
 *      0  (size)
 *      8  number  RefFloat64
 *     16  value   RefValue
 *     24  twice   RefRefValue
 *     32  list    RefArrNParticle
 *     40  many    ArrNRefValue
 */
#ifndef PARLOOP_TYPEDEF_Refs
#define PARLOOP_TYPEDEF_Refs
typedef GPUGLMEM struct Refs_s *Refs;
GPUFUN Refs Refs_getp(Refs obj) { return obj; }
GPUFUN int64_t Refs_size(const Refs obj) {
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)obj;
}

/* Refs.number: Float64 */
GPUFUN double Refs_get_number(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 8) != (-9223372036854775807 - 1), 14, 0, -1)) return 0;
    at += 8 + *(GPUGLMEM int64_t *)(at + 8);
    return *(GPUGLMEM double *)at;
}
GPUFUN void Refs_set_number(Refs obj, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 8) != (-9223372036854775807 - 1), 14, 0, -1)) return;
    at += 8 + *(GPUGLMEM int64_t *)(at + 8);
    *(GPUGLMEM double *)at = value;
}
GPUFUN GPUGLMEM double *Refs_getp_number(Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 8) != (-9223372036854775807 - 1), 14, 0, -1)) return 0;
    at += 8 + *(GPUGLMEM int64_t *)(at + 8);
    return (GPUGLMEM double *)at;
}
GPUFUN int64_t Refs_size_number(const Refs obj) { return 8; }

/* Refs.value: Value */
GPUFUN Value Refs_getp_value(Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 16) != (-9223372036854775807 - 1), 15, 0, -1)) return 0;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    return (Value)at;
}
GPUFUN int64_t Refs_size_value(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 16) != (-9223372036854775807 - 1), 15, 0, -1)) return 0;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)at;
}

/* Refs.value.a: Int64 */
GPUFUN int64_t Refs_get_value_a(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 16) != (-9223372036854775807 - 1), 15, 0, -1)) return 0;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void Refs_set_value_a(Refs obj, int64_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 16) != (-9223372036854775807 - 1), 15, 0, -1)) return;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    *(GPUGLMEM int64_t *)(at + 8) = value;
}
GPUFUN GPUGLMEM int64_t *Refs_getp_value_a(Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 16) != (-9223372036854775807 - 1), 15, 0, -1)) return 0;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    return (GPUGLMEM int64_t *)(at + 8);
}
GPUFUN int64_t Refs_size_value_a(const Refs obj) { return 8; }

/* Refs.value.b: ArrNFloat64 */
GPUFUN ArrNFloat64 Refs_getp_value_b(Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 16) != (-9223372036854775807 - 1), 15, 0, -1)) return 0;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    return (ArrNFloat64)(at + 16);
}
GPUFUN int64_t Refs_len_value_b(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 16) != (-9223372036854775807 - 1), 15, 0, -1)) return 0;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN uint32_t Refs_nd_value_b(const Refs obj) { return 1; }
GPUFUN int64_t Refs_ndim_value_b(const Refs obj) { return 1; }
GPUFUN int64_t Refs_dim_value_b(const Refs obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 16) != (-9223372036854775807 - 1), 15, 0, -1)) return 0;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 16, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 24) : 0;
}
GPUFUN void Refs_shape_value_b(const Refs obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) { out_shape[0] = 0; return; }
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 16) != (-9223372036854775807 - 1), 15, 0, -1)) { out_shape[0] = 0; return; }
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN void Refs_strides_value_b(const Refs obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Refs_size_value_b(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 16) != (-9223372036854775807 - 1), 15, 0, -1)) return 0;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)(at + 16);
}

/* Refs.value.b[i0]: Float64 */
GPUFUN double Refs_get_value_b(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 16) != (-9223372036854775807 - 1), 15, 0, -1)) return 0;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 17, i0, n0)) return 0;
    return *(GPUGLMEM double *)(at + 32 + i0 * 8);
}
GPUFUN void Refs_set_value_b(Refs obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 16) != (-9223372036854775807 - 1), 15, 0, -1)) return;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 17, i0, n0)) return;
    *(GPUGLMEM double *)(at + 32 + i0 * 8) = value;
}
GPUFUN GPUGLMEM double *Refs_getp1_value_b(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 16) != (-9223372036854775807 - 1), 15, 0, -1)) return 0;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 17, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM double *)(at + 32 + i0 * 8);
}
GPUFUN int64_t Refs_size1_value_b(const Refs obj, int64_t i0) { return 8; }

/* Refs.twice: Value */
GPUFUN Value Refs_getp_twice(Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return (Value)at;
}
GPUFUN int64_t Refs_size_twice(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)at;
}

/* Refs.twice.a: Int64 */
GPUFUN int64_t Refs_get_twice_a(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void Refs_set_twice_a(Refs obj, int64_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 18, 0, -1)) return;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 18, 0, -1)) return;
    at += *(GPUGLMEM int64_t *)at;
    *(GPUGLMEM int64_t *)(at + 8) = value;
}
GPUFUN GPUGLMEM int64_t *Refs_getp_twice_a(Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return (GPUGLMEM int64_t *)(at + 8);
}
GPUFUN int64_t Refs_size_twice_a(const Refs obj) { return 8; }

/* Refs.twice.b: ArrNFloat64 */
GPUFUN ArrNFloat64 Refs_getp_twice_b(Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return (ArrNFloat64)(at + 16);
}
GPUFUN int64_t Refs_len_twice_b(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN uint32_t Refs_nd_twice_b(const Refs obj) { return 1; }
GPUFUN int64_t Refs_ndim_twice_b(const Refs obj) { return 1; }
GPUFUN int64_t Refs_dim_twice_b(const Refs obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 19, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 24) : 0;
}
GPUFUN void Refs_shape_twice_b(const Refs obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) { out_shape[0] = 0; return; }
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 18, 0, -1)) { out_shape[0] = 0; return; }
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 18, 0, -1)) { out_shape[0] = 0; return; }
    at += *(GPUGLMEM int64_t *)at;
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN void Refs_strides_twice_b(const Refs obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Refs_size_twice_b(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 16);
}

/* Refs.twice.b[i0]: Float64 */
GPUFUN double Refs_get_twice_b(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 20, i0, n0)) return 0;
    return *(GPUGLMEM double *)(at + 32 + i0 * 8);
}
GPUFUN void Refs_set_twice_b(Refs obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 18, 0, -1)) return;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 18, 0, -1)) return;
    at += *(GPUGLMEM int64_t *)at;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 20, i0, n0)) return;
    *(GPUGLMEM double *)(at + 32 + i0 * 8) = value;
}
GPUFUN GPUGLMEM double *Refs_getp1_twice_b(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 18, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 20, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM double *)(at + 32 + i0 * 8);
}
GPUFUN int64_t Refs_size1_twice_b(const Refs obj, int64_t i0) { return 8; }

/* Refs.many: ArrNRefValue */
GPUFUN ArrNRefValue Refs_getp_many(Refs obj) {
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    return (ArrNRefValue)((GPUGLMEM char *)obj + 40);
}
GPUFUN int64_t Refs_len_many(const Refs obj) {
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 48);
}
GPUFUN uint32_t Refs_nd_many(const Refs obj) { return 1; }
GPUFUN int64_t Refs_ndim_many(const Refs obj) { return 1; }
GPUFUN int64_t Refs_dim_many(const Refs obj, int64_t axis) {
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 21, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 48) : 0;
}
GPUFUN void Refs_shape_many(const Refs obj, GPUGLMEM int64_t *out_shape) {
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) { out_shape[0] = 0; return; }
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 48);
}
GPUFUN void Refs_strides_many(const Refs obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Refs_size_many(const Refs obj) {
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 40);
}

/* Refs.many[i0]: Value */
GPUFUN Value Refs_getp1_many(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 48);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 22, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    at += 56 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 23, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return (Value)at;
}
GPUFUN int64_t Refs_size1_many(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 48);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 22, i0, n0)) return 0;
    at += 56 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 23, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)at;
}

/* Refs.many[i0].a: Int64 */
GPUFUN int64_t Refs_get_many_a(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 48);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 22, i0, n0)) return 0;
    at += 56 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 23, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void Refs_set_many_a(Refs obj, int64_t i0, int64_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 48);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 22, i0, n0)) return;
    at += 56 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 23, 0, -1)) return;
    at += *(GPUGLMEM int64_t *)at;
    *(GPUGLMEM int64_t *)(at + 8) = value;
}
GPUFUN GPUGLMEM int64_t *Refs_getp1_many_a(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 48);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 22, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    at += 56 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 23, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return (GPUGLMEM int64_t *)(at + 8);
}
GPUFUN int64_t Refs_size1_many_a(const Refs obj, int64_t i0) { return 8; }

/* Refs.many[i0].b: ArrNFloat64 */
GPUFUN ArrNFloat64 Refs_getp1_many_b(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 48);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 22, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    at += 56 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 23, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return (ArrNFloat64)(at + 16);
}
GPUFUN int64_t Refs_len1_many_b(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 48);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 22, i0, n0)) return 0;
    at += 56 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 23, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN uint32_t Refs_nd1_many_b(const Refs obj, int64_t i0) { return 1; }
GPUFUN int64_t Refs_ndim1_many_b(const Refs obj, int64_t i0) { return 1; }
GPUFUN int64_t Refs_dim1_many_b(const Refs obj, int64_t i0, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 48);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 22, i0, n0)) return 0;
    at += 56 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 23, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 24, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 24) : 0;
}
GPUFUN void Refs_shape1_many_b(const Refs obj, int64_t i0, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) { out_shape[0] = 0; return; }
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 48);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 22, i0, n0)) { out_shape[0] = 0; return; }
    at += 56 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 23, 0, -1)) { out_shape[0] = 0; return; }
    at += *(GPUGLMEM int64_t *)at;
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN void Refs_strides1_many_b(const Refs obj, int64_t i0, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Refs_size1_many_b(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 48);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 22, i0, n0)) return 0;
    at += 56 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 23, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 16);
}

/* Refs.many[i0].b[i1]: Float64 */
GPUFUN double Refs_get_many_b(const Refs obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 48);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 22, i0, n0)) return 0;
    at += 56 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 23, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    const int64_t n1 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i1 && i1 < n1, 25, i1, n1)) return 0;
    return *(GPUGLMEM double *)(at + 32 + i1 * 8);
}
GPUFUN void Refs_set_many_b(Refs obj, int64_t i0, int64_t i1, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 48);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 22, i0, n0)) return;
    at += 56 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 23, 0, -1)) return;
    at += *(GPUGLMEM int64_t *)at;
    const int64_t n1 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i1 && i1 < n1, 25, i1, n1)) return;
    *(GPUGLMEM double *)(at + 32 + i1 * 8) = value;
}
GPUFUN GPUGLMEM double *Refs_getp2_many_b(Refs obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 48);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 22, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    at += 56 + i0 * 8;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)at != (-9223372036854775807 - 1), 23, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)at;
    const int64_t n1 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i1 && i1 < n1, 25, i1, n1)) { if (n1 <= 0) return 0; i1 = 0; }
    return (GPUGLMEM double *)(at + 32 + i1 * 8);
}
GPUFUN int64_t Refs_size2_many_b(const Refs obj, int64_t i0, int64_t i1) { return 8; }

/* Refs.list: ArrNParticle */
GPUFUN ArrNParticle Refs_getp_list(Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) return 0;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    return (ArrNParticle)at;
}
GPUFUN int64_t Refs_len_list(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) return 0;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN uint32_t Refs_nd_list(const Refs obj) { return 1; }
GPUFUN int64_t Refs_ndim_list(const Refs obj) { return 1; }
GPUFUN int64_t Refs_dim_list(const Refs obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) return 0;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 27, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 8) : 0;
}
GPUFUN void Refs_shape_list(const Refs obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) { out_shape[0] = 0; return; }
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) { out_shape[0] = 0; return; }
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void Refs_strides_list(const Refs obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 32; }
GPUFUN int64_t Refs_size_list(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) return 0;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    return *(GPUGLMEM int64_t *)at;
}

/* Refs.list[i0]: Particle */
GPUFUN Particle Refs_getp1_list(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) return 0;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 26, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (Particle)(at + 16 + i0 * 32);
}
GPUFUN int64_t Refs_size1_list(const Refs obj, int64_t i0) { return 32; }

/* Refs.list[i0].x: Float64 */
GPUFUN double Refs_get_list_x(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) return 0;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 26, i0, n0)) return 0;
    return *(GPUGLMEM double *)(at + 16 + i0 * 32);
}
GPUFUN void Refs_set_list_x(Refs obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) return;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 26, i0, n0)) return;
    *(GPUGLMEM double *)(at + 16 + i0 * 32) = value;
}
GPUFUN GPUGLMEM double *Refs_getp1_list_x(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) return 0;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 26, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM double *)(at + 16 + i0 * 32);
}
GPUFUN int64_t Refs_size1_list_x(const Refs obj, int64_t i0) { return 8; }

/* Refs.list[i0].px: Float64 */
GPUFUN double Refs_get_list_px(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) return 0;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 26, i0, n0)) return 0;
    return *(GPUGLMEM double *)(at + 24 + i0 * 32);
}
GPUFUN void Refs_set_list_px(Refs obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) return;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 26, i0, n0)) return;
    *(GPUGLMEM double *)(at + 24 + i0 * 32) = value;
}
GPUFUN GPUGLMEM double *Refs_getp1_list_px(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) return 0;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 26, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM double *)(at + 24 + i0 * 32);
}
GPUFUN int64_t Refs_size1_list_px(const Refs obj, int64_t i0) { return 8; }

/* Refs.list[i0].id: Int32 */
GPUFUN int32_t Refs_get_list_id(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) return 0;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 26, i0, n0)) return 0;
    return *(GPUGLMEM int32_t *)(at + 32 + i0 * 32);
}
GPUFUN void Refs_set_list_id(Refs obj, int64_t i0, int32_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) return;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 26, i0, n0)) return;
    *(GPUGLMEM int32_t *)(at + 32 + i0 * 32) = value;
}
GPUFUN GPUGLMEM int32_t *Refs_getp1_list_id(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) return 0;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 26, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM int32_t *)(at + 32 + i0 * 32);
}
GPUFUN int64_t Refs_size1_list_id(const Refs obj, int64_t i0) { return 4; }

/* Refs.list[i0].alive: Bool */
GPUFUN bool Refs_get_list_alive(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) return 0;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 26, i0, n0)) return 0;
    return *(GPUGLMEM uint8_t *)(at + 40 + i0 * 32) != 0;
}
GPUFUN void Refs_set_list_alive(Refs obj, int64_t i0, bool value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) return;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 26, i0, n0)) return;
    *(GPUGLMEM uint8_t *)(at + 40 + i0 * 32) = value;
}
GPUFUN GPUGLMEM uint8_t *Refs_getp1_list_alive(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 13, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 32) != (-9223372036854775807 - 1), 26, 0, -1)) return 0;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 26, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM uint8_t *)(at + 40 + i0 * 32);
}
GPUFUN int64_t Refs_size1_list_alive(const Refs obj, int64_t i0) { return 1; }
#endif

/* array ArrNx3Float64, Float64[:, 3], axes from slow to fast 0, 1: each instance has its own size
 *      0  (size)
 *      8  (number of items along axis 0)
 *     16  (bytes between items along each axis)
 *     32  items
 */
#ifndef PARLOOP_TYPEDEF_ArrNx3Float64
#define PARLOOP_TYPEDEF_ArrNx3Float64
typedef GPUGLMEM struct ArrNx3Float64_s *ArrNx3Float64;
GPUFUN ArrNx3Float64 ArrNx3Float64_getp(ArrNx3Float64 obj) { return obj; }
GPUFUN int64_t ArrNx3Float64_len(const ArrNx3Float64 obj) {
    if (!PARLOOP_CHECK(obj != 0, 28, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) * 3;
}
GPUFUN uint32_t ArrNx3Float64_nd(const ArrNx3Float64 obj) { return 2; }
GPUFUN int64_t ArrNx3Float64_ndim(const ArrNx3Float64 obj) { return 2; }
GPUFUN int64_t ArrNx3Float64_dim(const ArrNx3Float64 obj, int64_t axis) {
    if (!PARLOOP_CHECK(obj != 0, 28, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= axis && axis < 2, 29, axis, 2)) return 0;
    if (axis == 0) return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
    if (axis == 1) return 3;
    return 0;
}
GPUFUN void ArrNx3Float64_shape(const ArrNx3Float64 obj, GPUGLMEM int64_t *out_shape) {
    if (!PARLOOP_CHECK(obj != 0, 28, 0, -1)) { out_shape[0] = 0; out_shape[1] = 0; return; }
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
    out_shape[1] = 3;
}
GPUFUN void ArrNx3Float64_strides(const ArrNx3Float64 obj, GPUGLMEM int64_t *out_strides) {
    out_strides[0] = 24;
    out_strides[1] = 8;
}
GPUFUN int64_t ArrNx3Float64_size(const ArrNx3Float64 obj) {
    if (!PARLOOP_CHECK(obj != 0, 28, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)obj;
}

/* ArrNx3Float64[i0, i1]: Float64 */
GPUFUN double ArrNx3Float64_get(const ArrNx3Float64 obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 28, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 30, i0, n0)) return 0;
    if (!PARLOOP_CHECK(0 <= i1 && i1 < 3, 31, i1, 3)) return 0;
    return *(GPUGLMEM double *)(at + 32 + i0 * 24 + i1 * 8);
}
GPUFUN void ArrNx3Float64_set(ArrNx3Float64 obj, int64_t i0, int64_t i1, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 28, 0, -1)) return;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 30, i0, n0)) return;
    if (!PARLOOP_CHECK(0 <= i1 && i1 < 3, 31, i1, 3)) return;
    *(GPUGLMEM double *)(at + 32 + i0 * 24 + i1 * 8) = value;
}
GPUFUN GPUGLMEM double *ArrNx3Float64_getp2(ArrNx3Float64 obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 28, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 30, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    if (!PARLOOP_CHECK(0 <= i1 && i1 < 3, 31, i1, 3)) i1 = 0;
    return (GPUGLMEM double *)(at + 32 + i0 * 24 + i1 * 8);
}
GPUFUN int64_t ArrNx3Float64_size2(const ArrNx3Float64 obj, int64_t i0, int64_t i1) { return 8; }
#endif

/* array Levels, Int8[2, 3], axes from slow to fast 1, 0: 8 bytes
 *      0  items
 */
#ifndef PARLOOP_TYPEDEF_Levels
#define PARLOOP_TYPEDEF_Levels
typedef GPUGLMEM struct Levels_s *Levels;
GPUFUN Levels Levels_getp(Levels obj) { return obj; }
GPUFUN int64_t Levels_len(const Levels obj) { return 6; }
GPUFUN uint32_t Levels_nd(const Levels obj) { return 2; }
GPUFUN int64_t Levels_ndim(const Levels obj) { return 2; }
GPUFUN int64_t Levels_dim(const Levels obj, int64_t axis) {
    if (!PARLOOP_CHECK(0 <= axis && axis < 2, 32, axis, 2)) return 0;
    if (axis == 0) return 2;
    if (axis == 1) return 3;
    return 0;
}
GPUFUN void Levels_shape(const Levels obj, GPUGLMEM int64_t *out_shape) {
    out_shape[0] = 2;
    out_shape[1] = 3;
}
GPUFUN void Levels_strides(const Levels obj, GPUGLMEM int64_t *out_strides) {
    out_strides[0] = 1;
    out_strides[1] = 2;
}
GPUFUN int64_t Levels_size(const Levels obj) { return 8; }

/* Levels[i0, i1]: Int8 */
GPUFUN int8_t Levels_get(const Levels obj, int64_t i0, int64_t i1) {
    if (!PARLOOP_CHECK(obj != 0, 33, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= i0 && i0 < 2, 34, i0, 2)) return 0;
    if (!PARLOOP_CHECK(0 <= i1 && i1 < 3, 35, i1, 3)) return 0;
    return *(GPUGLMEM int8_t *)((GPUGLMEM char *)obj + i0 + i1 * 2);
}
GPUFUN void Levels_set(Levels obj, int64_t i0, int64_t i1, int8_t value) {
    if (!PARLOOP_CHECK(obj != 0, 33, 0, -1)) return;
    if (!PARLOOP_CHECK(0 <= i0 && i0 < 2, 34, i0, 2)) return;
    if (!PARLOOP_CHECK(0 <= i1 && i1 < 3, 35, i1, 3)) return;
    *(GPUGLMEM int8_t *)((GPUGLMEM char *)obj + i0 + i1 * 2) = value;
}
GPUFUN GPUGLMEM int8_t *Levels_getp2(Levels obj, int64_t i0, int64_t i1) {
    if (!PARLOOP_CHECK(obj != 0, 33, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= i0 && i0 < 2, 34, i0, 2)) i0 = 0;
    if (!PARLOOP_CHECK(0 <= i1 && i1 < 3, 35, i1, 3)) i1 = 0;
    return (GPUGLMEM int8_t *)((GPUGLMEM char *)obj + i0 + i1 * 2);
}
GPUFUN int64_t Levels_size2(const Levels obj, int64_t i0, int64_t i1) { return 1; }
#endif

/* array Fields, Float64[:, :, :], axes from slow to fast 1, 2, 0: each instance has its own size
 *      0  (size)
 *      8  (number of items along axis 0, 1, 2)
 *     32  (bytes between items along each axis)
 *     56  items
 */
#ifndef PARLOOP_TYPEDEF_Fields
#define PARLOOP_TYPEDEF_Fields
typedef GPUGLMEM struct Fields_s *Fields;
GPUFUN Fields Fields_getp(Fields obj) { return obj; }
GPUFUN int64_t Fields_len(const Fields obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 36, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)(at + 8) * *(GPUGLMEM int64_t *)(at + 16) * *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN uint32_t Fields_nd(const Fields obj) { return 3; }
GPUFUN int64_t Fields_ndim(const Fields obj) { return 3; }
GPUFUN int64_t Fields_dim(const Fields obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 36, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= axis && axis < 3, 37, axis, 3)) return 0;
    if (axis == 0) return *(GPUGLMEM int64_t *)(at + 8);
    if (axis == 1) return *(GPUGLMEM int64_t *)(at + 16);
    if (axis == 2) return *(GPUGLMEM int64_t *)(at + 24);
    return 0;
}
GPUFUN void Fields_shape(const Fields obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 36, 0, -1)) { out_shape[0] = 0; out_shape[1] = 0; out_shape[2] = 0; return; }
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 8);
    out_shape[1] = *(GPUGLMEM int64_t *)(at + 16);
    out_shape[2] = *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN void Fields_strides(const Fields obj, GPUGLMEM int64_t *out_strides) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 36, 0, -1)) { out_strides[0] = 0; out_strides[1] = 0; out_strides[2] = 0; return; }
    out_strides[0] = 8;
    out_strides[1] = *(GPUGLMEM int64_t *)(at + 40);
    out_strides[2] = *(GPUGLMEM int64_t *)(at + 48);
}
GPUFUN int64_t Fields_size(const Fields obj) {
    if (!PARLOOP_CHECK(obj != 0, 36, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)obj;
}

/* Fields[i0, i1, i2]: Float64 */
GPUFUN double Fields_get(const Fields obj, int64_t i0, int64_t i1, int64_t i2) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 36, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 38, i0, n0)) return 0;
    const int64_t n1 = *(GPUGLMEM int64_t *)(at + 16);
    if (!PARLOOP_CHECK(0 <= i1 && i1 < n1, 39, i1, n1)) return 0;
    const int64_t n2 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i2 && i2 < n2, 40, i2, n2)) return 0;
    return *(GPUGLMEM double *)(at + 56 + i0 * 8 + i1 * *(GPUGLMEM int64_t *)(at + 40) + i2 * *(GPUGLMEM int64_t *)(at + 48));
}
GPUFUN void Fields_set(Fields obj, int64_t i0, int64_t i1, int64_t i2, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 36, 0, -1)) return;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 38, i0, n0)) return;
    const int64_t n1 = *(GPUGLMEM int64_t *)(at + 16);
    if (!PARLOOP_CHECK(0 <= i1 && i1 < n1, 39, i1, n1)) return;
    const int64_t n2 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i2 && i2 < n2, 40, i2, n2)) return;
    *(GPUGLMEM double *)(at + 56 + i0 * 8 + i1 * *(GPUGLMEM int64_t *)(at + 40) + i2 * *(GPUGLMEM int64_t *)(at + 48)) = value;
}
GPUFUN GPUGLMEM double *Fields_getp3(Fields obj, int64_t i0, int64_t i1, int64_t i2) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 36, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 38, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    const int64_t n1 = *(GPUGLMEM int64_t *)(at + 16);
    if (!PARLOOP_CHECK(0 <= i1 && i1 < n1, 39, i1, n1)) { if (n1 <= 0) return 0; i1 = 0; }
    const int64_t n2 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i2 && i2 < n2, 40, i2, n2)) { if (n2 <= 0) return 0; i2 = 0; }
    return (GPUGLMEM double *)(at + 56 + i0 * 8 + i1 * *(GPUGLMEM int64_t *)(at + 40) + i2 * *(GPUGLMEM int64_t *)(at + 48));
}
GPUFUN int64_t Fields_size3(const Fields obj, int64_t i0, int64_t i1, int64_t i2) { return 8; }
#endif

/* array ArrNBool, Bool[:]: each instance has its own size
 *      0  (size)
 *      8  (number of items)
 *     16  items
 */
#ifndef PARLOOP_TYPEDEF_ArrNBool
#define PARLOOP_TYPEDEF_ArrNBool
typedef GPUGLMEM struct ArrNBool_s *ArrNBool;
GPUFUN ArrNBool ArrNBool_getp(ArrNBool obj) { return obj; }
GPUFUN int64_t ArrNBool_len(const ArrNBool obj) {
    if (!PARLOOP_CHECK(obj != 0, 41, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN uint32_t ArrNBool_nd(const ArrNBool obj) { return 1; }
GPUFUN int64_t ArrNBool_ndim(const ArrNBool obj) { return 1; }
GPUFUN int64_t ArrNBool_dim(const ArrNBool obj, int64_t axis) {
    if (!PARLOOP_CHECK(obj != 0, 41, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 42, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) : 0;
}
GPUFUN void ArrNBool_shape(const ArrNBool obj, GPUGLMEM int64_t *out_shape) {
    if (!PARLOOP_CHECK(obj != 0, 41, 0, -1)) { out_shape[0] = 0; return; }
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void ArrNBool_strides(const ArrNBool obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 1; }
GPUFUN int64_t ArrNBool_size(const ArrNBool obj) {
    if (!PARLOOP_CHECK(obj != 0, 41, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)obj;
}

/* ArrNBool[i0]: Bool */
GPUFUN bool ArrNBool_get(const ArrNBool obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 41, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 41, i0, n0)) return 0;
    return *(GPUGLMEM uint8_t *)(at + 16 + i0) != 0;
}
GPUFUN void ArrNBool_set(ArrNBool obj, int64_t i0, bool value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 41, 0, -1)) return;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 41, i0, n0)) return;
    *(GPUGLMEM uint8_t *)(at + 16 + i0) = value;
}
GPUFUN GPUGLMEM uint8_t *ArrNBool_getp1(ArrNBool obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 41, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 41, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM uint8_t *)(at + 16 + i0);
}
GPUFUN int64_t ArrNBool_size1(const ArrNBool obj, int64_t i0) { return 1; }
#endif

/* struct Mesh: each instance has its own size
 *      0  (size)
 *      8  level  Levels
 *     16  (where field begins)
 *     24  (where on begins)
 *     32  x      ArrNx3Float64
 *   [16]  field  Fields
 *   [24]  on     ArrNBool
 */
#ifndef PARLOOP_TYPEDEF_Mesh
#define PARLOOP_TYPEDEF_Mesh
typedef GPUGLMEM struct Mesh_s *Mesh;
GPUFUN Mesh Mesh_getp(Mesh obj) { return obj; }
GPUFUN int64_t Mesh_size(const Mesh obj) {
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)obj;
}

/* Mesh.x: ArrNx3Float64 */
GPUFUN ArrNx3Float64 Mesh_getp_x(Mesh obj) {
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    return (ArrNx3Float64)((GPUGLMEM char *)obj + 32);
}
GPUFUN int64_t Mesh_len_x(const Mesh obj) {
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 40) * 3;
}
GPUFUN uint32_t Mesh_nd_x(const Mesh obj) { return 2; }
GPUFUN int64_t Mesh_ndim_x(const Mesh obj) { return 2; }
GPUFUN int64_t Mesh_dim_x(const Mesh obj, int64_t axis) {
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= axis && axis < 2, 44, axis, 2)) return 0;
    if (axis == 0) return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 40);
    if (axis == 1) return 3;
    return 0;
}
GPUFUN void Mesh_shape_x(const Mesh obj, GPUGLMEM int64_t *out_shape) {
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) { out_shape[0] = 0; out_shape[1] = 0; return; }
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 40);
    out_shape[1] = 3;
}
GPUFUN void Mesh_strides_x(const Mesh obj, GPUGLMEM int64_t *out_strides) {
    out_strides[0] = 24;
    out_strides[1] = 8;
}
GPUFUN int64_t Mesh_size_x(const Mesh obj) {
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32);
}

/* Mesh.x[i0, i1]: Float64 */
GPUFUN double Mesh_get_x(const Mesh obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 40);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 45, i0, n0)) return 0;
    if (!PARLOOP_CHECK(0 <= i1 && i1 < 3, 46, i1, 3)) return 0;
    return *(GPUGLMEM double *)(at + 64 + i0 * 24 + i1 * 8);
}
GPUFUN void Mesh_set_x(Mesh obj, int64_t i0, int64_t i1, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 40);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 45, i0, n0)) return;
    if (!PARLOOP_CHECK(0 <= i1 && i1 < 3, 46, i1, 3)) return;
    *(GPUGLMEM double *)(at + 64 + i0 * 24 + i1 * 8) = value;
}
GPUFUN GPUGLMEM double *Mesh_getp2_x(Mesh obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 40);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 45, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    if (!PARLOOP_CHECK(0 <= i1 && i1 < 3, 46, i1, 3)) i1 = 0;
    return (GPUGLMEM double *)(at + 64 + i0 * 24 + i1 * 8);
}
GPUFUN int64_t Mesh_size2_x(const Mesh obj, int64_t i0, int64_t i1) { return 8; }

/* Mesh.level: Levels */
GPUFUN Levels Mesh_getp_level(Mesh obj) {
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    return (Levels)((GPUGLMEM char *)obj + 8);
}
GPUFUN int64_t Mesh_len_level(const Mesh obj) { return 6; }
GPUFUN uint32_t Mesh_nd_level(const Mesh obj) { return 2; }
GPUFUN int64_t Mesh_ndim_level(const Mesh obj) { return 2; }
GPUFUN int64_t Mesh_dim_level(const Mesh obj, int64_t axis) {
    if (!PARLOOP_CHECK(0 <= axis && axis < 2, 47, axis, 2)) return 0;
    if (axis == 0) return 2;
    if (axis == 1) return 3;
    return 0;
}
GPUFUN void Mesh_shape_level(const Mesh obj, GPUGLMEM int64_t *out_shape) {
    out_shape[0] = 2;
    out_shape[1] = 3;
}
GPUFUN void Mesh_strides_level(const Mesh obj, GPUGLMEM int64_t *out_strides) {
    out_strides[0] = 1;
    out_strides[1] = 2;
}
GPUFUN int64_t Mesh_size_level(const Mesh obj) { return 8; }

/* Mesh.level[i0, i1]: Int8 */
GPUFUN int8_t Mesh_get_level(const Mesh obj, int64_t i0, int64_t i1) {
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= i0 && i0 < 2, 48, i0, 2)) return 0;
    if (!PARLOOP_CHECK(0 <= i1 && i1 < 3, 49, i1, 3)) return 0;
    return *(GPUGLMEM int8_t *)((GPUGLMEM char *)obj + 8 + i0 + i1 * 2);
}
GPUFUN void Mesh_set_level(Mesh obj, int64_t i0, int64_t i1, int8_t value) {
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return;
    if (!PARLOOP_CHECK(0 <= i0 && i0 < 2, 48, i0, 2)) return;
    if (!PARLOOP_CHECK(0 <= i1 && i1 < 3, 49, i1, 3)) return;
    *(GPUGLMEM int8_t *)((GPUGLMEM char *)obj + 8 + i0 + i1 * 2) = value;
}
GPUFUN GPUGLMEM int8_t *Mesh_getp2_level(Mesh obj, int64_t i0, int64_t i1) {
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= i0 && i0 < 2, 48, i0, 2)) i0 = 0;
    if (!PARLOOP_CHECK(0 <= i1 && i1 < 3, 49, i1, 3)) i1 = 0;
    return (GPUGLMEM int8_t *)((GPUGLMEM char *)obj + 8 + i0 + i1 * 2);
}
GPUFUN int64_t Mesh_size2_level(const Mesh obj, int64_t i0, int64_t i1) { return 1; }

/* Mesh.field: Fields */
GPUFUN Fields Mesh_getp_field(Mesh obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return (Fields)at;
}
GPUFUN int64_t Mesh_len_field(const Mesh obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)(at + 8) * *(GPUGLMEM int64_t *)(at + 16) * *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN uint32_t Mesh_nd_field(const Mesh obj) { return 3; }
GPUFUN int64_t Mesh_ndim_field(const Mesh obj) { return 3; }
GPUFUN int64_t Mesh_dim_field(const Mesh obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    if (!PARLOOP_CHECK(0 <= axis && axis < 3, 50, axis, 3)) return 0;
    if (axis == 0) return *(GPUGLMEM int64_t *)(at + 8);
    if (axis == 1) return *(GPUGLMEM int64_t *)(at + 16);
    if (axis == 2) return *(GPUGLMEM int64_t *)(at + 24);
    return 0;
}
GPUFUN void Mesh_shape_field(const Mesh obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) { out_shape[0] = 0; out_shape[1] = 0; out_shape[2] = 0; return; }
    at += *(GPUGLMEM int64_t *)(at + 16);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 8);
    out_shape[1] = *(GPUGLMEM int64_t *)(at + 16);
    out_shape[2] = *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN void Mesh_strides_field(const Mesh obj, GPUGLMEM int64_t *out_strides) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) { out_strides[0] = 0; out_strides[1] = 0; out_strides[2] = 0; return; }
    at += *(GPUGLMEM int64_t *)(at + 16);
    out_strides[0] = 8;
    out_strides[1] = *(GPUGLMEM int64_t *)(at + 40);
    out_strides[2] = *(GPUGLMEM int64_t *)(at + 48);
}
GPUFUN int64_t Mesh_size_field(const Mesh obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)at;
}

/* Mesh.field[i0, i1, i2]: Float64 */
GPUFUN double Mesh_get_field(const Mesh obj, int64_t i0, int64_t i1, int64_t i2) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 51, i0, n0)) return 0;
    const int64_t n1 = *(GPUGLMEM int64_t *)(at + 16);
    if (!PARLOOP_CHECK(0 <= i1 && i1 < n1, 52, i1, n1)) return 0;
    const int64_t n2 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i2 && i2 < n2, 53, i2, n2)) return 0;
    return *(GPUGLMEM double *)(at + 56 + i0 * 8 + i1 * *(GPUGLMEM int64_t *)(at + 40) + i2 * *(GPUGLMEM int64_t *)(at + 48));
}
GPUFUN void Mesh_set_field(Mesh obj, int64_t i0, int64_t i1, int64_t i2, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return;
    at += *(GPUGLMEM int64_t *)(at + 16);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 51, i0, n0)) return;
    const int64_t n1 = *(GPUGLMEM int64_t *)(at + 16);
    if (!PARLOOP_CHECK(0 <= i1 && i1 < n1, 52, i1, n1)) return;
    const int64_t n2 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i2 && i2 < n2, 53, i2, n2)) return;
    *(GPUGLMEM double *)(at + 56 + i0 * 8 + i1 * *(GPUGLMEM int64_t *)(at + 40) + i2 * *(GPUGLMEM int64_t *)(at + 48)) = value;
}
GPUFUN GPUGLMEM double *Mesh_getp3_field(Mesh obj, int64_t i0, int64_t i1, int64_t i2) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 51, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    const int64_t n1 = *(GPUGLMEM int64_t *)(at + 16);
    if (!PARLOOP_CHECK(0 <= i1 && i1 < n1, 52, i1, n1)) { if (n1 <= 0) return 0; i1 = 0; }
    const int64_t n2 = *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= i2 && i2 < n2, 53, i2, n2)) { if (n2 <= 0) return 0; i2 = 0; }
    return (GPUGLMEM double *)(at + 56 + i0 * 8 + i1 * *(GPUGLMEM int64_t *)(at + 40) + i2 * *(GPUGLMEM int64_t *)(at + 48));
}
GPUFUN int64_t Mesh_size3_field(const Mesh obj, int64_t i0, int64_t i1, int64_t i2) { return 8; }

/* Mesh.on: ArrNBool */
GPUFUN ArrNBool Mesh_getp_on(Mesh obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 24);
    return (ArrNBool)at;
}
GPUFUN int64_t Mesh_len_on(const Mesh obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 24);
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN uint32_t Mesh_nd_on(const Mesh obj) { return 1; }
GPUFUN int64_t Mesh_ndim_on(const Mesh obj) { return 1; }
GPUFUN int64_t Mesh_dim_on(const Mesh obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 24);
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 54, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 8) : 0;
}
GPUFUN void Mesh_shape_on(const Mesh obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) { out_shape[0] = 0; return; }
    at += *(GPUGLMEM int64_t *)(at + 24);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void Mesh_strides_on(const Mesh obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 1; }
GPUFUN int64_t Mesh_size_on(const Mesh obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 24);
    return *(GPUGLMEM int64_t *)at;
}

/* Mesh.on[i0]: Bool */
GPUFUN bool Mesh_get_on(const Mesh obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 24);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 55, i0, n0)) return 0;
    return *(GPUGLMEM uint8_t *)(at + 16 + i0) != 0;
}
GPUFUN void Mesh_set_on(Mesh obj, int64_t i0, bool value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return;
    at += *(GPUGLMEM int64_t *)(at + 24);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 55, i0, n0)) return;
    *(GPUGLMEM uint8_t *)(at + 16 + i0) = value;
}
GPUFUN GPUGLMEM uint8_t *Mesh_getp1_on(Mesh obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 43, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 24);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 55, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM uint8_t *)(at + 16 + i0);
}
GPUFUN int64_t Mesh_size1_on(const Mesh obj, int64_t i0) { return 1; }
#endif

/* struct Drift: 8 bytes
 *      0  length  Float64
 */
#ifndef PARLOOP_TYPEDEF_Drift
#define PARLOOP_TYPEDEF_Drift
typedef GPUGLMEM struct Drift_s *Drift;
GPUFUN Drift Drift_getp(Drift obj) { return obj; }
GPUFUN int64_t Drift_size(const Drift obj) { return 8; }

/* Drift.length: Float64 */
GPUFUN double Drift_get_length(const Drift obj) {
    if (!PARLOOP_CHECK(obj != 0, 56, 0, -1)) return 0;
    return *(GPUGLMEM double *)obj;
}
GPUFUN void Drift_set_length(Drift obj, double value) {
    if (!PARLOOP_CHECK(obj != 0, 56, 0, -1)) return;
    *(GPUGLMEM double *)obj = value;
}
GPUFUN GPUGLMEM double *Drift_getp_length(Drift obj) {
    if (!PARLOOP_CHECK(obj != 0, 56, 0, -1)) return 0;
    return (GPUGLMEM double *)obj;
}
GPUFUN int64_t Drift_size_length(const Drift obj) { return 8; }
#endif
GPUFUN double Drift_scaled(const Drift obj, double by) { return by * Drift_get_length(obj); }
GPUFUN void Drift_scale(Drift obj, double by) { Drift_set_length(obj, Drift_scaled(obj, by)); }

/* struct Multipole: each instance has its own size
 *      0  (size)
 *      8  order  Int64
 *     16  (where ksl begins)
 *     24  knl    ArrNFloat64
 *   [16]  ksl    ArrNFloat64
 */
#ifndef PARLOOP_TYPEDEF_Multipole
#define PARLOOP_TYPEDEF_Multipole
typedef GPUGLMEM struct Multipole_s *Multipole;
GPUFUN Multipole Multipole_getp(Multipole obj) { return obj; }
GPUFUN int64_t Multipole_size(const Multipole obj) {
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)obj;
}

/* Multipole.order: Int64 */
GPUFUN int64_t Multipole_get_order(const Multipole obj) {
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void Multipole_set_order(Multipole obj, int64_t value) {
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return;
    *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) = value;
}
GPUFUN GPUGLMEM int64_t *Multipole_getp_order(Multipole obj) {
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return 0;
    return (GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN int64_t Multipole_size_order(const Multipole obj) { return 8; }

/* Multipole.knl: ArrNFloat64 */
GPUFUN ArrNFloat64 Multipole_getp_knl(Multipole obj) {
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return 0;
    return (ArrNFloat64)((GPUGLMEM char *)obj + 24);
}
GPUFUN int64_t Multipole_len_knl(const Multipole obj) {
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32);
}
GPUFUN uint32_t Multipole_nd_knl(const Multipole obj) { return 1; }
GPUFUN int64_t Multipole_ndim_knl(const Multipole obj) { return 1; }
GPUFUN int64_t Multipole_dim_knl(const Multipole obj, int64_t axis) {
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 58, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32) : 0;
}
GPUFUN void Multipole_shape_knl(const Multipole obj, GPUGLMEM int64_t *out_shape) {
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) { out_shape[0] = 0; return; }
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32);
}
GPUFUN void Multipole_strides_knl(const Multipole obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Multipole_size_knl(const Multipole obj) {
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 24);
}

/* Multipole.knl[i0]: Float64 */
GPUFUN double Multipole_get_knl(const Multipole obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 32);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 59, i0, n0)) return 0;
    return *(GPUGLMEM double *)(at + 40 + i0 * 8);
}
GPUFUN void Multipole_set_knl(Multipole obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 32);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 59, i0, n0)) return;
    *(GPUGLMEM double *)(at + 40 + i0 * 8) = value;
}
GPUFUN GPUGLMEM double *Multipole_getp1_knl(Multipole obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 32);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 59, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM double *)(at + 40 + i0 * 8);
}
GPUFUN int64_t Multipole_size1_knl(const Multipole obj, int64_t i0) { return 8; }

/* Multipole.ksl: ArrNFloat64 */
GPUFUN ArrNFloat64 Multipole_getp_ksl(Multipole obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return (ArrNFloat64)at;
}
GPUFUN int64_t Multipole_len_ksl(const Multipole obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN uint32_t Multipole_nd_ksl(const Multipole obj) { return 1; }
GPUFUN int64_t Multipole_ndim_ksl(const Multipole obj) { return 1; }
GPUFUN int64_t Multipole_dim_ksl(const Multipole obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 60, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 8) : 0;
}
GPUFUN void Multipole_shape_ksl(const Multipole obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) { out_shape[0] = 0; return; }
    at += *(GPUGLMEM int64_t *)(at + 16);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void Multipole_strides_ksl(const Multipole obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Multipole_size_ksl(const Multipole obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)at;
}

/* Multipole.ksl[i0]: Float64 */
GPUFUN double Multipole_get_ksl(const Multipole obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 61, i0, n0)) return 0;
    return *(GPUGLMEM double *)(at + 16 + i0 * 8);
}
GPUFUN void Multipole_set_ksl(Multipole obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return;
    at += *(GPUGLMEM int64_t *)(at + 16);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 61, i0, n0)) return;
    *(GPUGLMEM double *)(at + 16 + i0 * 8) = value;
}
GPUFUN GPUGLMEM double *Multipole_getp1_ksl(Multipole obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 57, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 61, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM double *)(at + 16 + i0 * 8);
}
GPUFUN int64_t Multipole_size1_ksl(const Multipole obj, int64_t i0) { return 8; }
#endif
GPUFUN double Multipole_scaled(const Multipole obj, double by) { return by * Multipole_get_knl(obj, 1); }
GPUFUN void Multipole_scale(Multipole obj, double by) { Multipole_set_knl(obj, 1, Multipole_scaled(obj, by)); }

/* union reference Element: 16 bytes
 *      0  (distance from here to the object)
 *      8  (which: 0 Drift, 1 Multipole, -1 none)
 */
#ifndef PARLOOP_TYPEDEF_Element
#define PARLOOP_TYPEDEF_Element
typedef GPUGLMEM struct Element_s *Element;
enum Element_e { Element_Drift_t, Element_Multipole_t };
GPUFUN Element Element_getp(Element obj) { return obj; }
GPUFUN int64_t Element_typeid(const Element obj) {
    if (!PARLOOP_CHECK(obj != 0, 62, 0, -1)) return -1;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN GPUGLMEM void *Element_member(const Element obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 62, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)(at + 8) < 0 ? 0 : at + *(GPUGLMEM int64_t *)at;
}
GPUFUN int64_t Element_size(const Element obj) { return 16; }

GPUFUN double Element_scaled(const Element obj, double by) {
    if (!PARLOOP_CHECK(Element_typeid(obj) >= 0, 62, 0, -1) || !PARLOOP_CHECK(Element_typeid(obj) < 2, 62, Element_typeid(obj), 2)) return 0;
    switch (Element_typeid(obj)) {
#ifndef ELEMENT_SKIP_DRIFT
    case Element_Drift_t: return Drift_scaled((Drift)Element_member(obj), by);
#endif
#ifndef ELEMENT_SKIP_MULTIPOLE
    case Element_Multipole_t: return Multipole_scaled((Multipole)Element_member(obj), by);
#endif
    default: return 0;
    }
}

GPUFUN void Element_scale(const Element obj, double by) {
    if (!PARLOOP_CHECK(Element_typeid(obj) >= 0, 62, 0, -1) || !PARLOOP_CHECK(Element_typeid(obj) < 2, 62, Element_typeid(obj), 2)) return;
    switch (Element_typeid(obj)) {
#ifndef ELEMENT_SKIP_DRIFT
    case Element_Drift_t: Drift_scale((Drift)Element_member(obj), by); return;
#endif
#ifndef ELEMENT_SKIP_MULTIPOLE
    case Element_Multipole_t: Multipole_scale((Multipole)Element_member(obj), by); return;
#endif
    default: return;
    }
}
#endif

/* array ArrNElement, Element[:]: each instance has its own size
 *      0  (size)
 *      8  (number of items)
 *     16  items
 */
#ifndef PARLOOP_TYPEDEF_ArrNElement
#define PARLOOP_TYPEDEF_ArrNElement
typedef GPUGLMEM struct ArrNElement_s *ArrNElement;
GPUFUN ArrNElement ArrNElement_getp(ArrNElement obj) { return obj; }
GPUFUN int64_t ArrNElement_len(const ArrNElement obj) {
    if (!PARLOOP_CHECK(obj != 0, 63, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN uint32_t ArrNElement_nd(const ArrNElement obj) { return 1; }
GPUFUN int64_t ArrNElement_ndim(const ArrNElement obj) { return 1; }
GPUFUN int64_t ArrNElement_dim(const ArrNElement obj, int64_t axis) {
    if (!PARLOOP_CHECK(obj != 0, 63, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 64, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) : 0;
}
GPUFUN void ArrNElement_shape(const ArrNElement obj, GPUGLMEM int64_t *out_shape) {
    if (!PARLOOP_CHECK(obj != 0, 63, 0, -1)) { out_shape[0] = 0; return; }
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void ArrNElement_strides(const ArrNElement obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 16; }
GPUFUN int64_t ArrNElement_size(const ArrNElement obj) {
    if (!PARLOOP_CHECK(obj != 0, 63, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)obj;
}

/* ArrNElement[i0]: Element */
GPUFUN Element ArrNElement_getp1(ArrNElement obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 63, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 63, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (Element)(at + 16 + i0 * 16);
}
GPUFUN int64_t ArrNElement_typeid(const ArrNElement obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 63, 0, -1)) return -1;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 63, i0, n0)) return -1;
    return *(GPUGLMEM int64_t *)(at + 24 + i0 * 16);
}
GPUFUN GPUGLMEM void *ArrNElement_member(const ArrNElement obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 63, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 63, i0, n0)) return 0;
    return *(GPUGLMEM int64_t *)(at + 24 + i0 * 16) < 0 ? 0 : at + 16 + i0 * 16 + *(GPUGLMEM int64_t *)(at + 16 + i0 * 16);
}
GPUFUN int64_t ArrNElement_size1(const ArrNElement obj, int64_t i0) { return 16; }
#endif

/* struct Line: each instance has its own size
 *      0  (size)
 *      8  first     Element
 *     24  shared    RefElement
 *     32  elements  ArrNElement
 */
#ifndef PARLOOP_TYPEDEF_Line
#define PARLOOP_TYPEDEF_Line
typedef GPUGLMEM struct Line_s *Line;
GPUFUN Line Line_getp(Line obj) { return obj; }
GPUFUN int64_t Line_size(const Line obj) {
    if (!PARLOOP_CHECK(obj != 0, 65, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)obj;
}

/* Line.first: Element */
GPUFUN Element Line_getp_first(Line obj) {
    if (!PARLOOP_CHECK(obj != 0, 65, 0, -1)) return 0;
    return (Element)((GPUGLMEM char *)obj + 8);
}
GPUFUN int64_t Line_typeid_first(const Line obj) {
    if (!PARLOOP_CHECK(obj != 0, 65, 0, -1)) return -1;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 16);
}
GPUFUN GPUGLMEM void *Line_member_first(const Line obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 65, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)(at + 16) < 0 ? 0 : at + 8 + *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN int64_t Line_size_first(const Line obj) { return 16; }

/* Line.elements: ArrNElement */
GPUFUN ArrNElement Line_getp_elements(Line obj) {
    if (!PARLOOP_CHECK(obj != 0, 65, 0, -1)) return 0;
    return (ArrNElement)((GPUGLMEM char *)obj + 32);
}
GPUFUN int64_t Line_len_elements(const Line obj) {
    if (!PARLOOP_CHECK(obj != 0, 65, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 40);
}
GPUFUN uint32_t Line_nd_elements(const Line obj) { return 1; }
GPUFUN int64_t Line_ndim_elements(const Line obj) { return 1; }
GPUFUN int64_t Line_dim_elements(const Line obj, int64_t axis) {
    if (!PARLOOP_CHECK(obj != 0, 65, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 66, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 40) : 0;
}
GPUFUN void Line_shape_elements(const Line obj, GPUGLMEM int64_t *out_shape) {
    if (!PARLOOP_CHECK(obj != 0, 65, 0, -1)) { out_shape[0] = 0; return; }
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 40);
}
GPUFUN void Line_strides_elements(const Line obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 16; }
GPUFUN int64_t Line_size_elements(const Line obj) {
    if (!PARLOOP_CHECK(obj != 0, 65, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32);
}

/* Line.elements[i0]: Element */
GPUFUN Element Line_getp1_elements(Line obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 65, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 40);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 67, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (Element)(at + 48 + i0 * 16);
}
GPUFUN int64_t Line_typeid_elements(const Line obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 65, 0, -1)) return -1;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 40);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 67, i0, n0)) return -1;
    return *(GPUGLMEM int64_t *)(at + 56 + i0 * 16);
}
GPUFUN GPUGLMEM void *Line_member_elements(const Line obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 65, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 40);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 67, i0, n0)) return 0;
    return *(GPUGLMEM int64_t *)(at + 56 + i0 * 16) < 0 ? 0 : at + 48 + i0 * 16 + *(GPUGLMEM int64_t *)(at + 48 + i0 * 16);
}
GPUFUN int64_t Line_size1_elements(const Line obj, int64_t i0) { return 16; }

/* Line.shared: Element */
GPUFUN Element Line_getp_shared(Line obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 65, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 68, 0, -1)) return 0;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    return (Element)at;
}
GPUFUN int64_t Line_typeid_shared(const Line obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 65, 0, -1)) return -1;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 68, 0, -1)) return -1;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN GPUGLMEM void *Line_member_shared(const Line obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 65, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 68, 0, -1)) return 0;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    return *(GPUGLMEM int64_t *)(at + 8) < 0 ? 0 : at + *(GPUGLMEM int64_t *)at;
}
GPUFUN int64_t Line_size_shared(const Line obj) { return 16; }
#endif


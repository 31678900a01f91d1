/* array ArrNFloat64, Float64[:]: each instance has its own size
 *      0  (size)
 *      8  (number of items)
 *     16  items
 */
#ifndef PARLOOP_TYPEDEF_ArrNFloat64
#define PARLOOP_TYPEDEF_ArrNFloat64
typedef GPUGLMEM struct ArrNFloat64_s *ArrNFloat64;
GPUFUN ArrNFloat64 ArrNFloat64_getp(ArrNFloat64 obj) { return obj; }
GPUFUN int64_t ArrNFloat64_len(const ArrNFloat64 obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN uint32_t ArrNFloat64_nd(const ArrNFloat64 obj) { return 1; }
GPUFUN int64_t ArrNFloat64_ndim(const ArrNFloat64 obj) { return 1; }
GPUFUN int64_t ArrNFloat64_dim(const ArrNFloat64 obj, int64_t axis) {
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) : 0;
}
GPUFUN void ArrNFloat64_shape(const ArrNFloat64 obj, GPUGLMEM int64_t *out_shape) {
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void ArrNFloat64_strides(const ArrNFloat64 obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t ArrNFloat64_size(const ArrNFloat64 obj) { return *(GPUGLMEM int64_t *)obj; }

/* ArrNFloat64[i0]: Float64 */
GPUFUN double ArrNFloat64_get(const ArrNFloat64 obj, int64_t i0) { return *(GPUGLMEM double *)((GPUGLMEM char *)obj + 16 + i0 * 8); }
GPUFUN void ArrNFloat64_set(ArrNFloat64 obj, int64_t i0, double value) { *(GPUGLMEM double *)((GPUGLMEM char *)obj + 16 + i0 * 8) = value; }
GPUFUN GPUGLMEM double *ArrNFloat64_getp1(ArrNFloat64 obj, int64_t i0) { return (GPUGLMEM double *)((GPUGLMEM char *)obj + 16 + i0 * 8); }
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
GPUFUN int64_t Value_size(const Value obj) { return *(GPUGLMEM int64_t *)obj; }

/* Value.a: Int64 */
GPUFUN int64_t Value_get_a(const Value obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN void Value_set_a(Value obj, int64_t value) { *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) = value; }
GPUFUN GPUGLMEM int64_t *Value_getp_a(Value obj) { return (GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN int64_t Value_size_a(const Value obj) { return 8; }

/* Value.b: ArrNFloat64 */
GPUFUN ArrNFloat64 Value_getp_b(Value obj) { return (ArrNFloat64)((GPUGLMEM char *)obj + 16); }
GPUFUN int64_t Value_len_b(const Value obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 24); }
GPUFUN uint32_t Value_nd_b(const Value obj) { return 1; }
GPUFUN int64_t Value_ndim_b(const Value obj) { return 1; }
GPUFUN int64_t Value_dim_b(const Value obj, int64_t axis) { return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 24) : 0; }
GPUFUN void Value_shape_b(const Value obj, GPUGLMEM int64_t *out_shape) { out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 24); }
GPUFUN void Value_strides_b(const Value obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Value_size_b(const Value obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 16); }

/* Value.b[i0]: Float64 */
GPUFUN double Value_get_b(const Value obj, int64_t i0) { return *(GPUGLMEM double *)((GPUGLMEM char *)obj + 32 + i0 * 8); }
GPUFUN void Value_set_b(Value obj, int64_t i0, double value) { *(GPUGLMEM double *)((GPUGLMEM char *)obj + 32 + i0 * 8) = value; }
GPUFUN GPUGLMEM double *Value_getp1_b(Value obj, int64_t i0) { return (GPUGLMEM double *)((GPUGLMEM char *)obj + 32 + i0 * 8); }
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
GPUFUN int64_t ArrNRefValue_len(const ArrNRefValue obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN uint32_t ArrNRefValue_nd(const ArrNRefValue obj) { return 1; }
GPUFUN int64_t ArrNRefValue_ndim(const ArrNRefValue obj) { return 1; }
GPUFUN int64_t ArrNRefValue_dim(const ArrNRefValue obj, int64_t axis) {
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) : 0;
}
GPUFUN void ArrNRefValue_shape(const ArrNRefValue obj, GPUGLMEM int64_t *out_shape) {
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void ArrNRefValue_strides(const ArrNRefValue obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t ArrNRefValue_size(const ArrNRefValue obj) { return *(GPUGLMEM int64_t *)obj; }

/* ArrNRefValue[i0]: Value */
GPUFUN Value ArrNRefValue_getp1(ArrNRefValue obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return (Value)at;
}
GPUFUN int64_t ArrNRefValue_size1(const ArrNRefValue obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)at;
}

/* ArrNRefValue[i0].a: Int64 */
GPUFUN int64_t ArrNRefValue_get_a(const ArrNRefValue obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void ArrNRefValue_set_a(ArrNRefValue obj, int64_t i0, int64_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    *(GPUGLMEM int64_t *)(at + 8) = value;
}
GPUFUN GPUGLMEM int64_t *ArrNRefValue_getp1_a(ArrNRefValue obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return (GPUGLMEM int64_t *)(at + 8);
}
GPUFUN int64_t ArrNRefValue_size1_a(const ArrNRefValue obj, int64_t i0) { return 8; }

/* ArrNRefValue[i0].b: ArrNFloat64 */
GPUFUN ArrNFloat64 ArrNRefValue_getp1_b(ArrNRefValue obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return (ArrNFloat64)(at + 16);
}
GPUFUN int64_t ArrNRefValue_len1_b(const ArrNRefValue obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN uint32_t ArrNRefValue_nd1_b(const ArrNRefValue obj, int64_t i0) { return 1; }
GPUFUN int64_t ArrNRefValue_ndim1_b(const ArrNRefValue obj, int64_t i0) { return 1; }
GPUFUN int64_t ArrNRefValue_dim1_b(const ArrNRefValue obj, int64_t i0, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 24) : 0;
}
GPUFUN void ArrNRefValue_shape1_b(const ArrNRefValue obj, int64_t i0, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN void ArrNRefValue_strides1_b(const ArrNRefValue obj, int64_t i0, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t ArrNRefValue_size1_b(const ArrNRefValue obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 16);
}

/* ArrNRefValue[i0].b[i1]: Float64 */
GPUFUN double ArrNRefValue_get_b(const ArrNRefValue obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM double *)(at + 32 + i1 * 8);
}
GPUFUN void ArrNRefValue_set_b(ArrNRefValue obj, int64_t i0, int64_t i1, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    *(GPUGLMEM double *)(at + 32 + i1 * 8) = value;
}
GPUFUN GPUGLMEM double *ArrNRefValue_getp2_b(ArrNRefValue obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
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
GPUFUN double Particle_get_x(const Particle obj) { return *(GPUGLMEM double *)obj; }
GPUFUN void Particle_set_x(Particle obj, double value) { *(GPUGLMEM double *)obj = value; }
GPUFUN GPUGLMEM double *Particle_getp_x(Particle obj) { return (GPUGLMEM double *)obj; }
GPUFUN int64_t Particle_size_x(const Particle obj) { return 8; }

/* Particle.px: Float64 */
GPUFUN double Particle_get_px(const Particle obj) { return *(GPUGLMEM double *)((GPUGLMEM char *)obj + 8); }
GPUFUN void Particle_set_px(Particle obj, double value) { *(GPUGLMEM double *)((GPUGLMEM char *)obj + 8) = value; }
GPUFUN GPUGLMEM double *Particle_getp_px(Particle obj) { return (GPUGLMEM double *)((GPUGLMEM char *)obj + 8); }
GPUFUN int64_t Particle_size_px(const Particle obj) { return 8; }

/* Particle.id: Int32 */
GPUFUN int32_t Particle_get_id(const Particle obj) { return *(GPUGLMEM int32_t *)((GPUGLMEM char *)obj + 16); }
GPUFUN void Particle_set_id(Particle obj, int32_t value) { *(GPUGLMEM int32_t *)((GPUGLMEM char *)obj + 16) = value; }
GPUFUN GPUGLMEM int32_t *Particle_getp_id(Particle obj) { return (GPUGLMEM int32_t *)((GPUGLMEM char *)obj + 16); }
GPUFUN int64_t Particle_size_id(const Particle obj) { return 4; }

/* Particle.alive: Bool */
GPUFUN bool Particle_get_alive(const Particle obj) { return *(GPUGLMEM uint8_t *)((GPUGLMEM char *)obj + 24) != 0; }
GPUFUN void Particle_set_alive(Particle obj, bool value) { *(GPUGLMEM uint8_t *)((GPUGLMEM char *)obj + 24) = value; }
GPUFUN GPUGLMEM uint8_t *Particle_getp_alive(Particle obj) { return (GPUGLMEM uint8_t *)((GPUGLMEM char *)obj + 24); }
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
GPUFUN int64_t ArrNParticle_len(const ArrNParticle obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN uint32_t ArrNParticle_nd(const ArrNParticle obj) { return 1; }
GPUFUN int64_t ArrNParticle_ndim(const ArrNParticle obj) { return 1; }
GPUFUN int64_t ArrNParticle_dim(const ArrNParticle obj, int64_t axis) {
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) : 0;
}
GPUFUN void ArrNParticle_shape(const ArrNParticle obj, GPUGLMEM int64_t *out_shape) {
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void ArrNParticle_strides(const ArrNParticle obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 32; }
GPUFUN int64_t ArrNParticle_size(const ArrNParticle obj) { return *(GPUGLMEM int64_t *)obj; }

/* ArrNParticle[i0]: Particle */
GPUFUN Particle ArrNParticle_getp1(ArrNParticle obj, int64_t i0) { return (Particle)((GPUGLMEM char *)obj + 16 + i0 * 32); }
GPUFUN int64_t ArrNParticle_size1(const ArrNParticle obj, int64_t i0) { return 32; }

/* ArrNParticle[i0].x: Float64 */
GPUFUN double ArrNParticle_get_x(const ArrNParticle obj, int64_t i0) { return *(GPUGLMEM double *)((GPUGLMEM char *)obj + 16 + i0 * 32); }
GPUFUN void ArrNParticle_set_x(ArrNParticle obj, int64_t i0, double value) {
    *(GPUGLMEM double *)((GPUGLMEM char *)obj + 16 + i0 * 32) = value;
}
GPUFUN GPUGLMEM double *ArrNParticle_getp1_x(ArrNParticle obj, int64_t i0) {
    return (GPUGLMEM double *)((GPUGLMEM char *)obj + 16 + i0 * 32);
}
GPUFUN int64_t ArrNParticle_size1_x(const ArrNParticle obj, int64_t i0) { return 8; }

/* ArrNParticle[i0].px: Float64 */
GPUFUN double ArrNParticle_get_px(const ArrNParticle obj, int64_t i0) { return *(GPUGLMEM double *)((GPUGLMEM char *)obj + 24 + i0 * 32); }
GPUFUN void ArrNParticle_set_px(ArrNParticle obj, int64_t i0, double value) {
    *(GPUGLMEM double *)((GPUGLMEM char *)obj + 24 + i0 * 32) = value;
}
GPUFUN GPUGLMEM double *ArrNParticle_getp1_px(ArrNParticle obj, int64_t i0) {
    return (GPUGLMEM double *)((GPUGLMEM char *)obj + 24 + i0 * 32);
}
GPUFUN int64_t ArrNParticle_size1_px(const ArrNParticle obj, int64_t i0) { return 8; }

/* ArrNParticle[i0].id: Int32 */
GPUFUN int32_t ArrNParticle_get_id(const ArrNParticle obj, int64_t i0) {
    return *(GPUGLMEM int32_t *)((GPUGLMEM char *)obj + 32 + i0 * 32);
}
GPUFUN void ArrNParticle_set_id(ArrNParticle obj, int64_t i0, int32_t value) {
    *(GPUGLMEM int32_t *)((GPUGLMEM char *)obj + 32 + i0 * 32) = value;
}
GPUFUN GPUGLMEM int32_t *ArrNParticle_getp1_id(ArrNParticle obj, int64_t i0) {
    return (GPUGLMEM int32_t *)((GPUGLMEM char *)obj + 32 + i0 * 32);
}
GPUFUN int64_t ArrNParticle_size1_id(const ArrNParticle obj, int64_t i0) { return 4; }

/* ArrNParticle[i0].alive: Bool */
GPUFUN bool ArrNParticle_get_alive(const ArrNParticle obj, int64_t i0) {
    return *(GPUGLMEM uint8_t *)((GPUGLMEM char *)obj + 40 + i0 * 32) != 0;
}
GPUFUN void ArrNParticle_set_alive(ArrNParticle obj, int64_t i0, bool value) {
    *(GPUGLMEM uint8_t *)((GPUGLMEM char *)obj + 40 + i0 * 32) = value;
}
GPUFUN GPUGLMEM uint8_t *ArrNParticle_getp1_alive(ArrNParticle obj, int64_t i0) {
    return (GPUGLMEM uint8_t *)((GPUGLMEM char *)obj + 40 + i0 * 32);
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
GPUFUN int64_t Refs_size(const Refs obj) { return *(GPUGLMEM int64_t *)obj; }

/* Refs.number: Float64 */
GPUFUN double Refs_get_number(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 8 + *(GPUGLMEM int64_t *)(at + 8);
    return *(GPUGLMEM double *)at;
}
GPUFUN void Refs_set_number(Refs obj, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 8 + *(GPUGLMEM int64_t *)(at + 8);
    *(GPUGLMEM double *)at = value;
}
GPUFUN GPUGLMEM double *Refs_getp_number(Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 8 + *(GPUGLMEM int64_t *)(at + 8);
    return (GPUGLMEM double *)at;
}
GPUFUN int64_t Refs_size_number(const Refs obj) { return 8; }

/* Refs.value: Value */
GPUFUN Value Refs_getp_value(Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    return (Value)at;
}
GPUFUN int64_t Refs_size_value(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)at;
}

/* Refs.value.a: Int64 */
GPUFUN int64_t Refs_get_value_a(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void Refs_set_value_a(Refs obj, int64_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    *(GPUGLMEM int64_t *)(at + 8) = value;
}
GPUFUN GPUGLMEM int64_t *Refs_getp_value_a(Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    return (GPUGLMEM int64_t *)(at + 8);
}
GPUFUN int64_t Refs_size_value_a(const Refs obj) { return 8; }

/* Refs.value.b: ArrNFloat64 */
GPUFUN ArrNFloat64 Refs_getp_value_b(Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    return (ArrNFloat64)(at + 16);
}
GPUFUN int64_t Refs_len_value_b(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN uint32_t Refs_nd_value_b(const Refs obj) { return 1; }
GPUFUN int64_t Refs_ndim_value_b(const Refs obj) { return 1; }
GPUFUN int64_t Refs_dim_value_b(const Refs obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 24) : 0;
}
GPUFUN void Refs_shape_value_b(const Refs obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN void Refs_strides_value_b(const Refs obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Refs_size_value_b(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)(at + 16);
}

/* Refs.value.b[i0]: Float64 */
GPUFUN double Refs_get_value_b(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM double *)(at + 32 + i0 * 8);
}
GPUFUN void Refs_set_value_b(Refs obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    *(GPUGLMEM double *)(at + 32 + i0 * 8) = value;
}
GPUFUN GPUGLMEM double *Refs_getp1_value_b(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 16 + *(GPUGLMEM int64_t *)(at + 16);
    return (GPUGLMEM double *)(at + 32 + i0 * 8);
}
GPUFUN int64_t Refs_size1_value_b(const Refs obj, int64_t i0) { return 8; }

/* Refs.twice: Value */
GPUFUN Value Refs_getp_twice(Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)at;
    return (Value)at;
}
GPUFUN int64_t Refs_size_twice(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)at;
}

/* Refs.twice.a: Int64 */
GPUFUN int64_t Refs_get_twice_a(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void Refs_set_twice_a(Refs obj, int64_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)at;
    *(GPUGLMEM int64_t *)(at + 8) = value;
}
GPUFUN GPUGLMEM int64_t *Refs_getp_twice_a(Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)at;
    return (GPUGLMEM int64_t *)(at + 8);
}
GPUFUN int64_t Refs_size_twice_a(const Refs obj) { return 8; }

/* Refs.twice.b: ArrNFloat64 */
GPUFUN ArrNFloat64 Refs_getp_twice_b(Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)at;
    return (ArrNFloat64)(at + 16);
}
GPUFUN int64_t Refs_len_twice_b(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN uint32_t Refs_nd_twice_b(const Refs obj) { return 1; }
GPUFUN int64_t Refs_ndim_twice_b(const Refs obj) { return 1; }
GPUFUN int64_t Refs_dim_twice_b(const Refs obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)at;
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 24) : 0;
}
GPUFUN void Refs_shape_twice_b(const Refs obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)at;
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN void Refs_strides_twice_b(const Refs obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Refs_size_twice_b(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 16);
}

/* Refs.twice.b[i0]: Float64 */
GPUFUN double Refs_get_twice_b(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM double *)(at + 32 + i0 * 8);
}
GPUFUN void Refs_set_twice_b(Refs obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)at;
    *(GPUGLMEM double *)(at + 32 + i0 * 8) = value;
}
GPUFUN GPUGLMEM double *Refs_getp1_twice_b(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)at;
    return (GPUGLMEM double *)(at + 32 + i0 * 8);
}
GPUFUN int64_t Refs_size1_twice_b(const Refs obj, int64_t i0) { return 8; }

/* Refs.many: ArrNRefValue */
GPUFUN ArrNRefValue Refs_getp_many(Refs obj) { return (ArrNRefValue)((GPUGLMEM char *)obj + 40); }
GPUFUN int64_t Refs_len_many(const Refs obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 48); }
GPUFUN uint32_t Refs_nd_many(const Refs obj) { return 1; }
GPUFUN int64_t Refs_ndim_many(const Refs obj) { return 1; }
GPUFUN int64_t Refs_dim_many(const Refs obj, int64_t axis) { return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 48) : 0; }
GPUFUN void Refs_shape_many(const Refs obj, GPUGLMEM int64_t *out_shape) {
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 48);
}
GPUFUN void Refs_strides_many(const Refs obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Refs_size_many(const Refs obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 40); }

/* Refs.many[i0]: Value */
GPUFUN Value Refs_getp1_many(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 56 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return (Value)at;
}
GPUFUN int64_t Refs_size1_many(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 56 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)at;
}

/* Refs.many[i0].a: Int64 */
GPUFUN int64_t Refs_get_many_a(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 56 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void Refs_set_many_a(Refs obj, int64_t i0, int64_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 56 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    *(GPUGLMEM int64_t *)(at + 8) = value;
}
GPUFUN GPUGLMEM int64_t *Refs_getp1_many_a(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 56 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return (GPUGLMEM int64_t *)(at + 8);
}
GPUFUN int64_t Refs_size1_many_a(const Refs obj, int64_t i0) { return 8; }

/* Refs.many[i0].b: ArrNFloat64 */
GPUFUN ArrNFloat64 Refs_getp1_many_b(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 56 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return (ArrNFloat64)(at + 16);
}
GPUFUN int64_t Refs_len1_many_b(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 56 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN uint32_t Refs_nd1_many_b(const Refs obj, int64_t i0) { return 1; }
GPUFUN int64_t Refs_ndim1_many_b(const Refs obj, int64_t i0) { return 1; }
GPUFUN int64_t Refs_dim1_many_b(const Refs obj, int64_t i0, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 56 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 24) : 0;
}
GPUFUN void Refs_shape1_many_b(const Refs obj, int64_t i0, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 56 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN void Refs_strides1_many_b(const Refs obj, int64_t i0, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Refs_size1_many_b(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 56 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM int64_t *)(at + 16);
}

/* Refs.many[i0].b[i1]: Float64 */
GPUFUN double Refs_get_many_b(const Refs obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 56 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return *(GPUGLMEM double *)(at + 32 + i1 * 8);
}
GPUFUN void Refs_set_many_b(Refs obj, int64_t i0, int64_t i1, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 56 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    *(GPUGLMEM double *)(at + 32 + i1 * 8) = value;
}
GPUFUN GPUGLMEM double *Refs_getp2_many_b(Refs obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 56 + i0 * 8;
    at += *(GPUGLMEM int64_t *)at;
    return (GPUGLMEM double *)(at + 32 + i1 * 8);
}
GPUFUN int64_t Refs_size2_many_b(const Refs obj, int64_t i0, int64_t i1) { return 8; }

/* Refs.list: ArrNParticle */
GPUFUN ArrNParticle Refs_getp_list(Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    return (ArrNParticle)at;
}
GPUFUN int64_t Refs_len_list(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN uint32_t Refs_nd_list(const Refs obj) { return 1; }
GPUFUN int64_t Refs_ndim_list(const Refs obj) { return 1; }
GPUFUN int64_t Refs_dim_list(const Refs obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 8) : 0;
}
GPUFUN void Refs_shape_list(const Refs obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void Refs_strides_list(const Refs obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 32; }
GPUFUN int64_t Refs_size_list(const Refs obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    return *(GPUGLMEM int64_t *)at;
}

/* Refs.list[i0]: Particle */
GPUFUN Particle Refs_getp1_list(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    return (Particle)(at + 16 + i0 * 32);
}
GPUFUN int64_t Refs_size1_list(const Refs obj, int64_t i0) { return 32; }

/* Refs.list[i0].x: Float64 */
GPUFUN double Refs_get_list_x(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    return *(GPUGLMEM double *)(at + 16 + i0 * 32);
}
GPUFUN void Refs_set_list_x(Refs obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    *(GPUGLMEM double *)(at + 16 + i0 * 32) = value;
}
GPUFUN GPUGLMEM double *Refs_getp1_list_x(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    return (GPUGLMEM double *)(at + 16 + i0 * 32);
}
GPUFUN int64_t Refs_size1_list_x(const Refs obj, int64_t i0) { return 8; }

/* Refs.list[i0].px: Float64 */
GPUFUN double Refs_get_list_px(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    return *(GPUGLMEM double *)(at + 24 + i0 * 32);
}
GPUFUN void Refs_set_list_px(Refs obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    *(GPUGLMEM double *)(at + 24 + i0 * 32) = value;
}
GPUFUN GPUGLMEM double *Refs_getp1_list_px(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    return (GPUGLMEM double *)(at + 24 + i0 * 32);
}
GPUFUN int64_t Refs_size1_list_px(const Refs obj, int64_t i0) { return 8; }

/* Refs.list[i0].id: Int32 */
GPUFUN int32_t Refs_get_list_id(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    return *(GPUGLMEM int32_t *)(at + 32 + i0 * 32);
}
GPUFUN void Refs_set_list_id(Refs obj, int64_t i0, int32_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    *(GPUGLMEM int32_t *)(at + 32 + i0 * 32) = value;
}
GPUFUN GPUGLMEM int32_t *Refs_getp1_list_id(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    return (GPUGLMEM int32_t *)(at + 32 + i0 * 32);
}
GPUFUN int64_t Refs_size1_list_id(const Refs obj, int64_t i0) { return 4; }

/* Refs.list[i0].alive: Bool */
GPUFUN bool Refs_get_list_alive(const Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    return *(GPUGLMEM uint8_t *)(at + 40 + i0 * 32) != 0;
}
GPUFUN void Refs_set_list_alive(Refs obj, int64_t i0, bool value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    *(GPUGLMEM uint8_t *)(at + 40 + i0 * 32) = value;
}
GPUFUN GPUGLMEM uint8_t *Refs_getp1_list_alive(Refs obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 32);
    return (GPUGLMEM uint8_t *)(at + 40 + i0 * 32);
}
GPUFUN int64_t Refs_size1_list_alive(const Refs obj, int64_t i0) { return 1; }
#endif


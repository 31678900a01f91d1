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
GPUFUN int64_t Multipole_size(const Multipole obj) { return *(GPUGLMEM int64_t *)obj; }

/* Multipole.order: Int64 */
GPUFUN int64_t Multipole_get_order(const Multipole obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN void Multipole_set_order(Multipole obj, int64_t value) { *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) = value; }
GPUFUN GPUGLMEM int64_t *Multipole_getp_order(Multipole obj) { return (GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN int64_t Multipole_size_order(const Multipole obj) { return 8; }

/* Multipole.knl: ArrNFloat64 */
GPUFUN ArrNFloat64 Multipole_getp_knl(Multipole obj) { return (ArrNFloat64)((GPUGLMEM char *)obj + 24); }
GPUFUN int64_t Multipole_len_knl(const Multipole obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32); }
GPUFUN uint32_t Multipole_nd_knl(const Multipole obj) { return 1; }
GPUFUN int64_t Multipole_ndim_knl(const Multipole obj) { return 1; }
GPUFUN int64_t Multipole_dim_knl(const Multipole obj, int64_t axis) {
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32) : 0;
}
GPUFUN void Multipole_shape_knl(const Multipole obj, GPUGLMEM int64_t *out_shape) {
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32);
}
GPUFUN void Multipole_strides_knl(const Multipole obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Multipole_size_knl(const Multipole obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 24); }

/* Multipole.knl[i0]: Float64 */
GPUFUN double Multipole_get_knl(const Multipole obj, int64_t i0) { return *(GPUGLMEM double *)((GPUGLMEM char *)obj + 40 + i0 * 8); }
GPUFUN void Multipole_set_knl(Multipole obj, int64_t i0, double value) { *(GPUGLMEM double *)((GPUGLMEM char *)obj + 40 + i0 * 8) = value; }
GPUFUN GPUGLMEM double *Multipole_getp1_knl(Multipole obj, int64_t i0) { return (GPUGLMEM double *)((GPUGLMEM char *)obj + 40 + i0 * 8); }
GPUFUN int64_t Multipole_size1_knl(const Multipole obj, int64_t i0) { return 8; }

/* Multipole.ksl: ArrNFloat64 */
GPUFUN ArrNFloat64 Multipole_getp_ksl(Multipole obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return (ArrNFloat64)at;
}
GPUFUN int64_t Multipole_len_ksl(const Multipole obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN uint32_t Multipole_nd_ksl(const Multipole obj) { return 1; }
GPUFUN int64_t Multipole_ndim_ksl(const Multipole obj) { return 1; }
GPUFUN int64_t Multipole_dim_ksl(const Multipole obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 8) : 0;
}
GPUFUN void Multipole_shape_ksl(const Multipole obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void Multipole_strides_ksl(const Multipole obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Multipole_size_ksl(const Multipole obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)at;
}

/* Multipole.ksl[i0]: Float64 */
GPUFUN double Multipole_get_ksl(const Multipole obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM double *)(at + 16 + i0 * 8);
}
GPUFUN void Multipole_set_ksl(Multipole obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    *(GPUGLMEM double *)(at + 16 + i0 * 8) = value;
}
GPUFUN GPUGLMEM double *Multipole_getp1_ksl(Multipole obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return (GPUGLMEM double *)(at + 16 + i0 * 8);
}
GPUFUN int64_t Multipole_size1_ksl(const Multipole obj, int64_t i0) { return 8; }
#endif
GPUFUN double Multipole_scaled(const Multipole obj, double by) { return by * Multipole_get_knl(obj, 1); }
GPUFUN void Multipole_scale(Multipole obj, double by) { Multipole_set_knl(obj, 1, Multipole_scaled(obj, by)); }


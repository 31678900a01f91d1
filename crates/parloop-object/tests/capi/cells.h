/* array ArrNInt64, Int64[:]: each instance has its own size
 *      0  (size)
 *      8  (number of items)
 *     16  items
 */
#ifndef PARLOOP_TYPEDEF_ArrNInt64
#define PARLOOP_TYPEDEF_ArrNInt64
typedef GPUGLMEM struct ArrNInt64_s *ArrNInt64;
GPUFUN ArrNInt64 ArrNInt64_getp(ArrNInt64 obj) { return obj; }
GPUFUN int64_t ArrNInt64_len(const ArrNInt64 obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN uint32_t ArrNInt64_nd(const ArrNInt64 obj) { return 1; }
GPUFUN int64_t ArrNInt64_ndim(const ArrNInt64 obj) { return 1; }
GPUFUN int64_t ArrNInt64_dim(const ArrNInt64 obj, int64_t axis) { return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) : 0; }
GPUFUN void ArrNInt64_shape(const ArrNInt64 obj, GPUGLMEM int64_t *out_shape) {
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void ArrNInt64_strides(const ArrNInt64 obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t ArrNInt64_size(const ArrNInt64 obj) { return *(GPUGLMEM int64_t *)obj; }

/* ArrNInt64[i0]: Int64 */
GPUFUN int64_t ArrNInt64_get(const ArrNInt64 obj, int64_t i0) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 16 + i0 * 8); }
GPUFUN void ArrNInt64_set(ArrNInt64 obj, int64_t i0, int64_t value) { *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 16 + i0 * 8) = value; }
GPUFUN GPUGLMEM int64_t *ArrNInt64_getp1(ArrNInt64 obj, int64_t i0) { return (GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 16 + i0 * 8); }
GPUFUN int64_t ArrNInt64_size1(const ArrNInt64 obj, int64_t i0) { return 8; }
#endif

/* array ArrNArrNInt64, ArrNInt64[:]: each instance has its own size
 *      0  (size)
 *      8  (number of items)
 *     16  (where each item begins)
 */
#ifndef PARLOOP_TYPEDEF_ArrNArrNInt64
#define PARLOOP_TYPEDEF_ArrNArrNInt64
typedef GPUGLMEM struct ArrNArrNInt64_s *ArrNArrNInt64;
GPUFUN ArrNArrNInt64 ArrNArrNInt64_getp(ArrNArrNInt64 obj) { return obj; }
GPUFUN int64_t ArrNArrNInt64_len(const ArrNArrNInt64 obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN uint32_t ArrNArrNInt64_nd(const ArrNArrNInt64 obj) { return 1; }
GPUFUN int64_t ArrNArrNInt64_ndim(const ArrNArrNInt64 obj) { return 1; }
GPUFUN int64_t ArrNArrNInt64_dim(const ArrNArrNInt64 obj, int64_t axis) {
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) : 0;
}
GPUFUN void ArrNArrNInt64_shape(const ArrNArrNInt64 obj, GPUGLMEM int64_t *out_shape) {
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void ArrNArrNInt64_strides(const ArrNArrNInt64 obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t ArrNArrNInt64_size(const ArrNArrNInt64 obj) { return *(GPUGLMEM int64_t *)obj; }

/* ArrNArrNInt64[i0]: ArrNInt64 */
GPUFUN ArrNInt64 ArrNArrNInt64_getp1(ArrNArrNInt64 obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return (ArrNInt64)at;
}
GPUFUN int64_t ArrNArrNInt64_len1(const ArrNArrNInt64 obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN uint32_t ArrNArrNInt64_nd1(const ArrNArrNInt64 obj, int64_t i0) { return 1; }
GPUFUN int64_t ArrNArrNInt64_ndim1(const ArrNArrNInt64 obj, int64_t i0) { return 1; }
GPUFUN int64_t ArrNArrNInt64_dim1(const ArrNArrNInt64 obj, int64_t i0, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 8) : 0;
}
GPUFUN void ArrNArrNInt64_shape1(const ArrNArrNInt64 obj, int64_t i0, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void ArrNArrNInt64_strides1(const ArrNArrNInt64 obj, int64_t i0, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t ArrNArrNInt64_size1(const ArrNArrNInt64 obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return *(GPUGLMEM int64_t *)at;
}

/* ArrNArrNInt64[i0][i1]: Int64 */
GPUFUN int64_t ArrNArrNInt64_get(const ArrNArrNInt64 obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return *(GPUGLMEM int64_t *)(at + 16 + i1 * 8);
}
GPUFUN void ArrNArrNInt64_set(ArrNArrNInt64 obj, int64_t i0, int64_t i1, int64_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    *(GPUGLMEM int64_t *)(at + 16 + i1 * 8) = value;
}
GPUFUN GPUGLMEM int64_t *ArrNArrNInt64_getp2(ArrNArrNInt64 obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return (GPUGLMEM int64_t *)(at + 16 + i1 * 8);
}
GPUFUN int64_t ArrNArrNInt64_size2(const ArrNArrNInt64 obj, int64_t i0, int64_t i1) { return 8; }
#endif

/* struct Cells: each instance has its own size
 *      0  (size)
 *      8  (where particles begins)
 *     16  ids        ArrNInt64
 *    [8]  particles  ArrNArrNInt64
 */
#ifndef PARLOOP_TYPEDEF_Cells
#define PARLOOP_TYPEDEF_Cells
typedef GPUGLMEM struct Cells_s *Cells;
GPUFUN Cells Cells_getp(Cells obj) { return obj; }
GPUFUN int64_t Cells_size(const Cells obj) { return *(GPUGLMEM int64_t *)obj; }

/* Cells.ids: ArrNInt64 */
GPUFUN ArrNInt64 Cells_getp_ids(Cells obj) { return (ArrNInt64)((GPUGLMEM char *)obj + 16); }
GPUFUN int64_t Cells_len_ids(const Cells obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 24); }
GPUFUN uint32_t Cells_nd_ids(const Cells obj) { return 1; }
GPUFUN int64_t Cells_ndim_ids(const Cells obj) { return 1; }
GPUFUN int64_t Cells_dim_ids(const Cells obj, int64_t axis) { return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 24) : 0; }
GPUFUN void Cells_shape_ids(const Cells obj, GPUGLMEM int64_t *out_shape) {
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 24);
}
GPUFUN void Cells_strides_ids(const Cells obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Cells_size_ids(const Cells obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 16); }

/* Cells.ids[i0]: Int64 */
GPUFUN int64_t Cells_get_ids(const Cells obj, int64_t i0) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32 + i0 * 8); }
GPUFUN void Cells_set_ids(Cells obj, int64_t i0, int64_t value) { *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32 + i0 * 8) = value; }
GPUFUN GPUGLMEM int64_t *Cells_getp1_ids(Cells obj, int64_t i0) { return (GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32 + i0 * 8); }
GPUFUN int64_t Cells_size1_ids(const Cells obj, int64_t i0) { return 8; }

/* Cells.particles: ArrNArrNInt64 */
GPUFUN ArrNArrNInt64 Cells_getp_particles(Cells obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8);
    return (ArrNArrNInt64)at;
}
GPUFUN int64_t Cells_len_particles(const Cells obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8);
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN uint32_t Cells_nd_particles(const Cells obj) { return 1; }
GPUFUN int64_t Cells_ndim_particles(const Cells obj) { return 1; }
GPUFUN int64_t Cells_dim_particles(const Cells obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8);
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 8) : 0;
}
GPUFUN void Cells_shape_particles(const Cells obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void Cells_strides_particles(const Cells obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Cells_size_particles(const Cells obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8);
    return *(GPUGLMEM int64_t *)at;
}

/* Cells.particles[i0]: ArrNInt64 */
GPUFUN ArrNInt64 Cells_getp1_particles(Cells obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8);
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return (ArrNInt64)at;
}
GPUFUN int64_t Cells_len1_particles(const Cells obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8);
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN uint32_t Cells_nd1_particles(const Cells obj, int64_t i0) { return 1; }
GPUFUN int64_t Cells_ndim1_particles(const Cells obj, int64_t i0) { return 1; }
GPUFUN int64_t Cells_dim1_particles(const Cells obj, int64_t i0, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8);
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 8) : 0;
}
GPUFUN void Cells_shape1_particles(const Cells obj, int64_t i0, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8);
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void Cells_strides1_particles(const Cells obj, int64_t i0, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Cells_size1_particles(const Cells obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8);
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return *(GPUGLMEM int64_t *)at;
}

/* Cells.particles[i0][i1]: Int64 */
GPUFUN int64_t Cells_get_particles(const Cells obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8);
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return *(GPUGLMEM int64_t *)(at + 16 + i1 * 8);
}
GPUFUN void Cells_set_particles(Cells obj, int64_t i0, int64_t i1, int64_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8);
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    *(GPUGLMEM int64_t *)(at + 16 + i1 * 8) = value;
}
GPUFUN GPUGLMEM int64_t *Cells_getp2_particles(Cells obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8);
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return (GPUGLMEM int64_t *)(at + 16 + i1 * 8);
}
GPUFUN int64_t Cells_size2_particles(const Cells obj, int64_t i0, int64_t i1) { return 8; }
#endif


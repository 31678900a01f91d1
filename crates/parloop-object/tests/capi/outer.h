/* array ArrNInt16, Int16[:]: each instance has its own size
 *      0  (size)
 *      8  (number of items)
 *     16  items
 */
#ifndef PARLOOP_TYPEDEF_ArrNInt16
#define PARLOOP_TYPEDEF_ArrNInt16
typedef GPUGLMEM struct ArrNInt16_s *ArrNInt16;
GPUFUN ArrNInt16 ArrNInt16_getp(ArrNInt16 obj) { return obj; }
GPUFUN int64_t ArrNInt16_len(const ArrNInt16 obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN uint32_t ArrNInt16_nd(const ArrNInt16 obj) { return 1; }
GPUFUN int64_t ArrNInt16_ndim(const ArrNInt16 obj) { return 1; }
GPUFUN int64_t ArrNInt16_dim(const ArrNInt16 obj, int64_t axis) { return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) : 0; }
GPUFUN void ArrNInt16_shape(const ArrNInt16 obj, GPUGLMEM int64_t *out_shape) {
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void ArrNInt16_strides(const ArrNInt16 obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 2; }
GPUFUN int64_t ArrNInt16_size(const ArrNInt16 obj) { return *(GPUGLMEM int64_t *)obj; }

/* ArrNInt16[i0]: Int16 */
GPUFUN int16_t ArrNInt16_get(const ArrNInt16 obj, int64_t i0) { return *(GPUGLMEM int16_t *)((GPUGLMEM char *)obj + 16 + i0 * 2); }
GPUFUN void ArrNInt16_set(ArrNInt16 obj, int64_t i0, int16_t value) { *(GPUGLMEM int16_t *)((GPUGLMEM char *)obj + 16 + i0 * 2) = value; }
GPUFUN GPUGLMEM int16_t *ArrNInt16_getp1(ArrNInt16 obj, int64_t i0) { return (GPUGLMEM int16_t *)((GPUGLMEM char *)obj + 16 + i0 * 2); }
GPUFUN int64_t ArrNInt16_size1(const ArrNInt16 obj, int64_t i0) { return 2; }
#endif

/* struct Inner: each instance has its own size
 *      0  (size)
 *      8  id    Int32
 *     16  (where name begins)
 *     24  data  ArrNInt16
 *   [16]  name  String
 */
#ifndef PARLOOP_TYPEDEF_Inner
#define PARLOOP_TYPEDEF_Inner
typedef GPUGLMEM struct Inner_s *Inner;
GPUFUN Inner Inner_getp(Inner obj) { return obj; }
GPUFUN int64_t Inner_size(const Inner obj) { return *(GPUGLMEM int64_t *)obj; }

/* Inner.id: Int32 */
GPUFUN int32_t Inner_get_id(const Inner obj) { return *(GPUGLMEM int32_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN void Inner_set_id(Inner obj, int32_t value) { *(GPUGLMEM int32_t *)((GPUGLMEM char *)obj + 8) = value; }
GPUFUN GPUGLMEM int32_t *Inner_getp_id(Inner obj) { return (GPUGLMEM int32_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN int64_t Inner_size_id(const Inner obj) { return 4; }

/* Inner.data: ArrNInt16 */
GPUFUN ArrNInt16 Inner_getp_data(Inner obj) { return (ArrNInt16)((GPUGLMEM char *)obj + 24); }
GPUFUN int64_t Inner_len_data(const Inner obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32); }
GPUFUN uint32_t Inner_nd_data(const Inner obj) { return 1; }
GPUFUN int64_t Inner_ndim_data(const Inner obj) { return 1; }
GPUFUN int64_t Inner_dim_data(const Inner obj, int64_t axis) { return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32) : 0; }
GPUFUN void Inner_shape_data(const Inner obj, GPUGLMEM int64_t *out_shape) {
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32);
}
GPUFUN void Inner_strides_data(const Inner obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 2; }
GPUFUN int64_t Inner_size_data(const Inner obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 24); }

/* Inner.data[i0]: Int16 */
GPUFUN int16_t Inner_get_data(const Inner obj, int64_t i0) { return *(GPUGLMEM int16_t *)((GPUGLMEM char *)obj + 40 + i0 * 2); }
GPUFUN void Inner_set_data(Inner obj, int64_t i0, int16_t value) { *(GPUGLMEM int16_t *)((GPUGLMEM char *)obj + 40 + i0 * 2) = value; }
GPUFUN GPUGLMEM int16_t *Inner_getp1_data(Inner obj, int64_t i0) { return (GPUGLMEM int16_t *)((GPUGLMEM char *)obj + 40 + i0 * 2); }
GPUFUN int64_t Inner_size1_data(const Inner obj, int64_t i0) { return 2; }

/* Inner.name: String */
GPUFUN GPUGLMEM char *Inner_getp_name(Inner obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return (GPUGLMEM char *)at;
}
GPUFUN GPUGLMEM char *Inner_str_name(Inner obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return (GPUGLMEM char *)(at + 8);
}
GPUFUN int64_t Inner_size_name(const Inner obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)at;
}
#endif

/* array Arr2Inner, Inner[2]: each instance has its own size
 *      0  (size)
 *      8  (where each item begins)
 */
#ifndef PARLOOP_TYPEDEF_Arr2Inner
#define PARLOOP_TYPEDEF_Arr2Inner
typedef GPUGLMEM struct Arr2Inner_s *Arr2Inner;
GPUFUN Arr2Inner Arr2Inner_getp(Arr2Inner obj) { return obj; }
GPUFUN int64_t Arr2Inner_len(const Arr2Inner obj) { return 2; }
GPUFUN uint32_t Arr2Inner_nd(const Arr2Inner obj) { return 1; }
GPUFUN int64_t Arr2Inner_ndim(const Arr2Inner obj) { return 1; }
GPUFUN int64_t Arr2Inner_dim(const Arr2Inner obj, int64_t axis) { return axis == 0 ? 2 : 0; }
GPUFUN void Arr2Inner_shape(const Arr2Inner obj, GPUGLMEM int64_t *out_shape) { out_shape[0] = 2; }
GPUFUN void Arr2Inner_strides(const Arr2Inner obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Arr2Inner_size(const Arr2Inner obj) { return *(GPUGLMEM int64_t *)obj; }

/* Arr2Inner[i0]: Inner */
GPUFUN Inner Arr2Inner_getp1(Arr2Inner obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8 + i0 * 8);
    return (Inner)at;
}
GPUFUN int64_t Arr2Inner_size1(const Arr2Inner obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8 + i0 * 8);
    return *(GPUGLMEM int64_t *)at;
}

/* Arr2Inner[i0].id: Int32 */
GPUFUN int32_t Arr2Inner_get_id(const Arr2Inner obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8 + i0 * 8);
    return *(GPUGLMEM int32_t *)(at + 8);
}
GPUFUN void Arr2Inner_set_id(Arr2Inner obj, int64_t i0, int32_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8 + i0 * 8);
    *(GPUGLMEM int32_t *)(at + 8) = value;
}
GPUFUN GPUGLMEM int32_t *Arr2Inner_getp1_id(Arr2Inner obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8 + i0 * 8);
    return (GPUGLMEM int32_t *)(at + 8);
}
GPUFUN int64_t Arr2Inner_size1_id(const Arr2Inner obj, int64_t i0) { return 4; }

/* Arr2Inner[i0].data: ArrNInt16 */
GPUFUN ArrNInt16 Arr2Inner_getp1_data(Arr2Inner obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8 + i0 * 8);
    return (ArrNInt16)(at + 24);
}
GPUFUN int64_t Arr2Inner_len1_data(const Arr2Inner obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8 + i0 * 8);
    return *(GPUGLMEM int64_t *)(at + 32);
}
GPUFUN uint32_t Arr2Inner_nd1_data(const Arr2Inner obj, int64_t i0) { return 1; }
GPUFUN int64_t Arr2Inner_ndim1_data(const Arr2Inner obj, int64_t i0) { return 1; }
GPUFUN int64_t Arr2Inner_dim1_data(const Arr2Inner obj, int64_t i0, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8 + i0 * 8);
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 32) : 0;
}
GPUFUN void Arr2Inner_shape1_data(const Arr2Inner obj, int64_t i0, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8 + i0 * 8);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 32);
}
GPUFUN void Arr2Inner_strides1_data(const Arr2Inner obj, int64_t i0, GPUGLMEM int64_t *out_strides) { out_strides[0] = 2; }
GPUFUN int64_t Arr2Inner_size1_data(const Arr2Inner obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8 + i0 * 8);
    return *(GPUGLMEM int64_t *)(at + 24);
}

/* Arr2Inner[i0].data[i1]: Int16 */
GPUFUN int16_t Arr2Inner_get_data(const Arr2Inner obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8 + i0 * 8);
    return *(GPUGLMEM int16_t *)(at + 40 + i1 * 2);
}
GPUFUN void Arr2Inner_set_data(Arr2Inner obj, int64_t i0, int64_t i1, int16_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8 + i0 * 8);
    *(GPUGLMEM int16_t *)(at + 40 + i1 * 2) = value;
}
GPUFUN GPUGLMEM int16_t *Arr2Inner_getp2_data(Arr2Inner obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8 + i0 * 8);
    return (GPUGLMEM int16_t *)(at + 40 + i1 * 2);
}
GPUFUN int64_t Arr2Inner_size2_data(const Arr2Inner obj, int64_t i0, int64_t i1) { return 2; }

/* Arr2Inner[i0].name: String */
GPUFUN GPUGLMEM char *Arr2Inner_getp1_name(Arr2Inner obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8 + i0 * 8);
    at += *(GPUGLMEM int64_t *)(at + 16);
    return (GPUGLMEM char *)at;
}
GPUFUN GPUGLMEM char *Arr2Inner_str1_name(Arr2Inner obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8 + i0 * 8);
    at += *(GPUGLMEM int64_t *)(at + 16);
    return (GPUGLMEM char *)(at + 8);
}
GPUFUN int64_t Arr2Inner_size1_name(const Arr2Inner obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 8 + i0 * 8);
    at += *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)at;
}
#endif

/* array ArrNx2Inner, Inner[:, 2], axes from slow to fast 0, 1: each instance has its own size
 *      0  (size)
 *      8  (number of items along axis 0)
 *     16  (bytes between items along each axis)
 *     32  (where each item begins)
 */
#ifndef PARLOOP_TYPEDEF_ArrNx2Inner
#define PARLOOP_TYPEDEF_ArrNx2Inner
typedef GPUGLMEM struct ArrNx2Inner_s *ArrNx2Inner;
GPUFUN ArrNx2Inner ArrNx2Inner_getp(ArrNx2Inner obj) { return obj; }
GPUFUN int64_t ArrNx2Inner_len(const ArrNx2Inner obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) * 2; }
GPUFUN uint32_t ArrNx2Inner_nd(const ArrNx2Inner obj) { return 2; }
GPUFUN int64_t ArrNx2Inner_ndim(const ArrNx2Inner obj) { return 2; }
GPUFUN int64_t ArrNx2Inner_dim(const ArrNx2Inner obj, int64_t axis) {
    if (axis == 0) return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
    if (axis == 1) return 2;
    return 0;
}
GPUFUN void ArrNx2Inner_shape(const ArrNx2Inner obj, GPUGLMEM int64_t *out_shape) {
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
    out_shape[1] = 2;
}
GPUFUN void ArrNx2Inner_strides(const ArrNx2Inner obj, GPUGLMEM int64_t *out_strides) {
    out_strides[0] = 16;
    out_strides[1] = 8;
}
GPUFUN int64_t ArrNx2Inner_size(const ArrNx2Inner obj) { return *(GPUGLMEM int64_t *)obj; }

/* ArrNx2Inner[i0, i1]: Inner */
GPUFUN Inner ArrNx2Inner_getp2(ArrNx2Inner obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return (Inner)at;
}
GPUFUN int64_t ArrNx2Inner_size2(const ArrNx2Inner obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return *(GPUGLMEM int64_t *)at;
}

/* ArrNx2Inner[i0, i1].id: Int32 */
GPUFUN int32_t ArrNx2Inner_get_id(const ArrNx2Inner obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return *(GPUGLMEM int32_t *)(at + 8);
}
GPUFUN void ArrNx2Inner_set_id(ArrNx2Inner obj, int64_t i0, int64_t i1, int32_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    *(GPUGLMEM int32_t *)(at + 8) = value;
}
GPUFUN GPUGLMEM int32_t *ArrNx2Inner_getp2_id(ArrNx2Inner obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return (GPUGLMEM int32_t *)(at + 8);
}
GPUFUN int64_t ArrNx2Inner_size2_id(const ArrNx2Inner obj, int64_t i0, int64_t i1) { return 4; }

/* ArrNx2Inner[i0, i1].data: ArrNInt16 */
GPUFUN ArrNInt16 ArrNx2Inner_getp2_data(ArrNx2Inner obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return (ArrNInt16)(at + 24);
}
GPUFUN int64_t ArrNx2Inner_len2_data(const ArrNx2Inner obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return *(GPUGLMEM int64_t *)(at + 32);
}
GPUFUN uint32_t ArrNx2Inner_nd2_data(const ArrNx2Inner obj, int64_t i0, int64_t i1) { return 1; }
GPUFUN int64_t ArrNx2Inner_ndim2_data(const ArrNx2Inner obj, int64_t i0, int64_t i1) { return 1; }
GPUFUN int64_t ArrNx2Inner_dim2_data(const ArrNx2Inner obj, int64_t i0, int64_t i1, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 32) : 0;
}
GPUFUN void ArrNx2Inner_shape2_data(const ArrNx2Inner obj, int64_t i0, int64_t i1, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 32);
}
GPUFUN void ArrNx2Inner_strides2_data(const ArrNx2Inner obj, int64_t i0, int64_t i1, GPUGLMEM int64_t *out_strides) { out_strides[0] = 2; }
GPUFUN int64_t ArrNx2Inner_size2_data(const ArrNx2Inner obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return *(GPUGLMEM int64_t *)(at + 24);
}

/* ArrNx2Inner[i0, i1].data[i2]: Int16 */
GPUFUN int16_t ArrNx2Inner_get_data(const ArrNx2Inner obj, int64_t i0, int64_t i1, int64_t i2) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return *(GPUGLMEM int16_t *)(at + 40 + i2 * 2);
}
GPUFUN void ArrNx2Inner_set_data(ArrNx2Inner obj, int64_t i0, int64_t i1, int64_t i2, int16_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    *(GPUGLMEM int16_t *)(at + 40 + i2 * 2) = value;
}
GPUFUN GPUGLMEM int16_t *ArrNx2Inner_getp3_data(ArrNx2Inner obj, int64_t i0, int64_t i1, int64_t i2) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return (GPUGLMEM int16_t *)(at + 40 + i2 * 2);
}
GPUFUN int64_t ArrNx2Inner_size3_data(const ArrNx2Inner obj, int64_t i0, int64_t i1, int64_t i2) { return 2; }

/* ArrNx2Inner[i0, i1].name: String */
GPUFUN GPUGLMEM char *ArrNx2Inner_getp2_name(ArrNx2Inner obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    at += *(GPUGLMEM int64_t *)(at + 16);
    return (GPUGLMEM char *)at;
}
GPUFUN GPUGLMEM char *ArrNx2Inner_str2_name(ArrNx2Inner obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    at += *(GPUGLMEM int64_t *)(at + 16);
    return (GPUGLMEM char *)(at + 8);
}
GPUFUN int64_t ArrNx2Inner_size2_name(const ArrNx2Inner obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    at += *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)at;
}
#endif

/* struct Outer: each instance has its own size
 *      0  (size)
 *      8  n      Int64
 *     16  tail   Float32
 *     24  (where grid begins)
 *     32  fixed  Arr2Inner
 *   [24]  grid   ArrNx2Inner
 */
#ifndef PARLOOP_TYPEDEF_Outer
#define PARLOOP_TYPEDEF_Outer
typedef GPUGLMEM struct Outer_s *Outer;
GPUFUN Outer Outer_getp(Outer obj) { return obj; }
GPUFUN int64_t Outer_size(const Outer obj) { return *(GPUGLMEM int64_t *)obj; }

/* Outer.n: Int64 */
GPUFUN int64_t Outer_get_n(const Outer obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN void Outer_set_n(Outer obj, int64_t value) { *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) = value; }
GPUFUN GPUGLMEM int64_t *Outer_getp_n(Outer obj) { return (GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN int64_t Outer_size_n(const Outer obj) { return 8; }

/* Outer.fixed: Arr2Inner */
GPUFUN Arr2Inner Outer_getp_fixed(Outer obj) { return (Arr2Inner)((GPUGLMEM char *)obj + 32); }
GPUFUN int64_t Outer_len_fixed(const Outer obj) { return 2; }
GPUFUN uint32_t Outer_nd_fixed(const Outer obj) { return 1; }
GPUFUN int64_t Outer_ndim_fixed(const Outer obj) { return 1; }
GPUFUN int64_t Outer_dim_fixed(const Outer obj, int64_t axis) { return axis == 0 ? 2 : 0; }
GPUFUN void Outer_shape_fixed(const Outer obj, GPUGLMEM int64_t *out_shape) { out_shape[0] = 2; }
GPUFUN void Outer_strides_fixed(const Outer obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Outer_size_fixed(const Outer obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32); }

/* Outer.fixed[i0]: Inner */
GPUFUN Inner Outer_getp1_fixed(Outer obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 40 + i0 * 8);
    return (Inner)at;
}
GPUFUN int64_t Outer_size1_fixed(const Outer obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 40 + i0 * 8);
    return *(GPUGLMEM int64_t *)at;
}

/* Outer.fixed[i0].id: Int32 */
GPUFUN int32_t Outer_get_fixed_id(const Outer obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 40 + i0 * 8);
    return *(GPUGLMEM int32_t *)(at + 8);
}
GPUFUN void Outer_set_fixed_id(Outer obj, int64_t i0, int32_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 40 + i0 * 8);
    *(GPUGLMEM int32_t *)(at + 8) = value;
}
GPUFUN GPUGLMEM int32_t *Outer_getp1_fixed_id(Outer obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 40 + i0 * 8);
    return (GPUGLMEM int32_t *)(at + 8);
}
GPUFUN int64_t Outer_size1_fixed_id(const Outer obj, int64_t i0) { return 4; }

/* Outer.fixed[i0].data: ArrNInt16 */
GPUFUN ArrNInt16 Outer_getp1_fixed_data(Outer obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 40 + i0 * 8);
    return (ArrNInt16)(at + 24);
}
GPUFUN int64_t Outer_len1_fixed_data(const Outer obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 40 + i0 * 8);
    return *(GPUGLMEM int64_t *)(at + 32);
}
GPUFUN uint32_t Outer_nd1_fixed_data(const Outer obj, int64_t i0) { return 1; }
GPUFUN int64_t Outer_ndim1_fixed_data(const Outer obj, int64_t i0) { return 1; }
GPUFUN int64_t Outer_dim1_fixed_data(const Outer obj, int64_t i0, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 40 + i0 * 8);
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 32) : 0;
}
GPUFUN void Outer_shape1_fixed_data(const Outer obj, int64_t i0, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 40 + i0 * 8);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 32);
}
GPUFUN void Outer_strides1_fixed_data(const Outer obj, int64_t i0, GPUGLMEM int64_t *out_strides) { out_strides[0] = 2; }
GPUFUN int64_t Outer_size1_fixed_data(const Outer obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 40 + i0 * 8);
    return *(GPUGLMEM int64_t *)(at + 24);
}

/* Outer.fixed[i0].data[i1]: Int16 */
GPUFUN int16_t Outer_get_fixed_data(const Outer obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 40 + i0 * 8);
    return *(GPUGLMEM int16_t *)(at + 40 + i1 * 2);
}
GPUFUN void Outer_set_fixed_data(Outer obj, int64_t i0, int64_t i1, int16_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 40 + i0 * 8);
    *(GPUGLMEM int16_t *)(at + 40 + i1 * 2) = value;
}
GPUFUN GPUGLMEM int16_t *Outer_getp2_fixed_data(Outer obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 40 + i0 * 8);
    return (GPUGLMEM int16_t *)(at + 40 + i1 * 2);
}
GPUFUN int64_t Outer_size2_fixed_data(const Outer obj, int64_t i0, int64_t i1) { return 2; }

/* Outer.fixed[i0].name: String */
GPUFUN GPUGLMEM char *Outer_getp1_fixed_name(Outer obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 40 + i0 * 8);
    at += *(GPUGLMEM int64_t *)(at + 16);
    return (GPUGLMEM char *)at;
}
GPUFUN GPUGLMEM char *Outer_str1_fixed_name(Outer obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 40 + i0 * 8);
    at += *(GPUGLMEM int64_t *)(at + 16);
    return (GPUGLMEM char *)(at + 8);
}
GPUFUN int64_t Outer_size1_fixed_name(const Outer obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += 32 + *(GPUGLMEM int64_t *)(at + 40 + i0 * 8);
    at += *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)at;
}

/* Outer.grid: ArrNx2Inner */
GPUFUN ArrNx2Inner Outer_getp_grid(Outer obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    return (ArrNx2Inner)at;
}
GPUFUN int64_t Outer_len_grid(const Outer obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    return *(GPUGLMEM int64_t *)(at + 8) * 2;
}
GPUFUN uint32_t Outer_nd_grid(const Outer obj) { return 2; }
GPUFUN int64_t Outer_ndim_grid(const Outer obj) { return 2; }
GPUFUN int64_t Outer_dim_grid(const Outer obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    if (axis == 0) return *(GPUGLMEM int64_t *)(at + 8);
    if (axis == 1) return 2;
    return 0;
}
GPUFUN void Outer_shape_grid(const Outer obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 8);
    out_shape[1] = 2;
}
GPUFUN void Outer_strides_grid(const Outer obj, GPUGLMEM int64_t *out_strides) {
    out_strides[0] = 16;
    out_strides[1] = 8;
}
GPUFUN int64_t Outer_size_grid(const Outer obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    return *(GPUGLMEM int64_t *)at;
}

/* Outer.grid[i0, i1]: Inner */
GPUFUN Inner Outer_getp2_grid(Outer obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return (Inner)at;
}
GPUFUN int64_t Outer_size2_grid(const Outer obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return *(GPUGLMEM int64_t *)at;
}

/* Outer.grid[i0, i1].id: Int32 */
GPUFUN int32_t Outer_get_grid_id(const Outer obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return *(GPUGLMEM int32_t *)(at + 8);
}
GPUFUN void Outer_set_grid_id(Outer obj, int64_t i0, int64_t i1, int32_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    *(GPUGLMEM int32_t *)(at + 8) = value;
}
GPUFUN GPUGLMEM int32_t *Outer_getp2_grid_id(Outer obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return (GPUGLMEM int32_t *)(at + 8);
}
GPUFUN int64_t Outer_size2_grid_id(const Outer obj, int64_t i0, int64_t i1) { return 4; }

/* Outer.grid[i0, i1].data: ArrNInt16 */
GPUFUN ArrNInt16 Outer_getp2_grid_data(Outer obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return (ArrNInt16)(at + 24);
}
GPUFUN int64_t Outer_len2_grid_data(const Outer obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return *(GPUGLMEM int64_t *)(at + 32);
}
GPUFUN uint32_t Outer_nd2_grid_data(const Outer obj, int64_t i0, int64_t i1) { return 1; }
GPUFUN int64_t Outer_ndim2_grid_data(const Outer obj, int64_t i0, int64_t i1) { return 1; }
GPUFUN int64_t Outer_dim2_grid_data(const Outer obj, int64_t i0, int64_t i1, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 32) : 0;
}
GPUFUN void Outer_shape2_grid_data(const Outer obj, int64_t i0, int64_t i1, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 32);
}
GPUFUN void Outer_strides2_grid_data(const Outer obj, int64_t i0, int64_t i1, GPUGLMEM int64_t *out_strides) { out_strides[0] = 2; }
GPUFUN int64_t Outer_size2_grid_data(const Outer obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return *(GPUGLMEM int64_t *)(at + 24);
}

/* Outer.grid[i0, i1].data[i2]: Int16 */
GPUFUN int16_t Outer_get_grid_data(const Outer obj, int64_t i0, int64_t i1, int64_t i2) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return *(GPUGLMEM int16_t *)(at + 40 + i2 * 2);
}
GPUFUN void Outer_set_grid_data(Outer obj, int64_t i0, int64_t i1, int64_t i2, int16_t value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    *(GPUGLMEM int16_t *)(at + 40 + i2 * 2) = value;
}
GPUFUN GPUGLMEM int16_t *Outer_getp3_grid_data(Outer obj, int64_t i0, int64_t i1, int64_t i2) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    return (GPUGLMEM int16_t *)(at + 40 + i2 * 2);
}
GPUFUN int64_t Outer_size3_grid_data(const Outer obj, int64_t i0, int64_t i1, int64_t i2) { return 2; }

/* Outer.grid[i0, i1].name: String */
GPUFUN GPUGLMEM char *Outer_getp2_grid_name(Outer obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    at += *(GPUGLMEM int64_t *)(at + 16);
    return (GPUGLMEM char *)at;
}
GPUFUN GPUGLMEM char *Outer_str2_grid_name(Outer obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    at += *(GPUGLMEM int64_t *)(at + 16);
    return (GPUGLMEM char *)(at + 8);
}
GPUFUN int64_t Outer_size2_grid_name(const Outer obj, int64_t i0, int64_t i1) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    at += *(GPUGLMEM int64_t *)(at + 32 + i0 * 16 + i1 * 8);
    at += *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)at;
}

/* Outer.tail: Float32 */
GPUFUN float Outer_get_tail(const Outer obj) { return *(GPUGLMEM float *)((GPUGLMEM char *)obj + 16); }
GPUFUN void Outer_set_tail(Outer obj, float value) { *(GPUGLMEM float *)((GPUGLMEM char *)obj + 16) = value; }
GPUFUN GPUGLMEM float *Outer_getp_tail(Outer obj) { return (GPUGLMEM float *)((GPUGLMEM char *)obj + 16); }
GPUFUN int64_t Outer_size_tail(const Outer obj) { return 4; }
#endif


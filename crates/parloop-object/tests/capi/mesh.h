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
GPUFUN int64_t ArrNx3Float64_len(const ArrNx3Float64 obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) * 3; }
GPUFUN uint32_t ArrNx3Float64_nd(const ArrNx3Float64 obj) { return 2; }
GPUFUN int64_t ArrNx3Float64_ndim(const ArrNx3Float64 obj) { return 2; }
GPUFUN int64_t ArrNx3Float64_dim(const ArrNx3Float64 obj, int64_t axis) {
    if (axis == 0) return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
    if (axis == 1) return 3;
    return 0;
}
GPUFUN void ArrNx3Float64_shape(const ArrNx3Float64 obj, GPUGLMEM int64_t *out_shape) {
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
    out_shape[1] = 3;
}
GPUFUN void ArrNx3Float64_strides(const ArrNx3Float64 obj, GPUGLMEM int64_t *out_strides) {
    out_strides[0] = 24;
    out_strides[1] = 8;
}
GPUFUN int64_t ArrNx3Float64_size(const ArrNx3Float64 obj) { return *(GPUGLMEM int64_t *)obj; }

/* ArrNx3Float64[i0, i1]: Float64 */
GPUFUN double ArrNx3Float64_get(const ArrNx3Float64 obj, int64_t i0, int64_t i1) {
    return *(GPUGLMEM double *)((GPUGLMEM char *)obj + 32 + i0 * 24 + i1 * 8);
}
GPUFUN void ArrNx3Float64_set(ArrNx3Float64 obj, int64_t i0, int64_t i1, double value) {
    *(GPUGLMEM double *)((GPUGLMEM char *)obj + 32 + i0 * 24 + i1 * 8) = value;
}
GPUFUN GPUGLMEM double *ArrNx3Float64_getp2(ArrNx3Float64 obj, int64_t i0, int64_t i1) {
    return (GPUGLMEM double *)((GPUGLMEM char *)obj + 32 + i0 * 24 + i1 * 8);
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
GPUFUN int8_t Levels_get(const Levels obj, int64_t i0, int64_t i1) { return *(GPUGLMEM int8_t *)((GPUGLMEM char *)obj + i0 + i1 * 2); }
GPUFUN void Levels_set(Levels obj, int64_t i0, int64_t i1, int8_t value) {
    *(GPUGLMEM int8_t *)((GPUGLMEM char *)obj + i0 + i1 * 2) = value;
}
GPUFUN GPUGLMEM int8_t *Levels_getp2(Levels obj, int64_t i0, int64_t i1) { return (GPUGLMEM int8_t *)((GPUGLMEM char *)obj + i0 + i1 * 2); }
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
    return *(GPUGLMEM int64_t *)(at + 8) * *(GPUGLMEM int64_t *)(at + 16) * *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN uint32_t Fields_nd(const Fields obj) { return 3; }
GPUFUN int64_t Fields_ndim(const Fields obj) { return 3; }
GPUFUN int64_t Fields_dim(const Fields obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (axis == 0) return *(GPUGLMEM int64_t *)(at + 8);
    if (axis == 1) return *(GPUGLMEM int64_t *)(at + 16);
    if (axis == 2) return *(GPUGLMEM int64_t *)(at + 24);
    return 0;
}
GPUFUN void Fields_shape(const Fields obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 8);
    out_shape[1] = *(GPUGLMEM int64_t *)(at + 16);
    out_shape[2] = *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN void Fields_strides(const Fields obj, GPUGLMEM int64_t *out_strides) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    out_strides[0] = 8;
    out_strides[1] = *(GPUGLMEM int64_t *)(at + 40);
    out_strides[2] = *(GPUGLMEM int64_t *)(at + 48);
}
GPUFUN int64_t Fields_size(const Fields obj) { return *(GPUGLMEM int64_t *)obj; }

/* Fields[i0, i1, i2]: Float64 */
GPUFUN double Fields_get(const Fields obj, int64_t i0, int64_t i1, int64_t i2) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    return *(GPUGLMEM double *)(at + 56 + i0 * 8 + i1 * *(GPUGLMEM int64_t *)(at + 40) + i2 * *(GPUGLMEM int64_t *)(at + 48));
}
GPUFUN void Fields_set(Fields obj, int64_t i0, int64_t i1, int64_t i2, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    *(GPUGLMEM double *)(at + 56 + i0 * 8 + i1 * *(GPUGLMEM int64_t *)(at + 40) + i2 * *(GPUGLMEM int64_t *)(at + 48)) = value;
}
GPUFUN GPUGLMEM double *Fields_getp3(Fields obj, int64_t i0, int64_t i1, int64_t i2) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
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
GPUFUN int64_t ArrNBool_len(const ArrNBool obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN uint32_t ArrNBool_nd(const ArrNBool obj) { return 1; }
GPUFUN int64_t ArrNBool_ndim(const ArrNBool obj) { return 1; }
GPUFUN int64_t ArrNBool_dim(const ArrNBool obj, int64_t axis) { return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) : 0; }
GPUFUN void ArrNBool_shape(const ArrNBool obj, GPUGLMEM int64_t *out_shape) {
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void ArrNBool_strides(const ArrNBool obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 1; }
GPUFUN int64_t ArrNBool_size(const ArrNBool obj) { return *(GPUGLMEM int64_t *)obj; }

/* ArrNBool[i0]: Bool */
GPUFUN bool ArrNBool_get(const ArrNBool obj, int64_t i0) { return *(GPUGLMEM uint8_t *)((GPUGLMEM char *)obj + 16 + i0) != 0; }
GPUFUN void ArrNBool_set(ArrNBool obj, int64_t i0, bool value) { *(GPUGLMEM uint8_t *)((GPUGLMEM char *)obj + 16 + i0) = value; }
GPUFUN GPUGLMEM uint8_t *ArrNBool_getp1(ArrNBool obj, int64_t i0) { return (GPUGLMEM uint8_t *)((GPUGLMEM char *)obj + 16 + i0); }
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
GPUFUN int64_t Mesh_size(const Mesh obj) { return *(GPUGLMEM int64_t *)obj; }

/* Mesh.x: ArrNx3Float64 */
GPUFUN ArrNx3Float64 Mesh_getp_x(Mesh obj) { return (ArrNx3Float64)((GPUGLMEM char *)obj + 32); }
GPUFUN int64_t Mesh_len_x(const Mesh obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 40) * 3; }
GPUFUN uint32_t Mesh_nd_x(const Mesh obj) { return 2; }
GPUFUN int64_t Mesh_ndim_x(const Mesh obj) { return 2; }
GPUFUN int64_t Mesh_dim_x(const Mesh obj, int64_t axis) {
    if (axis == 0) return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 40);
    if (axis == 1) return 3;
    return 0;
}
GPUFUN void Mesh_shape_x(const Mesh obj, GPUGLMEM int64_t *out_shape) {
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 40);
    out_shape[1] = 3;
}
GPUFUN void Mesh_strides_x(const Mesh obj, GPUGLMEM int64_t *out_strides) {
    out_strides[0] = 24;
    out_strides[1] = 8;
}
GPUFUN int64_t Mesh_size_x(const Mesh obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32); }

/* Mesh.x[i0, i1]: Float64 */
GPUFUN double Mesh_get_x(const Mesh obj, int64_t i0, int64_t i1) {
    return *(GPUGLMEM double *)((GPUGLMEM char *)obj + 64 + i0 * 24 + i1 * 8);
}
GPUFUN void Mesh_set_x(Mesh obj, int64_t i0, int64_t i1, double value) {
    *(GPUGLMEM double *)((GPUGLMEM char *)obj + 64 + i0 * 24 + i1 * 8) = value;
}
GPUFUN GPUGLMEM double *Mesh_getp2_x(Mesh obj, int64_t i0, int64_t i1) {
    return (GPUGLMEM double *)((GPUGLMEM char *)obj + 64 + i0 * 24 + i1 * 8);
}
GPUFUN int64_t Mesh_size2_x(const Mesh obj, int64_t i0, int64_t i1) { return 8; }

/* Mesh.level: Levels */
GPUFUN Levels Mesh_getp_level(Mesh obj) { return (Levels)((GPUGLMEM char *)obj + 8); }
GPUFUN int64_t Mesh_len_level(const Mesh obj) { return 6; }
GPUFUN uint32_t Mesh_nd_level(const Mesh obj) { return 2; }
GPUFUN int64_t Mesh_ndim_level(const Mesh obj) { return 2; }
GPUFUN int64_t Mesh_dim_level(const Mesh obj, int64_t axis) {
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
    return *(GPUGLMEM int8_t *)((GPUGLMEM char *)obj + 8 + i0 + i1 * 2);
}
GPUFUN void Mesh_set_level(Mesh obj, int64_t i0, int64_t i1, int8_t value) {
    *(GPUGLMEM int8_t *)((GPUGLMEM char *)obj + 8 + i0 + i1 * 2) = value;
}
GPUFUN GPUGLMEM int8_t *Mesh_getp2_level(Mesh obj, int64_t i0, int64_t i1) {
    return (GPUGLMEM int8_t *)((GPUGLMEM char *)obj + 8 + i0 + i1 * 2);
}
GPUFUN int64_t Mesh_size2_level(const Mesh obj, int64_t i0, int64_t i1) { return 1; }

/* Mesh.field: Fields */
GPUFUN Fields Mesh_getp_field(Mesh obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return (Fields)at;
}
GPUFUN int64_t Mesh_len_field(const Mesh obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)(at + 8) * *(GPUGLMEM int64_t *)(at + 16) * *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN uint32_t Mesh_nd_field(const Mesh obj) { return 3; }
GPUFUN int64_t Mesh_ndim_field(const Mesh obj) { return 3; }
GPUFUN int64_t Mesh_dim_field(const Mesh obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    if (axis == 0) return *(GPUGLMEM int64_t *)(at + 8);
    if (axis == 1) return *(GPUGLMEM int64_t *)(at + 16);
    if (axis == 2) return *(GPUGLMEM int64_t *)(at + 24);
    return 0;
}
GPUFUN void Mesh_shape_field(const Mesh obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 8);
    out_shape[1] = *(GPUGLMEM int64_t *)(at + 16);
    out_shape[2] = *(GPUGLMEM int64_t *)(at + 24);
}
GPUFUN void Mesh_strides_field(const Mesh obj, GPUGLMEM int64_t *out_strides) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    out_strides[0] = 8;
    out_strides[1] = *(GPUGLMEM int64_t *)(at + 40);
    out_strides[2] = *(GPUGLMEM int64_t *)(at + 48);
}
GPUFUN int64_t Mesh_size_field(const Mesh obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)at;
}

/* Mesh.field[i0, i1, i2]: Float64 */
GPUFUN double Mesh_get_field(const Mesh obj, int64_t i0, int64_t i1, int64_t i2) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM double *)(at + 56 + i0 * 8 + i1 * *(GPUGLMEM int64_t *)(at + 40) + i2 * *(GPUGLMEM int64_t *)(at + 48));
}
GPUFUN void Mesh_set_field(Mesh obj, int64_t i0, int64_t i1, int64_t i2, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    *(GPUGLMEM double *)(at + 56 + i0 * 8 + i1 * *(GPUGLMEM int64_t *)(at + 40) + i2 * *(GPUGLMEM int64_t *)(at + 48)) = value;
}
GPUFUN GPUGLMEM double *Mesh_getp3_field(Mesh obj, int64_t i0, int64_t i1, int64_t i2) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return (GPUGLMEM double *)(at + 56 + i0 * 8 + i1 * *(GPUGLMEM int64_t *)(at + 40) + i2 * *(GPUGLMEM int64_t *)(at + 48));
}
GPUFUN int64_t Mesh_size3_field(const Mesh obj, int64_t i0, int64_t i1, int64_t i2) { return 8; }

/* Mesh.on: ArrNBool */
GPUFUN ArrNBool Mesh_getp_on(Mesh obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    return (ArrNBool)at;
}
GPUFUN int64_t Mesh_len_on(const Mesh obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN uint32_t Mesh_nd_on(const Mesh obj) { return 1; }
GPUFUN int64_t Mesh_ndim_on(const Mesh obj) { return 1; }
GPUFUN int64_t Mesh_dim_on(const Mesh obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 8) : 0;
}
GPUFUN void Mesh_shape_on(const Mesh obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void Mesh_strides_on(const Mesh obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 1; }
GPUFUN int64_t Mesh_size_on(const Mesh obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    return *(GPUGLMEM int64_t *)at;
}

/* Mesh.on[i0]: Bool */
GPUFUN bool Mesh_get_on(const Mesh obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    return *(GPUGLMEM uint8_t *)(at + 16 + i0) != 0;
}
GPUFUN void Mesh_set_on(Mesh obj, int64_t i0, bool value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    *(GPUGLMEM uint8_t *)(at + 16 + i0) = value;
}
GPUFUN GPUGLMEM uint8_t *Mesh_getp1_on(Mesh obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 24);
    return (GPUGLMEM uint8_t *)(at + 16 + i0);
}
GPUFUN int64_t Mesh_size1_on(const Mesh obj, int64_t i0) { return 1; }
#endif


/* array ArrNString, String[:]: each instance has its own size
 *      0  (size)
 *      8  (number of items)
 *     16  (where each item begins)
 */
#ifndef PARLOOP_TYPEDEF_ArrNString
#define PARLOOP_TYPEDEF_ArrNString
typedef GPUGLMEM struct ArrNString_s *ArrNString;
GPUFUN ArrNString ArrNString_getp(ArrNString obj) { return obj; }
GPUFUN int64_t ArrNString_len(const ArrNString obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8); }
GPUFUN uint32_t ArrNString_nd(const ArrNString obj) { return 1; }
GPUFUN int64_t ArrNString_ndim(const ArrNString obj) { return 1; }
GPUFUN int64_t ArrNString_dim(const ArrNString obj, int64_t axis) {
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) : 0;
}
GPUFUN void ArrNString_shape(const ArrNString obj, GPUGLMEM int64_t *out_shape) {
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void ArrNString_strides(const ArrNString obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t ArrNString_size(const ArrNString obj) { return *(GPUGLMEM int64_t *)obj; }

/* ArrNString[i0]: String */
GPUFUN GPUGLMEM char *ArrNString_getp1(ArrNString obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return (GPUGLMEM char *)at;
}
GPUFUN GPUGLMEM char *ArrNString_str1(ArrNString obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return (GPUGLMEM char *)(at + 8);
}
GPUFUN int64_t ArrNString_size1(const ArrNString obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return *(GPUGLMEM int64_t *)at;
}
#endif

/* struct Names: each instance has its own size
 *      0  (size)
 *      8  code   String24
 *     32  (where all begins)
 *     40  title  String
 *   [32]  all    ArrNString
 */
#ifndef PARLOOP_TYPEDEF_Names
#define PARLOOP_TYPEDEF_Names
typedef GPUGLMEM struct Names_s *Names;
GPUFUN Names Names_getp(Names obj) { return obj; }
GPUFUN int64_t Names_size(const Names obj) { return *(GPUGLMEM int64_t *)obj; }

/* Names.title: String */
GPUFUN GPUGLMEM char *Names_getp_title(Names obj) { return (GPUGLMEM char *)((GPUGLMEM char *)obj + 40); }
GPUFUN GPUGLMEM char *Names_str_title(Names obj) { return (GPUGLMEM char *)((GPUGLMEM char *)obj + 48); }
GPUFUN int64_t Names_size_title(const Names obj) { return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 40); }

/* Names.code: String24 */
GPUFUN GPUGLMEM char *Names_getp_code(Names obj) { return (GPUGLMEM char *)((GPUGLMEM char *)obj + 8); }
GPUFUN GPUGLMEM char *Names_str_code(Names obj) { return (GPUGLMEM char *)((GPUGLMEM char *)obj + 16); }
GPUFUN int64_t Names_size_code(const Names obj) { return 24; }

/* Names.all: ArrNString */
GPUFUN ArrNString Names_getp_all(Names obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32);
    return (ArrNString)at;
}
GPUFUN int64_t Names_len_all(const Names obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32);
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN uint32_t Names_nd_all(const Names obj) { return 1; }
GPUFUN int64_t Names_ndim_all(const Names obj) { return 1; }
GPUFUN int64_t Names_dim_all(const Names obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32);
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 8) : 0;
}
GPUFUN void Names_shape_all(const Names obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void Names_strides_all(const Names obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Names_size_all(const Names obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32);
    return *(GPUGLMEM int64_t *)at;
}

/* Names.all[i0]: String */
GPUFUN GPUGLMEM char *Names_getp1_all(Names obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32);
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return (GPUGLMEM char *)at;
}
GPUFUN GPUGLMEM char *Names_str1_all(Names obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32);
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return (GPUGLMEM char *)(at + 8);
}
GPUFUN int64_t Names_size1_all(const Names obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    at += *(GPUGLMEM int64_t *)(at + 32);
    at += *(GPUGLMEM int64_t *)(at + 16 + i0 * 8);
    return *(GPUGLMEM int64_t *)at;
}
#endif


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
    if (!PARLOOP_CHECK(obj != 0, 0, 0, -1)) return 0;
    return *(GPUGLMEM double *)obj;
}
GPUFUN void Drift_set_length(Drift obj, double value) {
    if (!PARLOOP_CHECK(obj != 0, 0, 0, -1)) return;
    *(GPUGLMEM double *)obj = value;
}
GPUFUN GPUGLMEM double *Drift_getp_length(Drift obj) {
    if (!PARLOOP_CHECK(obj != 0, 0, 0, -1)) return 0;
    return (GPUGLMEM double *)obj;
}
GPUFUN int64_t Drift_size_length(const Drift obj) { return 8; }
#endif
GPUFUN double Drift_scaled(const Drift obj, double by) { return by * Drift_get_length(obj); }
GPUFUN void Drift_scale(Drift obj, double by) { Drift_set_length(obj, Drift_scaled(obj, by)); }

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
    if (!PARLOOP_CHECK(obj != 0, 1, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN uint32_t ArrNFloat64_nd(const ArrNFloat64 obj) { return 1; }
GPUFUN int64_t ArrNFloat64_ndim(const ArrNFloat64 obj) { return 1; }
GPUFUN int64_t ArrNFloat64_dim(const ArrNFloat64 obj, int64_t axis) {
    if (!PARLOOP_CHECK(obj != 0, 1, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 2, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) : 0;
}
GPUFUN void ArrNFloat64_shape(const ArrNFloat64 obj, GPUGLMEM int64_t *out_shape) {
    if (!PARLOOP_CHECK(obj != 0, 1, 0, -1)) { out_shape[0] = 0; return; }
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void ArrNFloat64_strides(const ArrNFloat64 obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t ArrNFloat64_size(const ArrNFloat64 obj) {
    if (!PARLOOP_CHECK(obj != 0, 1, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)obj;
}

/* ArrNFloat64[i0]: Float64 */
GPUFUN double ArrNFloat64_get(const ArrNFloat64 obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 1, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 1, i0, n0)) return 0;
    return *(GPUGLMEM double *)(at + 16 + i0 * 8);
}
GPUFUN void ArrNFloat64_set(ArrNFloat64 obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 1, 0, -1)) return;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 1, i0, n0)) return;
    *(GPUGLMEM double *)(at + 16 + i0 * 8) = value;
}
GPUFUN GPUGLMEM double *ArrNFloat64_getp1(ArrNFloat64 obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 1, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 1, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM double *)(at + 16 + i0 * 8);
}
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
GPUFUN int64_t Multipole_size(const Multipole obj) {
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)obj;
}

/* Multipole.order: Int64 */
GPUFUN int64_t Multipole_get_order(const Multipole obj) {
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void Multipole_set_order(Multipole obj, int64_t value) {
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return;
    *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) = value;
}
GPUFUN GPUGLMEM int64_t *Multipole_getp_order(Multipole obj) {
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return 0;
    return (GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN int64_t Multipole_size_order(const Multipole obj) { return 8; }

/* Multipole.knl: ArrNFloat64 */
GPUFUN ArrNFloat64 Multipole_getp_knl(Multipole obj) {
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return 0;
    return (ArrNFloat64)((GPUGLMEM char *)obj + 24);
}
GPUFUN int64_t Multipole_len_knl(const Multipole obj) {
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32);
}
GPUFUN uint32_t Multipole_nd_knl(const Multipole obj) { return 1; }
GPUFUN int64_t Multipole_ndim_knl(const Multipole obj) { return 1; }
GPUFUN int64_t Multipole_dim_knl(const Multipole obj, int64_t axis) {
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 4, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32) : 0;
}
GPUFUN void Multipole_shape_knl(const Multipole obj, GPUGLMEM int64_t *out_shape) {
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) { out_shape[0] = 0; return; }
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32);
}
GPUFUN void Multipole_strides_knl(const Multipole obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Multipole_size_knl(const Multipole obj) {
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 24);
}

/* Multipole.knl[i0]: Float64 */
GPUFUN double Multipole_get_knl(const Multipole obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 32);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 5, i0, n0)) return 0;
    return *(GPUGLMEM double *)(at + 40 + i0 * 8);
}
GPUFUN void Multipole_set_knl(Multipole obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 32);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 5, i0, n0)) return;
    *(GPUGLMEM double *)(at + 40 + i0 * 8) = value;
}
GPUFUN GPUGLMEM double *Multipole_getp1_knl(Multipole obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 32);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 5, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (GPUGLMEM double *)(at + 40 + i0 * 8);
}
GPUFUN int64_t Multipole_size1_knl(const Multipole obj, int64_t i0) { return 8; }

/* Multipole.ksl: ArrNFloat64 */
GPUFUN ArrNFloat64 Multipole_getp_ksl(Multipole obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return (ArrNFloat64)at;
}
GPUFUN int64_t Multipole_len_ksl(const Multipole obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN uint32_t Multipole_nd_ksl(const Multipole obj) { return 1; }
GPUFUN int64_t Multipole_ndim_ksl(const Multipole obj) { return 1; }
GPUFUN int64_t Multipole_dim_ksl(const Multipole obj, int64_t axis) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 6, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)(at + 8) : 0;
}
GPUFUN void Multipole_shape_ksl(const Multipole obj, GPUGLMEM int64_t *out_shape) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) { out_shape[0] = 0; return; }
    at += *(GPUGLMEM int64_t *)(at + 16);
    out_shape[0] = *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN void Multipole_strides_ksl(const Multipole obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 8; }
GPUFUN int64_t Multipole_size_ksl(const Multipole obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    return *(GPUGLMEM int64_t *)at;
}

/* Multipole.ksl[i0]: Float64 */
GPUFUN double Multipole_get_ksl(const Multipole obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 7, i0, n0)) return 0;
    return *(GPUGLMEM double *)(at + 16 + i0 * 8);
}
GPUFUN void Multipole_set_ksl(Multipole obj, int64_t i0, double value) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return;
    at += *(GPUGLMEM int64_t *)(at + 16);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 7, i0, n0)) return;
    *(GPUGLMEM double *)(at + 16 + i0 * 8) = value;
}
GPUFUN GPUGLMEM double *Multipole_getp1_ksl(Multipole obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 3, 0, -1)) return 0;
    at += *(GPUGLMEM int64_t *)(at + 16);
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 7, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
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
    if (!PARLOOP_CHECK(obj != 0, 8, 0, -1)) return -1;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN GPUGLMEM void *Element_member(const Element obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 8, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)(at + 8) < 0 ? 0 : at + *(GPUGLMEM int64_t *)at;
}
GPUFUN int64_t Element_size(const Element obj) { return 16; }

GPUFUN double Element_scaled(const Element obj, double by) {
    if (!PARLOOP_CHECK(Element_typeid(obj) >= 0, 8, 0, -1) || !PARLOOP_CHECK(Element_typeid(obj) < 2, 8, Element_typeid(obj), 2)) return 0;
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
    if (!PARLOOP_CHECK(Element_typeid(obj) >= 0, 8, 0, -1) || !PARLOOP_CHECK(Element_typeid(obj) < 2, 8, Element_typeid(obj), 2)) return;
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
    if (!PARLOOP_CHECK(obj != 0, 9, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN uint32_t ArrNElement_nd(const ArrNElement obj) { return 1; }
GPUFUN int64_t ArrNElement_ndim(const ArrNElement obj) { return 1; }
GPUFUN int64_t ArrNElement_dim(const ArrNElement obj, int64_t axis) {
    if (!PARLOOP_CHECK(obj != 0, 9, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 10, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8) : 0;
}
GPUFUN void ArrNElement_shape(const ArrNElement obj, GPUGLMEM int64_t *out_shape) {
    if (!PARLOOP_CHECK(obj != 0, 9, 0, -1)) { out_shape[0] = 0; return; }
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 8);
}
GPUFUN void ArrNElement_strides(const ArrNElement obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 16; }
GPUFUN int64_t ArrNElement_size(const ArrNElement obj) {
    if (!PARLOOP_CHECK(obj != 0, 9, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)obj;
}

/* ArrNElement[i0]: Element */
GPUFUN Element ArrNElement_getp1(ArrNElement obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 9, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 9, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (Element)(at + 16 + i0 * 16);
}
GPUFUN int64_t ArrNElement_typeid(const ArrNElement obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 9, 0, -1)) return -1;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 9, i0, n0)) return -1;
    return *(GPUGLMEM int64_t *)(at + 24 + i0 * 16);
}
GPUFUN GPUGLMEM void *ArrNElement_member(const ArrNElement obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 9, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 8);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 9, i0, n0)) return 0;
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
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)obj;
}

/* Line.first: Element */
GPUFUN Element Line_getp_first(Line obj) {
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    return (Element)((GPUGLMEM char *)obj + 8);
}
GPUFUN int64_t Line_typeid_first(const Line obj) {
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return -1;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 16);
}
GPUFUN GPUGLMEM void *Line_member_first(const Line obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)(at + 16) < 0 ? 0 : at + 8 + *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN int64_t Line_size_first(const Line obj) { return 16; }

/* Line.elements: ArrNElement */
GPUFUN ArrNElement Line_getp_elements(Line obj) {
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    return (ArrNElement)((GPUGLMEM char *)obj + 32);
}
GPUFUN int64_t Line_len_elements(const Line obj) {
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 40);
}
GPUFUN uint32_t Line_nd_elements(const Line obj) { return 1; }
GPUFUN int64_t Line_ndim_elements(const Line obj) { return 1; }
GPUFUN int64_t Line_dim_elements(const Line obj, int64_t axis) {
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    if (!PARLOOP_CHECK(0 <= axis && axis < 1, 12, axis, 1)) return 0;
    return axis == 0 ? *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 40) : 0;
}
GPUFUN void Line_shape_elements(const Line obj, GPUGLMEM int64_t *out_shape) {
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) { out_shape[0] = 0; return; }
    out_shape[0] = *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 40);
}
GPUFUN void Line_strides_elements(const Line obj, GPUGLMEM int64_t *out_strides) { out_strides[0] = 16; }
GPUFUN int64_t Line_size_elements(const Line obj) {
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    return *(GPUGLMEM int64_t *)((GPUGLMEM char *)obj + 32);
}

/* Line.elements[i0]: Element */
GPUFUN Element Line_getp1_elements(Line obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 40);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 13, i0, n0)) { if (n0 <= 0) return 0; i0 = 0; }
    return (Element)(at + 48 + i0 * 16);
}
GPUFUN int64_t Line_typeid_elements(const Line obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return -1;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 40);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 13, i0, n0)) return -1;
    return *(GPUGLMEM int64_t *)(at + 56 + i0 * 16);
}
GPUFUN GPUGLMEM void *Line_member_elements(const Line obj, int64_t i0) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    const int64_t n0 = *(GPUGLMEM int64_t *)(at + 40);
    if (!PARLOOP_CHECK(0 <= i0 && i0 < n0, 13, i0, n0)) return 0;
    return *(GPUGLMEM int64_t *)(at + 56 + i0 * 16) < 0 ? 0 : at + 48 + i0 * 16 + *(GPUGLMEM int64_t *)(at + 48 + i0 * 16);
}
GPUFUN int64_t Line_size1_elements(const Line obj, int64_t i0) { return 16; }

/* Line.shared: Element */
GPUFUN Element Line_getp_shared(Line obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 14, 0, -1)) return 0;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    return (Element)at;
}
GPUFUN int64_t Line_typeid_shared(const Line obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return -1;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 14, 0, -1)) return -1;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    return *(GPUGLMEM int64_t *)(at + 8);
}
GPUFUN GPUGLMEM void *Line_member_shared(const Line obj) {
    GPUGLMEM char *at = (GPUGLMEM char *)obj;
    if (!PARLOOP_CHECK(obj != 0, 11, 0, -1)) return 0;
    if (!PARLOOP_CHECK(*(GPUGLMEM int64_t *)(at + 24) != (-9223372036854775807 - 1), 14, 0, -1)) return 0;
    at += 24 + *(GPUGLMEM int64_t *)(at + 24);
    return *(GPUGLMEM int64_t *)(at + 8) < 0 ? 0 : at + *(GPUGLMEM int64_t *)at;
}
GPUFUN int64_t Line_size_shared(const Line obj) { return 16; }
#endif


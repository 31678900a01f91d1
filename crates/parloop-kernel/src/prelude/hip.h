#define PARLOOP_HIP 1
/* hiprtc defines some of these, which ones and as what depends on its version. */
typedef signed char parloop_int8_t;
typedef short parloop_int16_t;
typedef int parloop_int32_t;
typedef long parloop_int64_t;
typedef unsigned char parloop_uint8_t;
typedef unsigned short parloop_uint16_t;
typedef unsigned int parloop_uint32_t;
typedef unsigned long parloop_uint64_t;
#define int8_t parloop_int8_t
#define int16_t parloop_int16_t
#define int32_t parloop_int32_t
#define int64_t parloop_int64_t
#define uint8_t parloop_uint8_t
#define uint16_t parloop_uint16_t
#define uint32_t parloop_uint32_t
#define uint64_t parloop_uint64_t

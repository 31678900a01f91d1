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


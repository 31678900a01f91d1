#ifndef NULL
#define NULL 0
#endif
#define POW2(X) ((X) * (X))
#define POW3(X) ((X) * (X) * (X))
#define POW4(X) ((X) * (X) * (X) * (X))
#define NONZERO(X) ((X) != 0.0)
#define NONZERO_TOL(X, TOL) (fabs((X)) > (TOL))

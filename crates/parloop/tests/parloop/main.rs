//! What needs more than one layer: typed objects in loop kernels.

mod loop_objects;

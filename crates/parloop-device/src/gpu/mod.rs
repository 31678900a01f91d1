//! What the cuda and hip backends share.

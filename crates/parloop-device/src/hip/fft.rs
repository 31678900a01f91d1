//! hipFFT: finding the library.

use std::path::PathBuf;

use crate::error::Result;
use crate::gpu::fft_library::{FftCallNames, FftFlavour, FftLibrary};
use crate::library::path_from_env;
use crate::once::Once;

static HIPFFT: FftFlavour = FftFlavour {
    name: "hipFFT",
    names: FftCallNames {
        create: "hipfftCreate",
        make: "hipfftMakePlanMany64",
        set_stream: "hipfftSetStream",
        run_single: "hipfftExecC2C",
        run_double: "hipfftExecZ2Z",
        destroy: "hipfftDestroy",
    },
    hint: "it comes with ROCm (the package hipfft); install that, or set PARLOOP_HIPFFT to the path of libhipfft",
};

/// The library of this process; one that is not found is looked for again at the next call.
pub(super) fn library() -> Result<&'static FftLibrary> {
    static LIBRARY: Once<FftLibrary> = Once::new();
    match LIBRARY.get() {
        Some(library) => Ok(library),
        None => {
            let opened = FftLibrary::open(&HIPFFT, &candidates())?;
            Ok(LIBRARY.get_or_init(|| opened))
        }
    }
}

/// Where the library may be. A path that the user gives is the only one.
fn candidates() -> Vec<PathBuf> {
    match path_from_env("PARLOOP_HIPFFT") {
        Some(path) => vec![path],
        None => ["libhipfft.so.0", "libhipfft.so.1", "libhipfft.so", "/opt/rocm/lib/libhipfft.so"].map(PathBuf::from).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_hipfft_names_what_was_tried_and_how_to_get_it() {
        let error = FftLibrary::open(&HIPFFT, &["libhipfft-of-nobody.so".into()]).err().unwrap();
        assert_eq!(
            error.to_string(),
            "hipFFT not found: none of libhipfft-of-nobody.so could be used; it comes with ROCm (the package hipfft); install that, \
             or set PARLOOP_HIPFFT to the path of libhipfft"
        );
    }
}

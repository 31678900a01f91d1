//! cuFFT: finding the library.

use std::ffi::c_int;
use std::path::PathBuf;

use crate::cuda::library_candidates;
use crate::error::Result;
use crate::gpu::fft_library::{FftCallNames, FftFlavour, FftLibrary};
use crate::once::Once;

static CUFFT: FftFlavour = FftFlavour {
    name: "cuFFT",
    names: FftCallNames {
        create: "cufftCreate",
        make: "cufftMakePlanMany64",
        set_stream: "cufftSetStream",
        run_single: "cufftExecC2C",
        run_double: "cufftExecZ2Z",
        destroy: "cufftDestroy",
    },
    hint: "install it with `pip install nvidia-cufft` (`nvidia-cufft-cu12` for a driver of CUDA 12) or with the CUDA toolkit, or set \
           PARLOOP_CUFFT to the path of libcufft",
};

/// The library's names, with the first version of CUDA whose drivers it works with.
const NAMES: [(&str, c_int); 4] = [("libcufft.so.12", 13), ("libcufft.so.11", 12), ("libcufft.so.10", 11), ("libcufft.so", 0)];

/// The library of this process, for a driver of that version of CUDA; one that is not found is looked for again at the next call.
pub(super) fn library(version: c_int) -> Result<&'static FftLibrary> {
    static LIBRARY: Once<FftLibrary> = Once::new();
    match LIBRARY.get() {
        Some(library) => Ok(library),
        None => {
            let opened = FftLibrary::open(&CUFFT, &candidates(version))?;
            Ok(LIBRARY.get_or_init(|| opened))
        }
    }
}

fn candidates(version: c_int) -> Vec<PathBuf> {
    let fits = NAMES.iter().filter(|(_, since)| *since <= version).map(|(name, _)| *name);
    library_candidates("PARLOOP_CUFFT", &fits.collect::<Vec<_>>(), "cufft")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_cufft_names_what_was_tried_and_how_to_get_it() {
        let error = FftLibrary::open(&CUFFT, &["libcufft-of-nobody.so".into()]).err().unwrap();
        assert_eq!(
            error.to_string(),
            "cuFFT not found: none of libcufft-of-nobody.so could be used; install it with `pip install nvidia-cufft` \
             (`nvidia-cufft-cu12` for a driver of CUDA 12) or with the CUDA toolkit, or set PARLOOP_CUFFT to the path of libcufft"
        );
    }

    #[test]
    fn a_library_that_is_too_new_for_the_driver_is_not_opened() {
        let names = |version| -> Vec<String> {
            let file = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
            let mut names: Vec<String> = candidates(version).iter().map(file).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        assert_eq!(names(13), ["libcufft.so", "libcufft.so.10", "libcufft.so.11", "libcufft.so.12"]);
        assert_eq!(names(12), ["libcufft.so", "libcufft.so.10", "libcufft.so.11"]);
    }

    #[test]
    fn the_cufft_that_is_here_has_every_function() {
        match library(13) {
            Ok(_) => {}
            Err(error) => {
                assert!(error.to_string().contains("install it with `pip install nvidia-cufft`"), "{error}");
                println!("skipped: {error}");
            }
        }
    }
}

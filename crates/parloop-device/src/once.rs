//! Values that are made when they are first asked for, without a lock.
//!
//! [`OnceLock`](std::sync::OnceLock) lets other threads wait for the one that makes the value; a child that is forked meanwhile waits forever,
//! since that thread does not exist there.

use std::fmt;

use once_cell::race::OnceBox;

/// A value that is made once, or nearly so: threads that ask at the same time each make one, and the first that is ready stays.
///
/// ```
/// use parloop_device::once::Once;
/// static NAME: Once<String> = Once::new();
/// assert_eq!(NAME.get_or_init(|| "first".to_owned()), "first");
/// assert_eq!(NAME.get_or_init(|| "second".to_owned()), "first");
/// ```
pub struct Once<T>(OnceBox<T>);

impl<T> Once<T> {
    /// Without a value.
    pub const fn new() -> Once<T> {
        Once(OnceBox::new())
    }

    /// The value, if there is one.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        self.0.get()
    }

    /// Sets the value.
    ///
    /// # Errors
    /// The argument, if there is a value already.
    pub fn set(&self, value: T) -> Result<(), T> {
        self.0.set(Box::new(value)).map_err(|value| *value)
    }

    /// The value; `make` is called when there is none.
    #[inline]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(|| Box::new(make()))
    }
}

impl<T> Default for Once<T> {
    fn default() -> Once<T> {
        Once::new()
    }
}

impl<T: Clone> Clone for Once<T> {
    fn clone(&self) -> Once<T> {
        Once(self.0.clone())
    }
}

impl<T: fmt::Debug> fmt::Debug for Once<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Once").field(&self.get()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn nobody_waits_for_a_thread_that_makes_the_value() {
        let once = Once::new();
        let ((begun, has_begun), (end, ends)) = (channel(), channel::<()>());
        std::thread::scope(|scope| {
            let asked = &once;
            let slow = scope.spawn(move || {
                *asked.get_or_init(|| {
                    begun.send(()).unwrap();
                    ends.recv().unwrap();
                    1
                })
            });
            has_begun.recv().unwrap();
            assert_eq!((once.get(), once.get_or_init(|| 2)), (None, &2));
            end.send(()).unwrap();
            assert_eq!(slow.join().unwrap(), 2);
        });
        assert_eq!((once.set(3), once.clone().get(), format!("{once:?}")), (Err(3), Some(&2), "Once(Some(2))".to_owned()));
    }
}

//! The model of `parloop-device/src/sync.rs`: the same names, made of loom's types.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub(crate) use loom::hint::spin_loop;
pub(crate) use loom::sync::{Arc, Mutex};

use loom::sync::Condvar;

/// A look more shows nothing new: loom tries what each look could see.
pub(crate) const LOOKS_FOR_A_LOCK: usize = 1;
pub(crate) const LOOKS_AWAKE: usize = 1;
pub(crate) const ALL: u32 = u32::MAX;

/// Declares an atomic of loom's that is made at its first use, so that `new` is `const`, or by `default`. Its end counts as a write: whoever
/// uses it must be known to have ended.
macro_rules! atomic {
    ($name:ident $(<$parameter:ident>)?, $value:ty, $read:expr) => {
        pub(crate) struct $name $(<$parameter>)? {
            value: $value,
            cell: OnceLock<loom::sync::atomic::$name $(<$parameter>)?>,
            #[allow(dead_code)]
            sleepers: OnceLock<Box<Sleepers>>,
        }

        // SAFETY: loom runs all threads of a model as coroutines of one thread.
        unsafe impl $(<$parameter>)? Send for $name $(<$parameter>)? {}
        // SAFETY: as above.
        unsafe impl $(<$parameter>)? Sync for $name $(<$parameter>)? {}

        #[allow(dead_code)]
        impl $(<$parameter>)? $name $(<$parameter>)? {
            pub(crate) const fn later(value: $value) -> Self {
                $name { value, cell: OnceLock::new(), sleepers: OnceLock::new() }
            }

            fn at_once(value: $value) -> Self {
                let new = Self::later(value);
                new.cell();
                new
            }

            fn cell(&self) -> &loom::sync::atomic::$name $(<$parameter>)? {
                self.cell.get_or_init(|| loom::sync::atomic::$name::new(self.value))
            }

            #[track_caller]
            pub(crate) fn load(&self, order: Ordering) -> $value {
                self.cell().load(order)
            }

            #[track_caller]
            pub(crate) fn store(&self, value: $value, order: Ordering) {
                self.cell().store(value, order);
            }

            #[track_caller]
            pub(crate) fn swap(&self, value: $value, order: Ordering) -> $value {
                self.cell().swap(value, order)
            }

            #[track_caller]
            pub(crate) fn compare_exchange(&self, from: $value, to: $value, done: Ordering, not: Ordering) -> Result<$value, $value> {
                self.cell().compare_exchange(from, to, done, not)
            }

            #[track_caller]
            pub(crate) fn compare_exchange_weak(&self, from: $value, to: $value, done: Ordering, not: Ordering) -> Result<$value, $value> {
                self.cell().compare_exchange_weak(from, to, done, not)
            }

            /// The value, to be read.
            pub(crate) fn get_mut(&mut self) -> &mut $value {
                if let Some(cell) = self.cell.get_mut() {
                    self.value = $read(cell);
                }
                &mut self.value
            }
        }

        impl $(<$parameter>)? Drop for $name $(<$parameter>)? {
            fn drop(&mut self) {
                if !std::thread::panicking() {
                    self.get_mut();
                }
            }
        }

        impl $(<$parameter>)? std::fmt::Debug for $name $(<$parameter>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}

atomic!(AtomicBool, bool, |cell: &mut loom::sync::atomic::AtomicBool| {
    // SAFETY: this is the only reference.
    unsafe { cell.unsync_load() }
});
atomic!(AtomicU32, u32, |cell: &mut loom::sync::atomic::AtomicU32| cell.with_mut(|value| *value));
atomic!(AtomicUsize, usize, |cell: &mut loom::sync::atomic::AtomicUsize| cell.with_mut(|value| *value));
atomic!(AtomicPtr<T>, *mut T, |cell: &mut loom::sync::atomic::AtomicPtr<T>| cell.with_mut(|value| *value));

// Locks are made in constants. The thread that makes one also uses it, before it starts others: loom wants to see it made before.
impl AtomicBool {
    pub(crate) const fn new(value: bool) -> AtomicBool {
        AtomicBool::later(value)
    }
}

impl AtomicU32 {
    pub(crate) const fn new(value: u32) -> AtomicU32 {
        AtomicU32::later(value)
    }

    #[track_caller]
    pub(crate) fn fetch_add(&self, value: u32, order: Ordering) -> u32 {
        self.cell().fetch_add(value, order)
    }
}

impl Default for AtomicU32 {
    fn default() -> AtomicU32 {
        AtomicU32::at_once(0)
    }
}

impl AtomicUsize {
    pub(crate) fn new(value: usize) -> AtomicUsize {
        AtomicUsize::at_once(value)
    }

    #[track_caller]
    pub(crate) fn fetch_add(&self, value: usize, order: Ordering) -> usize {
        self.cell().fetch_add(value, order)
    }

    #[track_caller]
    pub(crate) fn fetch_sub(&self, value: usize, order: Ordering) -> usize {
        self.cell().fetch_sub(value, order)
    }

    #[track_caller]
    pub(crate) fn fetch_or(&self, value: usize, order: Ordering) -> usize {
        self.cell().fetch_or(value, order)
    }
}

impl<T> AtomicPtr<T> {
    pub(crate) fn new(value: *mut T) -> AtomicPtr<T> {
        AtomicPtr::at_once(value)
    }
}

/// Threads that sleep at a word, as the system keeps them: it looks at the word and puts the thread to sleep in one step.
#[derive(Default)]
struct Sleepers {
    list: Mutex<()>,
    woken: Condvar,
}

#[track_caller]
pub(crate) fn sleep_while(word: &AtomicU32, value: u32) {
    let sleepers = word.sleepers.get_or_init(Box::default);
    let list = sleepers.list.lock().expect("nobody panics with the list");
    if word.load(Ordering::Relaxed) == value {
        drop(sleepers.woken.wait(list));
    }
}

#[track_caller]
pub(crate) fn wake(word: &AtomicU32, most: u32) {
    let sleepers = word.sleepers.get_or_init(Box::default);
    let _list = sleepers.list.lock().expect("nobody panics with the list");
    match most {
        1 => sleepers.woken.notify_one(),
        _ => sleepers.woken.notify_all(),
    }
}

/// A clock that says, whenever it is asked, that a long time has passed.
pub(crate) struct Instant;

impl Instant {
    pub(crate) fn now() -> Instant {
        Instant
    }

    pub(crate) fn elapsed(&self) -> Duration {
        Duration::MAX
    }
}

/// Threads with tokens of our own: loom's forget one when the thread yields, and show the thread what others wrote before it parks.
pub(crate) mod thread {
    use std::num::NonZero;

    use super::{Arc, AtomicUsize, Condvar, Mutex, Ordering};

    /// A handle that is used where it is: whoever uses one must be known to do so before it is dropped.
    pub(crate) struct Thread {
        token: Arc<Token>,
        in_use: AtomicUsize,
    }

    #[derive(Default)]
    struct Token {
        is_there: Mutex<bool>,
        left: Condvar,
    }

    loom::thread_local! {
        static CURRENT: std::cell::RefCell<Thread> = std::cell::RefCell::new(Thread::new());
    }

    pub(crate) fn current() -> Thread {
        CURRENT.with(|current| current.borrow().clone())
    }

    pub(crate) fn park() {
        let current = current();
        let token = &current.token;
        let mut is_there = token.is_there.lock().expect("nobody panics with a token");
        while !*is_there {
            is_there = token.left.wait(is_there).expect("nobody panics with a token");
        }
        *is_there = false;
    }

    impl Thread {
        fn new() -> Thread {
            Thread { token: Arc::new(Token::default()), in_use: AtomicUsize::new(0) }
        }

        pub(crate) fn unpark(&self) {
            self.in_use.load(Ordering::Relaxed);
            *self.token.is_there.lock().expect("nobody panics with a token") = true;
            self.token.left.notify_one();
        }
    }

    impl Clone for Thread {
        fn clone(&self) -> Thread {
            self.in_use.load(Ordering::Relaxed);
            Thread { token: self.token.clone(), in_use: AtomicUsize::new(0) }
        }
    }

    impl Drop for Thread {
        /// loom tries the end of a handle before and after each use only if it is a step.
        fn drop(&mut self) {
            if !std::thread::panicking() {
                self.in_use.store(1, Ordering::Relaxed);
            }
        }
    }

    pub(crate) struct Builder;

    pub(crate) struct JoinHandle(Thread);

    impl Builder {
        pub(crate) fn new() -> Builder {
            Builder
        }

        pub(crate) fn name(self, _: String) -> Builder {
            self
        }

        pub(crate) fn spawn(self, work: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle> {
            let thread = Thread::new();
            let own = thread.clone();
            crate::spawn(move || {
                CURRENT.with(|current| *current.borrow_mut() = own);
                work();
            });
            Ok(JoinHandle(thread))
        }
    }

    impl JoinHandle {
        pub(crate) fn thread(&self) -> &Thread {
            &self.0
        }
    }

    pub(crate) fn available_parallelism() -> std::io::Result<NonZero<usize>> {
        Ok(NonZero::<usize>::MIN)
    }
}

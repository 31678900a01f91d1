//! Tasks on threads of their own.

use crate::plan::PlanError;

/// How many threads this machine has for planning.
pub fn available() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs each task on a thread, the first on the calling one, and returns what they return, in order.
pub fn each<T: Send, R: Send>(tasks: Vec<T>, run: impl Fn(T) -> R + Sync) -> Result<Vec<R>, PlanError> {
    let run = &run;
    let mut tasks = tasks.into_iter();
    let Some(first) = tasks.next() else {
        return Ok(Vec::new());
    };
    std::thread::scope(|scope| {
        let mut others = Vec::with_capacity(tasks.len());
        for task in tasks {
            let thread = std::thread::Builder::new().spawn_scoped(scope, move || run(task));
            others.push(thread.map_err(|error| PlanError::NoThread { reason: error.kind() })?);
        }
        let mut results = vec![run(first)];
        for thread in others {
            results.push(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        Ok(results)
    })
}

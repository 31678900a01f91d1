//! The `parloop` command; see `parloop::command`.

fn main() -> std::process::ExitCode {
    parloop::command::run(std::env::args_os())
}

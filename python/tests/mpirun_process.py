"""One of the processes that `mpirun.Processes` starts: it runs the programs that it is told to, and says how each ended."""

import gc
import json
import os
import socket
import sys
import traceback

import parloop.mesh as op2


def run(path):
    """What went wrong in a program, or nothing. What it sets is put back."""
    arguments, folders, variables, here = list(sys.argv), list(sys.path), dict(os.environ), os.getcwd()
    try:
        with open(path) as file:
            exec(compile(file.read(), path, "exec"), {"__name__": "__main__", "__file__": path})
    except BaseException:
        return traceback.format_exc()
    finally:
        sys.argv[:], sys.path[:] = arguments, folders
        os.chdir(here)
        for name in {*os.environ, *variables}:
            if os.environ.get(name) != variables.get(name):
                os.environ.pop(name, None)
                if name in variables:
                    os.environ[name] = variables[name]
        gc.collect()
    return ""


def main(address):
    # Programs are not to find the modules of tests.
    del sys.path[0]
    rank = op2.Comm.world().rank
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(address)
        lines, own = line.makefile("rw"), os.getpid()
        print(rank, own, file=lines, flush=True)
        for path in lines:
            answer = json.dumps(run(path.rstrip("\n")))
            if os.getpid() != own:
                # A child that the program forked and did not end: its parent answers.
                os._exit(1)
            sys.stdout.flush()
            sys.stderr.flush()
            print(answer, file=lines, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

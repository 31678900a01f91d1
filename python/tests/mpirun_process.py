"""One of the processes that `mpirun.Processes` starts: it runs the programs that it is told to, and says how each ended."""

import gc
import json
import socket
import sys
import traceback

import parloop.mesh as op2


def run(path):
    """What went wrong in a program, or nothing."""
    arguments = list(sys.argv)
    try:
        with open(path) as file:
            exec(compile(file.read(), path, "exec"), {"__name__": "__main__", "__file__": path})
    except BaseException:
        return traceback.format_exc()
    finally:
        sys.argv[:] = arguments
        gc.collect()
    return ""


def main(address):
    # Programs are not to find the modules of tests.
    del sys.path[0]
    rank = op2.Comm.world().rank
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(address)
        lines = line.makefile("rw")
        print(rank, file=lines, flush=True)
        for path in lines:
            print(json.dumps(run(path.rstrip("\n"))), file=lines, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

"""The most memory that a process had: `peak_memory.py PROGRAM ARGUMENTS...` runs and tells it.

The process tells it of itself, for what the system says of a child (`wait4`) may count the parent's
memory at the time of the fork. The program is a Python script; without one nothing is run.
"""

import atexit
import sys


def peak_mb() -> float:
    """Megabytes: the kernel's high water mark."""
    try:
        with open("/proc/self/status") as status:  # noqa: PTH123 - pathlib would be measured too
            return next(int(line.split()[1]) for line in status if line[:6] == "VmHWM:") / 1024
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (1 << 20 if sys.platform == "darwin" else 1024)


def tell() -> None:
    """Print it where the scripts look for it."""
    sys.stdout.write(f"\npeak_mb {peak_mb():.1f}\n")


if __name__ == "__main__":
    atexit.register(tell)
    sys.argv = sys.argv[1:]
    if sys.argv:
        with open(sys.argv[0]) as script:  # noqa: PTH123 - the same
            exec(compile(script.read(), sys.argv[0], "exec"))  # noqa: S102 - it is what is asked

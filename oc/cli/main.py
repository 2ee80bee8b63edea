"""Entry point of `oc` and `oc-toolkit`. Answers --version before anything heavy is imported."""

import sys


def main() -> int:
    """Runs the command line and returns the exit status."""
    arguments = sys.argv[1:]
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        from oc.cli.run import stand_in

        if not stand_in():
            return 74
    if arguments in (["--version"], ["-V"]):
        from oc import __version__

        try:
            sys.stdout.write(f"oc {__version__}\n")
            sys.stdout.flush()
        except OSError as error:
            from oc.cli.run import output_failed

            return output_failed(error)
        return 0
    import gc

    # A command is short: collecting while it imports click, or parses 100,000 entries, doubles the time.
    gc.disable()
    from oc.cli.run import run

    status = run(arguments)
    gc.freeze()  # else Python's last collection walks all of it once more: 6 ms of a filter's 60
    return status


if __name__ == "__main__":
    sys.exit(main())

"""Entry point of `oc` and `oc-toolkit`. Answers --version before anything heavy is imported."""

import sys


def main() -> int:
    """Runs the command line and returns the exit status."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        from oc import __version__

        sys.stdout.write(f"oc {__version__}\n")
        return 0
    from oc.cli.run import run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())

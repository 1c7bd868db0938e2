"""``python -m fluid_build`` is the ``fluid`` command."""

from fluid_build.cli.main import main

if __name__ == "__main__":
    main()

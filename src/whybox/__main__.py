"""`python -m whybox`."""

from whybox.cli.main import main

if __name__ == "__main__":
    main()

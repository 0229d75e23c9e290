"""``python -m arcademark``."""

from arcademark.cli.main import main

if __name__ == "__main__":
    main()

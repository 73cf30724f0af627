"""python3 -m axon stub MODEL.axb [-o FILE.pyi]: the entries of a bundle, for editors and type checkers."""
import argparse
import os
import sys

import axon


def write(path, text):
    """All of the file, or none of it."""
    beside = f"{path}.{os.getpid()}.new"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(beside, path)
    except OSError:
        if os.path.exists(beside):
            os.unlink(beside)
        raise


def main():
    parser = argparse.ArgumentParser(prog="python3 -m axon", description="Axon bundles from Python.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    stub = commands.add_parser("stub", help="print the entries of a bundle as a .pyi file")
    stub.add_argument("model", metavar="MODEL.axb")
    stub.add_argument("-o", dest="out", metavar="FILE.pyi", help="write it there")
    stub.add_argument("--name", default="Model", help="of the class; Model when left out")
    options = parser.parse_args()
    try:
        text = axon.stub(axon.load(options.model, workers=1), options.name)
        if options.out:
            write(options.out, text)
        else:
            sys.stdout.write(text)
    except (axon.Error, OSError) as error:
        print(f"axon: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

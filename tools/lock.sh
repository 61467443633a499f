#!/bin/sh
# Writes requirements/*.txt from pyproject.toml: every version pinned with its hashes, the same versions in each file.
set -eu
uv=${1:-uv}
cd "$(dirname "$0")/.."
compile() {
  name=$1
  shift
  "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header \
    "$@" pyproject.toml --output-file "requirements/$name.txt"
}
compile dev --extra dev
compile run --extra cli --extra extractor --extra knowledge --extra build --constraint requirements/dev.txt
compile extractor --extra extractor --extra build --constraint requirements/dev.txt
compile knowledge --extra knowledge --extra build --constraint requirements/dev.txt
compile bench --extra bench --constraint requirements/dev.txt

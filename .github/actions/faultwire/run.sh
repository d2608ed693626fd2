#!/usr/bin/env bash
# Runs faultwire as a step of a job. Reads INPUT_CONFIG, INPUT_PROFILE, INPUT_MIN_SCORE, INPUT_VERSION and what
# publish.py beside it reads; appends to the files GITHUB_OUTPUT and GITHUB_STEP_SUMMARY, where they are set; exits as faultwire does.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
token=${INPUT_TOKEN:-}
unset INPUT_TOKEN # the agent under test has no use for it

config=${INPUT_CONFIG:-faultwire.yaml}
version=${INPUT_VERSION:-}
runs=.faultwire/runs
most=900000 # bytes of a job summary; the runner refuses more than 1 MiB

newest() { # the run that was begun last; names begin with the moment
  [ ! -d "$runs" ] || find "$runs" -mindepth 1 -maxdepth 1 -type d | LC_ALL=C sort | tail -n 1
}

output() { # name, value
  printf '%s=%s\n' "$1" "$2" >>"${GITHUB_OUTPUT:-/dev/stdout}"
}

case $version in
  installed) program=faultwire ;;
  *[!0-9A-Za-z.]*)
    printf 'found the version `%q`, expected one such as 0.1.0, or `installed`\n' "$version" >&2
    exit 2
    ;;
  *) # an environment of its own: what faultwire needs is not what the agent needs
    home=$(mktemp -d "${RUNNER_TEMP:-/tmp}/faultwire-XXXXXX")
    python3 -m venv "$home"
    "$home/bin/pip" install --quiet --disable-pip-version-check "faultwire${version:+==$version}"
    program=$home/bin/faultwire
    ;;
esac

arguments=(-c "$config")
[ -z "${INPUT_MIN_SCORE:-}" ] || arguments+=(--min-score "$INPUT_MIN_SCORE")
command=ci
if [ -n "${INPUT_PROFILE:-}" ]; then
  command=run
  arguments+=(--ci)
  IFS=, read -r -a profiles <<<"$INPUT_PROFILE"
  for name in "${profiles[@]}"; do
    arguments+=(--chaos-profile "${name//[[:space:]]/}")
  done
fi

before=$(newest)
code=0
"$program" "$command" "${arguments[@]}" || code=$?
output exit-code "$code"

folder=$(newest)
if [ -n "$folder" ] && [ "$folder" != "$before" ]; then
  output folder "$folder"
  [ ! -f "$folder/report.html" ] || output html "$folder/report.html"
  output junit "$folder/*.xml"
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    { # the whole first, then each phase
      [ ! -f "$folder/report.md" ] || cat "$folder/report.md"
      for page in "$folder"/*.md; do
        [ ! -f "$page" ] || [ "$page" = "$folder/report.md" ] || { printf '\n'; cat "$page"; }
      done
    } | head -c "$most" >>"$GITHUB_STEP_SUMMARY" || true # `head` may stop reading before the end
  fi
fi
if [ "${INPUT_COMMENT:-}" = true ] || [ "${INPUT_CHECK:-}" = true ]; then
  [ "$folder" != "$before" ] || folder=/dev/null # this run left nothing
  GITHUB_TOKEN=$token python3 -I "$here/publish.py" "${folder:-/dev/null}" "$code" || true
fi
exit "$code"

#!/usr/bin/env bash
# Makes a release of what is committed: moves the Unreleased section of
# CHANGELOG.md to the version, commits that and tags the commit. It does not push.
# If anything is not as it must be, nothing is changed.
#
#   .ci/release.sh VERSION [--dry-run]
#
# VERSION is MAJOR.MINOR.PATCH, with a pre-release such as -rc.1 if need be. With
# --dry-run it only shows what would change. SOURCE_DATE_EPOCH replaces the time
# of the machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
	printf 'release: %s\n' "$1" >&2
	exit 1
}

version=${1:-}
dry=${2:-}
[[ $version =~ ^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?$ ]] ||
	fail "\"$version\" is not a valid version; write 1.2.3 or 1.2.3-rc.1"
[[ -z $dry || $dry == --dry-run ]] || fail "unknown argument \"$dry\""
tag=v$version

branch=$(git symbolic-ref --quiet --short HEAD || true)
[[ $branch == main ]] || fail "releases are made on main, not on ${branch:-a detached commit}"
[[ -z $(git status --porcelain) ]] || fail "there are changes that are not committed"
if git rev-parse --quiet --verify "refs/tags/$tag" >/dev/null; then
	fail "$tag exists already"
fi
# Of two versions the one without a pre-release is newer; "~" sorts before all.
newest=$(printf '%s\n' "$tag" $(git tag --list 'v[0-9]*') | sed 's/-/~/' | sort -V | tail -n 1 | sed 's/~/-/')
[[ $newest == "$tag" ]] || fail "$tag is older than $newest"

if [[ -n ${SOURCE_DATE_EPOCH:-} ]]; then
	date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%F)
else
	date=$(date -u +%F)
fi

notes=$(mktemp)
changed=$(mktemp)
trap 'rm -f "$notes" "$changed"' EXIT
awk '/^## / {p = $2 == "[Unreleased]"; next} p' CHANGELOG.md | sed -e '/./,$!d' >"$notes"
grep -q '^- ' "$notes" || fail "the section Unreleased of CHANGELOG.md is empty"
awk -v heading="## [$version] - $date" '
	{print}
	$0 == "## [Unreleased]" {printf "\n%s\n", heading}' CHANGELOG.md >"$changed"

if [[ -n $dry ]]; then
	diff -u --label CHANGELOG.md --label "CHANGELOG.md of $tag" CHANGELOG.md "$changed" || true
	printf '\nThis would be committed on main and tagged %s.\n' "$tag"
	exit 0
fi
cat "$changed" >CHANGELOG.md
git commit --quiet -m "CHANGELOG: release $version" -- CHANGELOG.md
git tag --annotate --cleanup=verbatim -m "Flowdrive $version" -m "$(cat "$notes")" "$tag"
printf '%s is %s. To publish it: git push origin main %s\n' "$tag" "$(git rev-parse --short HEAD)" "$tag"

#!/usr/bin/env bash
# A release in a clone: the program says what it is, and the same commit built in
# another folder gives the same bytes.
#
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if ! has git release || ! has jq release; then
	finish
fi
export GIT_AUTHOR_NAME=Releaser GIT_AUTHOR_EMAIL=releaser@example.org
export GIT_COMMITTER_NAME=Releaser GIT_COMMITTER_EMAIL=releaser@example.org
clone=$work/clone
git clone --quiet "$root" "$clone"
git -C "$clone" checkout --quiet -B main
git -C "$clone" tag --list | xargs -r git -C "$clone" tag --delete >"$work/out"

succeeds "a rehearsal" make -C "$clone" release VERSION=0.1.0 DRYRUN=1
expect "  changes nothing" "" "$(git -C "$clone" status --porcelain)$(git -C "$clone" tag --list)"
succeeds "a release" make -C "$clone" release VERSION=0.1.0
expect "  is tagged" v0.1.0 "$(git -C "$clone" describe --exact-match)"

succeeds "it is built" make -C "$clone" build
commit=$(git -C "$clone" rev-parse HEAD)
expect "  with its version" 0.1.0 "$("$clone/flowdrive" version --json | jq -r .version)"
expect "  and its commit" "$commit" "$("$clone/flowdrive" version --json | jq -r .revision)"
expect "  without changes" null "$("$clone/flowdrive" version --json | jq -r .modified)"
expect_match "  for people too" "^flowdrive 0\.1\.0 \(commit ${commit:0:12}, 20[0-9-]+T[0-9:]+Z, go" "$("$clone/flowdrive" version)"

git clone --quiet --branch v0.1.0 "$clone" "$work/elsewhere" 2>"$work/out"
succeeds "it is built elsewhere" make -C "$work/elsewhere" build
succeeds "  byte for byte the same" cmp "$clone/flowdrive" "$work/elsewhere/flowdrive"

git -C "$work/elsewhere" archive HEAD | (mkdir "$work/plain" && tar -x -C "$work/plain")
succeeds "without a repository" make -C "$work/plain" build VERSION=0.1.0
expect "  it is told its version" 0.1.0 "$("$work/plain/flowdrive" version --json | jq -r .version)"

finish

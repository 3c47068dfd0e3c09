#!/usr/bin/env bash
# Makes the packages of a version in dist/: .deb, .rpm, the static program, an image as
# an OCI archive, the bill of materials, notices and sums. The same commit gives the same
# bytes. VERSION=1.2.3 names the version, ARCHS="amd64 arm64" the machines; a machine
# without a cross compiler is left out, and that is said.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

VERSION=${VERSION:-$(git describe --tags --abbrev=0 2>/dev/null || echo v0.0.0)}
export VERSION=${VERSION#v}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
dist=${DIST:-dist}
kinds=${KINDS:-deb rpm image} # what is made beside the static programs
mkdir -p "$dist"
dist=$(cd "$dist" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

# compiler ARCH prints the C compiler for it.
compiler() {
	case $1 in
	"$(go env GOHOSTARCH)") echo "${CC:-gcc}" ;;
	amd64) echo x86_64-linux-gnu-gcc ;;
	arm64) echo aarch64-linux-gnu-gcc ;;
	*) echo "no-compiler-for-$1" ;;
	esac
}

# program ARCH FILE: a program that needs no library of the machine. glibc warns of
# dlopen, with which SQLite would load extensions; the server loads none.
program() {
	CGO_ENABLED=1 GOOS=linux GOARCH=$1 CC=$(compiler "$1") go build -trimpath -buildvcs=auto -tags netgo,osusergo \
		-ldflags "-s -w -linkmode external -extldflags '-static -Wl,--build-id=none' -X main.linkedVersion=$VERSION" \
		-o "$2" ./cmd/flowdrive 2> >(grep -v "dlopen\|^# flowdrive\|in function" >&2 || true)
}

go run ./internal/licenses >"$dist/THIRD_PARTY_NOTICES.txt"
go run ./internal/licenses -sbom >"$dist/sbom.cdx.json"

host=$work/host
program "$(go env GOHOSTARCH)" "$host"
images=()
for arch in ${ARCHS:-amd64 arm64}; do
	if ! command -v "$(compiler "$arch")" >/dev/null; then
		echo "SKIPPED packages for $arch: there is no $(compiler "$arch") here" | tee -a "${E2E_SKIPS:-/dev/null}"
		continue
	fi
	export ARCH=$arch STAGE=$work/$arch
	mkdir -p "$STAGE"
	if [[ $arch == "$(go env GOHOSTARCH)" ]]; then cp "$host" "$STAGE/flowdrive"; else program "$arch" "$STAGE/flowdrive"; fi
	cp "$STAGE/flowdrive" "$dist/flowdrive-$VERSION-linux-$arch"
	images+=(-program "$arch=$STAGE/flowdrive")

	cp contrib/systemd/flowdrive.service contrib/packages/config.yaml "$STAGE"
	for shell in bash fish; do "$host" completion "$shell" >"$STAGE/flowdrive.$shell"; done
	"$host" completion zsh >"$STAGE/_flowdrive"
	"$host" man "$STAGE/share/man" >/dev/null
	find "$STAGE/share/man" -type f -exec gzip -9n {} +
	doc=$STAGE/share/doc/flowdrive
	mkdir -p "$doc/examples"
	cp contrib/prometheus/flowdrive.rules.yaml "$doc/examples/prometheus.rules.yaml"
	cp contrib/grafana/flowdrive.json "$doc/examples/grafana.json"
	printf 'Copyright The Flowdrive authors\n\nFlowdrive is under the Apache License, version 2.0: see\n/usr/share/common-licenses/Apache-2.0. The licenses of what is linked are in\nTHIRD_PARTY_NOTICES.txt.gz beside this file.\n' >"$doc/copyright"
	gzip -9nc "$dist/THIRD_PARTY_NOTICES.txt" >"$doc/THIRD_PARTY_NOTICES.txt.gz"
	gzip -9nc CHANGELOG.md >"$doc/CHANGELOG.md.gz"
	printf '# glibc alone is linked in; there is nothing to share.\nflowdrive: statically-linked-binary\n# CHANGELOG.md.gz is beside it.\nflowdrive: no-changelog\n' >"$STAGE/overrides"
	find "$STAGE" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	{
		cat contrib/packages/nfpm.yaml
		find "$STAGE/share" -type f ! -name copyright -printf '%P\n' | LC_ALL=C sort |
			sed "s|.*|  - {src: \"$STAGE/share/&\", dst: \"/usr/share/&\", type: doc, file_info: {mode: 0644}}|"
	} >"$work/nfpm.yaml"
	for kind in $kinds; do
		if [[ $kind != image ]]; then
			go tool -modfile=.ci/packages.mod nfpm package --config "$work/nfpm.yaml" --packager "$kind" --target "$dist/" >&2
		fi
	done
done

if [[ " $kinds " == *" image "* ]]; then
	roots=/etc/ssl/certs/ca-certificates.crt
	go -C tools build -o "$work/image" ./image
	"$work/image" -version "$VERSION" -created "$SOURCE_DATE_EPOCH" "${images[@]}" $([[ -r $roots ]] && echo "-roots $roots") -out "$dist/flowdrive-$VERSION.oci.tar"
fi
(cd "$dist" && sha256sum -- *"$VERSION"* THIRD_PARTY_NOTICES.txt sbom.cdx.json >SHA256SUMS && cat SHA256SUMS)

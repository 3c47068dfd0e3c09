#!/usr/bin/env bash
# Clients that are generated from /openapi.json, for Go, TypeScript and Python, and
# programs that use them against a server. What checks the document for mistakes runs
# here, too.
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

start --sandbox 2012-11-09T12:34:56Z

cp -r "$root/e2e/generated" "$work/generated"
request GET /openapi.json
cp "$work/body" "$work/openapi.json"
put /dav/Account/AppPasswords/generated.json '{}'
token=$(jq -r .secret "$work/body")

# ---- Go

go_client() {
	cp "$work/openapi.json" "$work/generated/go/openapi.json"
	mkdir -p "$work/generated/go/drive"
	(cd "$work/generated/go" && go tool oapi-codegen -config oapi-codegen.yaml openapi.json && go run . "$base" admin "$admin_password")
}
if has go 'generated clients for Go'; then
	succeeds "a client for Go is generated, and used" go_client
fi

# ---- TypeScript and Python, by generators of npm

npm_packages() {
	timeout 200 npm ci --prefix "$work/generated/npm" --no-audit --no-fund --loglevel=error
}
typescript_client() (
	cd "$work/generated/npm"
	npx --no-install openapi-typescript --default-non-nullable=false "$work/openapi.json" -o drive.d.ts &&
		npx --no-install tsc -p . && BASE=$base TOKEN=$token node main.js
)
python_client() (
	cd "$work/generated/npm"
	npx --no-install quicktype --lang python --src-lang schema --python-version 3.7 -o case.py --src "$work/openapi.json#/components/schemas/case.form" &&
		/usr/bin/python3 main.py "$base" "$token"
)
lints() (
	cd "$work/generated/npm"
	npx --no-install redocly lint --config redocly.yaml "$work/openapi.json" && npx --no-install spectral lint --fail-severity warn --ruleset spectral.yaml "$work/openapi.json"
)
if has node 'generated clients for TypeScript and Python' && has npm 'generated clients for TypeScript and Python'; then
	if npm_packages >"$work/out" 2>&1 </dev/null; then
		succeeds "a client for TypeScript is generated, and used" typescript_client
		succeeds "classes for Python are generated, and used" python_client
		succeeds "Redocly and Spectral find nothing in the document" lints
	else
		skip 'generated clients for TypeScript and Python' "npm ci: $(tail -n 1 "$work/out")"
	fi
fi

finish

#!/usr/bin/env bash
# A Prometheus of Debian reads the server's metrics and the rules for alerts. It is
# unpacked and not installed: installed it would run as a service.
# shellcheck source=e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

prometheus_pid=
end_session() {
	if [[ -n $prometheus_pid ]]; then
		kill -TERM "$prometheus_pid" 2>/dev/null || true
		wait "$prometheus_pid" 2>/dev/null || true
	fi
}

if ! command -v prometheus >/dev/null; then
	if (cd "$work" && apt-get download -q prometheus && dpkg -x prometheus_*.deb unpacked) >"$work/out" 2>&1; then
		PATH=$work/unpacked/usr/bin:$PATH
	else
		skip prometheus "it is not installed, and apt-get cannot download it: $(tail -n 1 "$work/out")"
		finish
	fi
fi

succeeds "the rules are rules" promtool check rules "$root/contrib/prometheus/flowdrive.rules.yaml"

start --backup-to "$work/backups"
request GET /metrics
expect "an administrator reads the metrics" 200 "$status"
succeeds "they are as metrics should be" bash -c "promtool check metrics <'$work/body'"

# ---- a Prometheus that scrapes

monitor=$(free_port)
cat >"$work/prometheus.yml" <<YML
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [$root/contrib/prometheus/flowdrive.rules.yaml]
scrape_configs:
  - job_name: flowdrive
    static_configs: [{targets: ["127.0.0.1:$port"]}]
    basic_auth: {username: admin, password: $admin_password}
YML
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/series" \
	--web.listen-address="127.0.0.1:$monitor" >"$work/prometheus.log" 2>&1 </dev/null &
prometheus_pid=$!

# asks QUERY prints the first value that Prometheus has for it.
asks() {
	curl -sf --max-time 10 --data-urlencode "query=$1" "http://127.0.0.1:$monitor/api/v1/query" |
		jq -r '.data.result[0].value[1] // "nothing"'
}
is() { [[ $(asks "$1") == "$2" ]]; }

eventually "Prometheus scrapes the server" is 'up{job="flowdrive"}' 1
put /dav/Workflow/Cases/new.json '{"route": "bug", "title": "Leak"}'
expect "a case starts" 201 "$status"
# What is counted in the database is counted anew after 15 seconds.
eventually "it counts cases" is 'sum(flowdrive_cases)' 1
eventually "it counts cases that were started" is 'flowdrive_cases_created_total' 1
expect "no firing is late" 0 "$(asks 'flowdrive_schedule_late_entries')"
rules=$(curl -sf --max-time 10 "http://127.0.0.1:$monitor/api/v1/rules" | jq -r '[.data.groups[].rules[] | select(.health == "err")] | length')
expect "no rule fails" 0 "$rules"

finish

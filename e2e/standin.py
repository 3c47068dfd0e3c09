"""Stands in for systemd: starts the service of a unit in another root, as systemd would.

standin.py ROOT UNIT STATE WATCHDOG_SECONDS CREDENTIAL=VALUE...

It does what the unit says with Type=notify, ExecStartPre, ExecStart, ExecReload, the state
and configuration folders, credentials and the watchdog, as another user. STATE is a folder:
"messages" has what the service said, "pid" and "exit" are as their names say. SIGHUP
reloads, SIGTERM stops. If the service does not feed its watchdog, it is killed.
"""

import os
import pathlib
import select
import shlex
import signal
import socket
import subprocess
import sys
import time

USER = 61999  # of those that systemd gives to DynamicUser=

root, unit, state = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
watchdog = float(sys.argv[4])
settings = {}
for line in (root / unit.lstrip("/")).read_text().splitlines():
    key, is_setting, value = line.partition("=")
    if is_setting and not line.startswith("#"):
        settings.setdefault(key, []).append(value)
if settings["Type"] != ["notify"] or settings["WatchdogSec"] == []:
    sys.exit("the unit is of another type")


def folder(name, owner=USER, mode=0o700):
    path = root / name.lstrip("/")
    path.mkdir(parents=True, exist_ok=True)
    os.chown(path, owner, owner)
    path.chmod(mode)


folder("/run", 0, 0o755)
folder("/var/lib/" + settings["StateDirectory"][0])
folder("/run/credentials/flowdrive.service")
for credential in sys.argv[5:]:
    name, _, value = credential.partition("=")
    path = root / "run/credentials/flowdrive.service" / name
    path.write_text(value)
    os.chown(path, USER, USER)
    path.chmod(0o400)
notify = root / "run/notify"
notify.unlink(missing_ok=True)
said = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
said.bind(str(notify))
notify.chmod(0o777)
environment = {
    "PATH": "/usr/bin:/bin",
    "NOTIFY_SOCKET": "/run/notify",
    "WATCHDOG_USEC": str(int(watchdog * 1e6)),
    "STATE_DIRECTORY": "/var/lib/flowdrive",
    "CONFIGURATION_DIRECTORY": "/etc/flowdrive",
    "CREDENTIALS_DIRECTORY": "/run/credentials/flowdrive.service",
    "INVOCATION_ID": "0123456789abcdef0123456789abcdef",
}


def enter():
    os.chroot(root)
    os.chdir("/")
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)
    os.umask(int(settings["UMask"][0], 8))
    os.environ["WATCHDOG_PID"] = str(os.getpid())


def run(command):
    return subprocess.run(shlex.split(command), env=environment, preexec_fn=enter).returncode


for command in settings.get("ExecStartPre", []):
    if code := run(command):
        (state / "exit").write_text(f"{code}\n")
        sys.exit(f"{command}: {code}")

wanted = set()
for signum in (signal.SIGHUP, signal.SIGTERM):
    signal.signal(signum, lambda number, _: wanted.add(number))
main = subprocess.Popen(shlex.split(settings["ExecStart"][0]), env=environment, preexec_fn=enter)
(state / "pid").write_text(f"{main.pid}\n")
fed = time.monotonic()
with open(state / "messages", "a", buffering=1) as messages:
    while main.poll() is None:
        if select.select([said], [], [], 0.1)[0]:
            text = said.recv(4096).decode()
            messages.write(text.replace("\n", " ") + "\n")
            fed = time.monotonic()
        if signal.SIGHUP in wanted:
            wanted.discard(signal.SIGHUP)
            check, _, _ = settings["ExecReload"][0].partition("$")
            code = run(check)
            messages.write(f"reload check: {code}\n")
            if code == 0:
                main.send_signal(signal.SIGHUP)
        if signal.SIGTERM in wanted:
            wanted.discard(signal.SIGTERM)
            main.terminate()
        if time.monotonic() - fed > max(10 * watchdog, 20):
            messages.write("the watchdog was not fed\n")
            main.kill()
(state / "exit").write_text(f"{main.returncode}\n")

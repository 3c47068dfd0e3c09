#!/usr/bin/env python3
"""easywebdav, a verb a call: client.py VERB ARGUMENT…
DAV_PORT, DAV_USER and DAV_PASSWORD say which drive. Fails as the package does,
and prints what the server answered."""

import collections
import collections.abc
import os
import sys
from urllib.parse import unquote

# The package was written for a Python that had these names there.
for name in ("Mapping", "MutableMapping", "Callable"):
    setattr(collections, name, getattr(collections.abc, name))

import easywebdav  # noqa: E402  the names above come first

dav = easywebdav.connect("127.0.0.1", port=int(os.environ["DAV_PORT"]), path="dav",
                         username=os.environ["DAV_USER"], password=os.environ["DAV_PASSWORD"])


def list_folder(path):
    for f in dav.ls(path)[1:]:
        print(unquote(f.name).rstrip("/").rsplit("/", 1)[-1])


def rename(old, new):  # the package has no verb for it, its session has
    answer = dav.session.request("MOVE", dav._get_url(old), headers={"Destination": dav._get_url(new)})
    if not answer.ok:
        sys.exit(f"{answer.status_code} {answer.text}")


verbs = {
    "put": lambda file, path: dav.upload(file, path),
    "get": lambda path, file: dav.download(path, file),
    "list": list_folder,
    "rename": rename,
    "delete": dav.delete,
    "mkdir": dav.mkdir,
}

try:
    verbs[sys.argv[1]](*sys.argv[2:])
except easywebdav.OperationFailed as failure:
    sys.exit(str(failure))

#!/usr/bin/env python3
"""Stands before a drive and logs in for a client that would ask a person for the
password. DAV_PORT, DAV_USER and DAV_PASSWORD say where and as whom. The
argument is the port to listen on, on 127.0.0.1."""

import base64
import http.client
import http.server
import os
import shutil
import sys

LOGIN = "Basic " + base64.b64encode(
    f"{os.environ['DAV_USER']}:{os.environ['DAV_PASSWORD']}".encode()).decode()
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "authorization", "content-length"}


class Counted:
    """A request's body: as many bytes as it has."""

    def __init__(self, stream, length):
        self.stream, self.left = stream, length

    def read(self, size):
        data = self.stream.read(min(size, self.left))
        self.left -= len(data)
        return data


class Login(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def forward(self):
        length = int(self.headers.get("Content-Length") or 0)
        headers = [(k, v) for k, v in self.headers.items() if k.lower() not in HOP_BY_HOP]
        server = http.client.HTTPConnection("127.0.0.1", int(os.environ["DAV_PORT"]), blocksize=1 << 20)
        server.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers:
            server.putheader(name, value)
        server.putheader("Authorization", LOGIN)
        if length or "Content-Length" in self.headers:
            server.putheader("Content-Length", str(length))
        server.endheaders()
        if length:
            server.send(Counted(self.rfile, length))
        answer = server.getresponse()
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        size = answer.getheader("Content-Length")
        if size is None:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", size)
        self.end_headers()
        shutil.copyfileobj(answer, self.wfile, 1 << 20)
        server.close()

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.forward
        raise AttributeError(name)


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Login).serve_forever()

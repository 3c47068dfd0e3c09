# A program that reads answers by the classes which quicktype makes of the schemas in
# /openapi.json: it starts a case, performs an action, and finds the case. The address
# and an app password are its arguments.
import json
import sys
import urllib.request

from case import case_from_dict

base, token = sys.argv[1:]


def ask(method, path, document=None, **headers):
    body = None if document is None else json.dumps(document).encode()
    headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json", **headers}
    request = urllib.request.Request(base + path, body, headers, method=method)
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
        return json.loads(text) if text else None


made = case_from_dict(ask("POST", "/dav/Workflow/Cases", {"route": "bug", "title": "Smoke in the hall"}, Prefer="return=representation"))
assert made.title == "Smoke in the hall" and "comment" in made.enabled_actions, made
ask("POST", f"/dav/Workflow/Cases/{made.id}/Actions/comment.json", {"comment": "It was the toaster."})
found = [case_from_dict(c) for c in ask("GET", "/dav/Workflow/Cases", Accept="application/json")]
assert found[-1].id == made.id and found[-1].modified >= made.modified, found
print("case", made.id)

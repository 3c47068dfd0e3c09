// A program that uses the types which openapi-typescript makes of /openapi.json: it
// starts a case, performs an action, finds the case, and is refused. The address, the
// user and the password are in the environment.
import createClient from "openapi-fetch";
import type { paths } from "./drive.js";

declare const process: { env: Record<string, string | undefined> };
declare const console: { log(...args: unknown[]): void };

const { BASE, TOKEN } = process.env;
const drive = createClient<paths>({ baseUrl: BASE, headers: { Authorization: `Bearer ${TOKEN}` } });

function must(holds: boolean, what: string, saw: unknown): asserts holds {
  if (!holds) throw new Error(`${what}: ${JSON.stringify(saw)}`);
}

const made = await drive.POST("/dav/Workflow/Cases", {
  params: { header: { Prefer: "return=representation" } },
  body: { route: "bug", title: "Smoke in the hall", xattrDict: { floor: 3 } },
});
// The form was asked for, so the answer is not only what is warned of.
must(made.response.status === 201 && made.data !== undefined && "id" in made.data, "starting a case", made.error ?? made.data);
const id = made.data.id;

const done = await drive.POST("/dav/Workflow/Cases/{id}/Actions/{action}.json", {
  params: { path: { id, action: "comment" } },
  body: { comment: "It was the toaster." },
});
must(done.response.status === 204, "commenting", done.error);

const found = await drive.GET("/dav/Workflow/Cases/.contents", { params: { query: { route: "bug" } } });
must(found.data?.at(-1)?.id === id, "listing", found.error);

const refused = await drive.POST("/dav/Workflow/Cases/{id}/Actions/{action}.json", {
  params: { path: { id, action: "fly" } },
  body: {},
});
must(typeof refused.error === "object" && refused.error.type === "urn:flowdrive:problem:not-found", "an action that is none", refused.error);

console.log("case", id);

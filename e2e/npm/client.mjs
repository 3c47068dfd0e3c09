// The npm package webdav, a verb a call: node client.mjs VERB ARGUMENT…
// DAV_URL, DAV_USER and DAV_PASSWORD say which drive. Fails as the package
// does, and prints what the server answered.
import { readFile, writeFile } from "node:fs/promises";
import { createClient } from "webdav";

const { DAV_URL, DAV_USER, DAV_PASSWORD } = process.env;
const client = createClient(DAV_URL, { username: DAV_USER, password: DAV_PASSWORD });

const verbs = {
	put: async (file, path) => client.putFileContents(path, await readFile(file)),
	create: async (file, path) => {
		if (!(await client.putFileContents(path, await readFile(file), { overwrite: false }))) {
			throw new Error(`${path} exists`);
		}
	},
	get: async (path, file) => writeFile(file, await client.getFileContents(path)),
	list: async (path) => {
		for (const { basename } of await client.getDirectoryContents(path)) {
			console.log(basename);
		}
	},
	rename: (from, to) => client.moveFile(from, to),
	delete: (path) => client.deleteFile(path),
	mkdir: (path) => client.createDirectory(path),
	// What an editor does: lock, write under the lock, unlock.
	edit: async (file, path) => {
		const { token } = await client.lock(path);
		try {
			await client.putFileContents(path, await readFile(file), { headers: { If: `(<${token}>)` } });
		} finally {
			await client.unlock(path, token);
		}
	},
};

const [verb, ...args] = process.argv.slice(2);
try {
	await verbs[verb](...args);
} catch (error) {
	console.error(String(error), (await error.response?.text?.()) ?? "");
	process.exitCode = 1;
}

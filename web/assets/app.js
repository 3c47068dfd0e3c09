// What the pages do better with script than without. Nothing here decides anything: it
// shows sooner what the server has drawn, and types for people.
(() => {
	'use strict';
	const say = (text) => { const p = document.getElementById('say'); if (p) p.textContent = text; };

	// The zone of the browser, for pages of users who have chosen none.
	const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
	if (zone && !document.cookie.split('; ').some((c) => c.startsWith('tz='))) {
		document.cookie = 'tz=' + encodeURIComponent(zone) + '; path=/; max-age=31536000; samesite=lax';
	}

	// Copy the path on the drive.
	for (const b of document.querySelectorAll('button[data-copy]')) {
		if (!navigator.clipboard) continue;
		b.hidden = false;
		b.addEventListener('click', () => navigator.clipboard.writeText(b.dataset.copy).then(() => say('Copied ' + b.dataset.copy)));
	}

	// Of tabs that do not fit, the one that is shown is in sight.
	for (const tab of document.querySelectorAll('.tabs [aria-current]')) {
		const box = tab.parentElement.getBoundingClientRect();
		const at = tab.getBoundingClientRect();
		if (at.right > box.right) tab.parentElement.scrollLeft += at.right - box.right + 24;
	}

	// One menu is open at a time; Escape and a click elsewhere close it.
	document.addEventListener('click', (e) => {
		for (const d of document.querySelectorAll('details.menu[open]')) if (!d.contains(e.target)) d.open = false;
	});

	// What is typed into the form of a task is kept while the tab lives, by task.
	const draft = (form) => {
		const of = form.querySelector('[name="case"]');
		return of && form.querySelector('textarea[name="comment"]') ? 'draft-' + of.value : '';
	};
	const restore = (root) => {
		for (const form of root.querySelectorAll('form')) {
			const key = draft(form);
			const area = key && form.querySelector('textarea[name="comment"]');
			if (area && !area.value && sessionStorage.getItem(key)) area.value = sessionStorage.getItem(key);
		}
	};
	document.addEventListener('input', (e) => {
		const form = e.target.closest('form');
		if (form && e.target.name === 'comment' && draft(form)) sessionStorage.setItem(draft(form), e.target.value);
		e.target.dataset.changed = '1';
	});
	document.addEventListener('submit', (e) => {
		const key = draft(e.target);
		if (key && !(e.submitter && e.submitter.name === 'show')) sessionStorage.removeItem(key);
	});
	restore(document);

	// A file that is dropped onto a form is taken as if it had been chosen. A form that asks for
	// nothing else is sent.
	for (const input of document.querySelectorAll('label.drop input[type=file]:not([multiple])')) {
		input.form.addEventListener('dragover', (e) => { if ([...e.dataTransfer.types].includes('Files')) e.preventDefault(); });
		input.form.addEventListener('drop', (e) => {
			if (!e.dataTransfer.files.length) return;
			e.preventDefault();
			const one = new DataTransfer();
			one.items.add(e.dataTransfer.files[0]);
			input.files = one.files;
			say('Taken: ' + e.dataTransfer.files[0].name);
			if ('atOnce' in input.form.dataset) input.form.requestSubmit();
		});
	}

	// Before a form is sent, the server is asked whether it is there and the session lasts.
	// Otherwise the page stays as it is, with what was typed, and says what to do.
	const asks = async () => {
		try {
			return (await fetch('/search?part=results&q=', { credentials: 'same-origin' })).status;
		} catch { return 0; }
	};
	const goes = new WeakSet();
	const waiting = new WeakSet();
	const send = (form, by) => { goes.add(form); form.requestSubmit(by); };
	const unsent = (form, by, why) => {
		const note = document.createElement('div');
		note.className = 'note bad';
		note.id = 'unsent';
		note.setAttribute('role', 'alert');
		const text = document.createElement('span');
		text.textContent = why + ' Nothing was sent, and what you wrote stays here. ';
		const again = document.createElement('button');
		again.className = 'b b-s';
		again.type = 'button';
		again.textContent = 'Try again';
		again.addEventListener('click', () => form.requestSubmit(by));
		note.append(text, again);
		if (form.hidden) form.before(note);
		else form.prepend(note);
	};
	const logIn = (form, by) => {
		const box = document.createElement('dialog');
		box.className = 'pal';
		box.id = 'log-in';
		box.setAttribute('aria-labelledby', 'log-in-h');
		box.innerHTML = '<form class="body stack-s" method="dialog"><h2 id="log-in-h">Your session has ended</h2><p class="sub">Log in, and what you wrote is sent as it is. With a code or a provider, <a href="/login" target="_blank" rel="noopener">log in in another tab</a>, then send the form again.</p><div class="note bad" role="alert" hidden></div>' +
			'<div class="f"><label for="log-in-u">Name</label><input class="in" id="log-in-u" name="name" autocomplete="username" autocapitalize="none" spellcheck="false" required></div><div class="f"><label for="log-in-p">Password</label><input class="in" id="log-in-p" name="password" type="password" autocomplete="current-password" required></div>' +
			'<div class="row"><button class="b main-act" type="submit">Log in and send</button><button class="b quiet" type="button">Not now</button></div></form>';
		const said = box.querySelector('.note');
		box.querySelector('button[type=button]').addEventListener('click', () => box.close());
		box.addEventListener('close', () => box.remove());
		box.querySelector('form').addEventListener('submit', async (e) => {
			e.preventDefault();
			const fields = new URLSearchParams(new FormData(e.target));
			fields.set('do', 'login');
			const answer = await fetch('/login', { method: 'POST', body: fields, redirect: 'manual', credentials: 'same-origin' }).catch(() => null);
			if (answer && answer.type === 'opaqueredirect') { box.close(); send(form, by); return; }
			const page = new DOMParser().parseFromString(answer ? await answer.text() : '', 'text/html').querySelector('#refused');
			said.textContent = page ? page.textContent.trim() : answer ? 'Your log-in needs a code. Log in in another tab, then send the form again.' : 'The server cannot be reached.';
			said.hidden = false;
		});
		document.body.append(box);
		box.showModal();
	};
	document.addEventListener('submit', async (e) => {
		const form = e.target;
		if (form.method !== 'post' || goes.delete(form)) return;
		e.preventDefault();
		e.stopImmediatePropagation();
		if (waiting.has(form)) return;
		waiting.add(form);
		const by = e.submitter;
		const status = await asks();
		waiting.delete(form);
		const old = document.getElementById('unsent');
		if (old) old.remove();
		if (status === 0) unsent(form, by, 'The server cannot be reached.');
		else if (status === 429) unsent(form, by, 'These were too many requests in a short time. Wait a minute, then try again.');
		else if (status === 503) unsent(form, by, 'The server is busy or stops at the moment. Wait some seconds, then try again.');
		else if (status === 401) logIn(form, by);
		else send(form, by);
	}, true);
	// A row in which something was done stays where it was until the next visit, dimmed, if the
	// list does not have it any more. It is put back when the list is drawn again.
	document.addEventListener('submit', (e) => {
		const row = e.target.closest('#list li.task[id]');
		if (!row || e.submitter && e.submitter.name === 'show') return;
		const shown = row.cloneNode(true);
		for (const c of shown.querySelectorAll('.do, .acts, .check')) c.replaceChildren();
		for (const c of shown.querySelectorAll('.do')) c.remove();
		shown.classList.remove('open');
		shown.classList.add('gone');
		const after = row.previousElementSibling;
		sessionStorage.setItem('done', JSON.stringify({ path: location.pathname, id: row.id, html: shown.outerHTML, after: after ? after.id : '', group: row.closest('section').id || row.closest('section').getAttribute('aria-labelledby') }));
	});
	const putBack = () => {
		const kept = sessionStorage.getItem('done');
		const notice = document.querySelector('#notice');
		if (!kept || !notice) return;
		sessionStorage.removeItem('done');
		const done = JSON.parse(kept);
		const list = document.querySelector('#list');
		if (!list || done.path !== location.pathname || document.getElementById(done.id) || notice.classList.contains('bad')) return;
		const holder = document.createElement('template');
		holder.innerHTML = done.html;
		const row = holder.content.firstElementChild;
		const said = notice.textContent.trim().split('. ')[0].replace(/\.$/, '');
		const words = document.createElement('span');
		words.textContent = said.startsWith('You ') ? said : said[0].toLowerCase() + said.slice(1) + ' by you';
		row.querySelector('.m').append(words);
		const before = document.getElementById(done.after);
		const heading = document.getElementById(done.group);
		const group = heading && heading.closest('section').querySelector('ul');
		if (before) before.after(row);
		else if (group) group.prepend(row);
		else {
			const alone = document.createElement('ul');
			alone.className = 'card';
			alone.append(row);
			list.prepend(alone);
		}
	};
	putBack();
	// The browser itself gives the focus to the field that the address names.
	const opened = document.querySelector('#refused') || !location.hash && document.querySelector('.task.open textarea');
	if (opened) opened.focus();

	// The search as a dialog: results as one types, arrows, Enter. The last query stays.
	let dialog = null;
	const palette = () => {
		const find = document.querySelector('a.find');
		if (!find || !window.HTMLDialogElement) return false;
		if (!dialog) {
			dialog = document.createElement('dialog');
			dialog.className = 'pal';
			dialog.setAttribute('aria-label', 'Search');
			const q = document.createElement('div');
			q.className = 'q';
			const input = document.createElement('input');
			input.type = 'text';
			input.setAttribute('aria-label', 'Search everything');
			input.placeholder = 'A number, a title, a name';
			const key = document.createElement('kbd');
			key.textContent = 'Esc';
			const found = document.createElement('div');
			q.append(find.querySelector('svg').cloneNode(true), input, key);
			dialog.append(q, found);
			document.body.append(dialog);
			let timer = 0;
			let asked = '';
			const links = () => [...found.querySelectorAll('li a')];
			const ask = async () => {
				const text = input.value.trim();
				asked = text;
				const answer = await fetch('/search?part=results&q=' + encodeURIComponent(text), { credentials: 'same-origin' }).catch(() => null);
				if (!answer || !answer.ok || asked !== text) return;
				found.innerHTML = await answer.text();
				say(links().length ? links().length + ' results' : 'Nothing found');
			};
			input.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(ask, 200); sessionStorage.setItem('search', input.value); });
			dialog.addEventListener('keydown', (e) => {
				const all = links();
				const at = all.indexOf(document.activeElement);
				if (e.key === 'ArrowDown') (all[Math.min(at + 1, all.length - 1)] || input).focus();
				else if (e.key === 'ArrowUp') (at > 0 ? all[at - 1] : input).focus();
				else if (e.key === 'Enter' && document.activeElement === input) {
					if (all.length && asked === input.value.trim()) all[0].click();
					else location.href = '/search?q=' + encodeURIComponent(input.value.trim());
				} else return;
				e.preventDefault();
				e.stopPropagation();
			});
			dialog.addEventListener('click', (e) => { if (e.target === dialog) dialog.close(); });
			input.value = sessionStorage.getItem('search') || '';
			if (input.value) ask();
		}
		dialog.showModal();
		dialog.querySelector('input').select();
		return true;
	};
	document.addEventListener('click', (e) => {
		if (e.target.closest('a.find') && !e.ctrlKey && !e.metaKey && palette()) e.preventDefault();
	});
	// A form that says what it would do, beside it, as one types.
	let asked = 0;
	const ask = async (form) => {
		const mine = ++asked;
		const fields = new URLSearchParams(new FormData(form));
		fields.set('show', '1');
		try {
			const answer = await fetch(form.getAttribute('action') + '?part=' + form.dataset.preview, { method: 'POST', body: fields, credentials: 'same-origin' });
			const holder = document.createElement('template');
			holder.innerHTML = answer.ok ? await answer.text() : '';
			const fresh = holder.content.firstElementChild;
			const old = document.getElementById(form.dataset.preview);
			if (mine !== asked || !fresh || !old) return;
			old.replaceChildren(...fresh.childNodes);
			for (const f of form.elements) if (f.id) f.toggleAttribute('aria-invalid', old.querySelector('[data-fault="' + f.id + '"]') !== null);
		} catch { /* the next key asks again */ }
	};
	for (const form of document.querySelectorAll('form[data-preview]')) {
		let soon = 0;
		form.addEventListener('input', () => { clearTimeout(soon); soon = setTimeout(ask, 250, form); });
	}

	// Keys. Those of one letter only outside of fields.
	const rows = () => [...document.querySelectorAll('.task .t a, .tbl .t a')];
	const step = (by) => {
		const all = rows();
		const next = all[Math.min(Math.max(all.indexOf(document.activeElement) + by, 0), all.length - 1)];
		if (next) next.focus();
	};
	let waits = '';
	document.addEventListener('keydown', (e) => {
		const form = e.target.closest && e.target.closest('form');
		if (e.key === 'Enter' && (e.ctrlKey || e.metaKey) && form) { form.requestSubmit(form.querySelector('button.main-act')); return; }
		if (e.key === 'Escape') {
			if (document.querySelector('dialog[open]')) return;
			const menu = document.querySelector('details.menu[open]');
			if (menu) { menu.open = false; menu.querySelector('summary').focus(); return; }
			const close = document.querySelector('.task.open .acts a');
			if (close) close.click();
			return;
		}
		if ((e.ctrlKey || e.metaKey) && e.key === 'k') { if (palette()) e.preventDefault(); return; }
		if (e.ctrlKey || e.metaKey || e.altKey || (e.target.matches && e.target.matches('input:not([type=checkbox]):not([type=radio]), textarea, select'))) return;
		if (document.cookie.split('; ').includes('keys=off') || document.querySelector('dialog[open]')) return;
		const first = waits;
		waits = '';
		if (first === 'g') {
			const to = { t: '/tasks', c: '/cases', r: '/routes', s: '/schedule', l: '/late', d: '/documents' }[e.key];
			const link = to && document.querySelector('.nav a[href="' + to + '"]');
			if (link) link.click();
			return;
		}
		const row = e.target.closest && e.target.closest('.task, tr');
		const of = (what) => (e.target.closest && e.target.closest('tr') || document).querySelector(what);
		const press = (what) => { const b = of(what); if (b) b.click(); return b; };
		switch (e.key) {
		case 'g': waits = 'g'; return;
		case 'j': step(1); break;
		case 'k': step(-1); break;
		case '/': { if (palette()) break; const find = document.querySelector('input[type=search]'); if (!find) return; find.focus(); break; }
		case '?': location.href = '/keys'; break;
		case '.': { const menu = row && row.querySelector('details.menu'); if (!menu) return; menu.open = true; const first = menu.querySelector('a'); if (first) first.focus(); break; }
		case 'a': case 'n': case 'c': {
			const to = e.key === 'c' ? document.querySelector('textarea[name=comment]') : e.key === 'n' ? document.querySelector('.head .end a.b:has(use[href$="#plus"])')
				: row && ([...row.querySelectorAll('[name=do][value=accept]')].map((i) => i.form.querySelector('button'))[0] || row.querySelector('a[href*="do=accept"]'));
			if (!to) return;
			if (e.key === 'c') to.focus(); else to.click();
			break;
		}
		case 'x': { const box = row && row.querySelector('input[type=checkbox]'); if (!box) return; box.checked = !box.checked; break; }
		case 'e': { const act = row && (row.querySelector('.acts [data-first]') || row.querySelector('.acts .b:not(.quiet)')); if (!act) return; act.click(); break; }
		case 'p': if (!press('[aria-label^="Pause "], [aria-label^="Resume "], [href="?do=pause#ask"]')) return; break;
		case 't': if (!press('[href*="?do=trigger#ask"]')) return; break;
		default: return;
		}
		e.preventDefault();
	});

	// Live: regions are fetched again when what they show has changed.
	const regions = () => [...document.querySelectorAll('[data-live][id]')];
	const due = new Map();
	const last = new Map();
	const busy = (r) => r.querySelector('[data-changed], .task.open, details.menu[open]') !== null || r.contains(document.activeElement) && document.activeElement.matches('input, textarea, select') ||
		!document.getSelection().isCollapsed && r.contains(document.getSelection().anchorNode);
	const offer = (r) => {
		if (r.querySelector(':scope > .changed')) return;
		const note = document.createElement('div');
		note.className = 'note info changed';
		const link = document.createElement('a');
		link.href = location.href;
		link.textContent = 'Show it';
		note.append('This has changed. What you wrote stays. ', link);
		r.prepend(note);
	};
	// What became of a case that is gone from a list: the last that somebody did with it.
	const became = async (row, words) => {
		const link = row.querySelector('a[href^="/cases/"]');
		if (!link) return;
		try {
			const answer = await fetch(link.pathname + '?part=log', { credentials: 'same-origin' });
			if (!answer.ok) return;
			const holder = document.createElement('template');
			holder.innerHTML = await answer.text();
			const did = [...holder.content.querySelectorAll('.log .what > span')].find((s) => s.querySelector('b'));
			if (did) words.textContent = did.textContent.trim();
		} catch { /* the row says that it is gone */ }
	};
	// What a row says, without what only this drawing of it has.
	const saysOf = (row) => row.outerHTML.replace(/ aria-busy="true"|value="[A-Z2-7]{26}"| data-changed="1"|<div class="note info changed">.*?<\/div>/g, '');
	const rowsOf = (r) => [...r.querySelectorAll('li.task[id], .routes > li[id], tr[id]')];
	// A list keeps its rows where they are: those that have changed do so in place, those
	// that are gone stay, dimmed, and new ones are counted above.
	const mergeList = (r, fresh) => {
		let added = 0, asked = 0;
		const there = new Map(rowsOf(r).map((row) => [row.id, row]));
		for (const row of rowsOf(fresh)) {
			const old = there.get(row.id);
			there.delete(row.id);
			if (!old) added++;
			else if (saysOf(old) !== saysOf(row)) {
				if (old.querySelector('[data-changed]')) { offer(old); continue; }
				const focused = old.contains(document.activeElement);
				old.replaceWith(row);
				if (focused) { const a = row.querySelector('a'); if (a) a.focus(); }
			}
		}
		for (const row of there.values()) {
			if (row.classList.contains('gone')) continue;
			if (row.querySelector('[data-changed]')) { offer(row); continue; }
			row.classList.add('gone');
			for (const c of row.querySelectorAll('.acts, .check')) c.replaceChildren();
			const m = row.querySelector('.m, .sub');
			if (!m) continue;
			const words = document.createElement('span');
			words.textContent = 'not in this list any more';
			m.append(words);
			if (asked++ < 5) became(row, words);
		}
		if (added) {
			let bar = r.querySelector(':scope > .newbar');
			if (!bar) { bar = document.createElement('div'); bar.className = 'newbar'; r.prepend(bar); }
			const link = document.createElement('a');
			link.href = location.href;
			link.textContent = 'Show';
			bar.replaceChildren(added + ' new. ', link);
			say(added + ' new');
		}
	};
	// Of regions that list cases: which cases the events since the last drawing were about;
	// null if they were about something else, too.
	const about = new Map();
	const note = (r, event) => {
		if (!('cases' in r.dataset)) return;
		const of = /^\/dav\/Workflow\/Cases\/(\d+)[./]/.exec(event.href || '');
		if (!about.has(r.id)) about.set(r.id, new Set());
		if (event.reset || !of) about.set(r.id, null);
		else if (about.get(r.id)) about.get(r.id).add(of[1]);
	};
	// A region that is drawn again stays as it is if it says the same. What is folded out in it
	// stays so, and the focus stays where it was.
	const replace = (r, fresh) => {
		const folds = (of) => [...of.querySelectorAll('details:not(.menu)')];
		const open = new Set(folds(r).filter((d) => d.open).map((d) => (d.querySelector('summary') || d).textContent));
		for (const d of folds(fresh)) if (open.has((d.querySelector('summary') || d).textContent)) d.open = true;
		if (saysOf(r) === saysOf(fresh)) return;
		const at = r.contains(document.activeElement) ? document.activeElement : null;
		const same = at && [...fresh.querySelectorAll('a[href], button, summary, [tabindex]')].find((e) =>
			e.tagName === at.tagName && e.textContent === at.textContent && e.getAttribute('href') === at.getAttribute('href') && e.getAttribute('aria-label') === at.getAttribute('aria-label'));
		r.replaceWith(fresh);
		if (!at) return;
		if (same) { same.focus(); return; }
		const heading = fresh.querySelector('h1, h2, h3');
		if (heading) { heading.tabIndex = -1; heading.focus(); say(heading.textContent + ' has changed'); }
	};
	const refresh = async (r) => {
		const at = new URL(location.href);
		at.searchParams.set('part', r.id);
		const ids = about.get(r.id);
		about.delete(r.id);
		// If the list shows none of them, the server says whether it is to show one now.
		if (ids && ids.size <= 100 && ![...ids].some((id) => r.querySelector('#c' + id + ', #t' + id))) at.searchParams.set('changed', [...ids].join(','));
		// The open row of a list stays open.
		if (r.id !== 'list') for (const name of ['open', 'do']) at.searchParams.delete(name);
		r.setAttribute('aria-busy', 'true');
		try {
			const answer = await fetch(at, { credentials: 'same-origin' });
			if (!answer.ok || answer.status === 204) return;
			const holder = document.createElement('template');
			holder.innerHTML = await answer.text();
			const fresh = holder.content.firstElementChild;
			if (!fresh || !r.isConnected) return;
			if (r.id === 'list') mergeList(r, fresh);
			else if (busy(r)) offer(r);
			else {
				const mark = r.querySelector('#live'), drawn = fresh.querySelector('#live');
				if (mark && drawn) drawn.replaceWith(mark); // it says what this page hears
				replace(r, fresh);
			}
		} catch { /* the stream tells when the server is back */ } finally { r.removeAttribute('aria-busy'); }
	};
	// What has no events is asked for until it has turned.
	setInterval(() => { for (const r of document.querySelectorAll('[data-poll][id]')) if (!document.hidden) refresh(r); }, 3000);
	const plan = (r) => {
		if (due.has(r.id)) return;
		const least = r.id === 'list' ? 5000 : 1000;
		const wait = Math.max(150, (last.get(r.id) || 0) + least - Date.now());
		due.set(r.id, setTimeout(() => {
			due.delete(r.id);
			last.set(r.id, Date.now());
			const now = document.getElementById(r.id);
			if (now && !document.hidden) refresh(now);
			else missed = true;
		}, wait));
	};
	let missed = false;
	const got = (event) => {
		if (event.state === 'ended') { ended(); return; }
		if (event.state) { live(event.state === 'open'); return; }
		for (const r of regions()) {
			if (event.reset || r.dataset.live.split(' ').some((p) => event.href.startsWith(p))) { note(r, event); plan(r); }
		}
	};
	document.addEventListener('visibilitychange', () => { if (!document.hidden && missed) { missed = false; got({ reset: true }); } });
	let lost = 0;
	// The session has ended: the page leads to the log-in, unless something was typed, which
	// is sent after a log-in.
	const ended = () => {
		if (!document.querySelector('[data-changed], dialog[open]')) { location.reload(); return; }
		const mark = document.getElementById('live');
		if (!mark) return;
		clearTimeout(lost);
		mark.hidden = false;
		mark.className = 'live off';
		mark.textContent = 'Your session has ended';
	};
	const live = (on) => {
		const mark = document.getElementById('live');
		if (!mark) return;
		clearTimeout(lost);
		if (on) { mark.hidden = false; mark.className = 'live'; mark.textContent = 'Live'; return; }
		lost = setTimeout(() => {
			mark.hidden = false;
			mark.className = 'live off';
			mark.textContent = 'Not live since ' + new Date().toTimeString().slice(0, 5) + ', tries again';
		}, 10000);
	};
	if (regions().length && 'EventSource' in window) {
		const channel = new BroadcastChannel('flowdrive-events');
		channel.onmessage = (m) => got(m.data);
		const listen = () => {
			const tell = (event) => { channel.postMessage(event); got(event); };
			let again = false;
			const open = () => {
				const stream = new EventSource('/events');
				stream.onopen = () => { tell({ state: 'open' }); if (again) tell({ reset: true }); again = true; };
				stream.onerror = async () => {
					tell({ state: 'lost' });
					// It tries again by itself, except after an answer that is not a stream.
					if (stream.readyState !== EventSource.CLOSED) return;
					if (await asks() === 401) tell({ state: 'ended' });
					setTimeout(open, 5000);
				};
				stream.addEventListener('reset', () => tell({ reset: true }));
				for (const kind of ['case', 'task', 'schedule', 'route', 'document']) stream.addEventListener(kind, (e) => tell(JSON.parse(e.data)));
			};
			open();
		};
		if (navigator.locks) navigator.locks.request('flowdrive-events', () => new Promise(listen));
		else listen();
	}
})();

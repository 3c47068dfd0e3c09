// Uploads with their progress, for the pages of documents. Without this the form of the
// page uploads by itself.
(() => {
	'use strict';
	const card = document.getElementById('upload');
	if (!card) return;
	const form = card.querySelector('form');
	const input = form.querySelector('input[type=file]');
	const base = card.dataset.upload;
	const sprite = document.querySelector('.path use').getAttribute('href').split('#')[0];
	const say = (text) => { document.getElementById('say').textContent = text; };
	const size = (n) => n < 1e6 ? Math.ceil(n / 1e3) + ' KB' : (n / 1e6).toFixed(1) + ' MB';
	const make = (name, attributes, ...children) => {
		const svg = name === 'svg' || name === 'use' || name === 'rect';
		const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
		for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
		e.append(...children);
		return e;
	};
	const icon = (name) => make('svg', { class: 'i', 'aria-hidden': 'true' }, make('use', { href: sprite + '#' + name }));
	const button = (text, act) => { const b = make('button', { class: 'b b-s', type: 'button' }, text); b.addEventListener('click', act); return b; };
	let list = null;
	const waiting = [];
	let running = 0;
	const next = () => {
		while (running < 2 && waiting.length) { running++; waiting.shift()(); }
		if (!running && list && !list.querySelector('[data-open]')) renew();
	};
	// The list is fetched again when all is stored.
	const renew = async () => {
		const at = new URL(location.href);
		at.search = '?part=list';
		const answer = await fetch(at, { credentials: 'same-origin' });
		const old = document.getElementById('list');
		if (!answer.ok || !old) return;
		const holder = document.createElement('template');
		holder.innerHTML = await answer.text();
		old.replaceWith(holder.content.firstElementChild);
	};
	const numbered = (name, n) => {
		const dot = name.lastIndexOf('.');
		return dot > 0 ? name.slice(0, dot) + ' (' + n + ')' + name.slice(dot) : name + ' (' + n + ')';
	};
	const send = (file) => {
		if (!list) {
			list = make('ul', {});
			const shown = make('section', { class: 'card', id: 'uploads', 'aria-labelledby': 'uploads-h' }, make('header', {}, make('h2', { id: 'uploads-h' }, 'Uploads')), list);
			card.before(shown);
		}
		const mark = make('span', { class: 'st now' }, icon('queued'));
		const told = make('span', { class: 'sub' }, 'waits');
		const acts = make('span', { class: 'row' });
		const value = make('rect', { class: 'val', width: '0', height: '8', rx: '1' });
		const bar = make('svg', { class: 'bar', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, make('rect', { class: 'track', width: '100', height: '8', rx: '1' }), value);
		const row = make('li', { class: 'up', 'data-open': '1' }, mark, make('span', {}, file.name + ' ', told), acts, bar);
		list.append(row);
		let name = file.name;
		let replace = false;
		let tries = 0;
		let n = 1;
		const become = (kind, shape, text, ...buttons) => {
			mark.className = 'st ' + kind;
			mark.replaceChildren(icon(shape));
			told.textContent = text;
			acts.replaceChildren(...buttons);
			value.setAttribute('class', kind === 'bad' ? 'val bad' : 'val');
		};
		const over = (kind, shape, text, ...buttons) => {
			become(kind, shape, text, ...buttons);
			say(file.name + ': ' + text);
			running--;
			next();
		};
		const end = () => row.removeAttribute('data-open');
		const again = () => { row.dataset.open = '1'; waiting.push(run); become('now', 'queued', 'waits'); next(); };
		const run = () => {
			const request = new XMLHttpRequest();
			let sent = 0;
			const stop = button('Cancel', () => request.abort());
			become('now', 'running', '', stop);
			request.open('PUT', base + '/' + encodeURIComponent(name));
			if (!replace) request.setRequestHeader('If-None-Match', '*');
			if (file.type) request.setRequestHeader('Content-Type', file.type);
			request.upload.addEventListener('progress', (e) => {
				sent = e.loaded;
				value.setAttribute('width', e.total ? String(100 * e.loaded / e.total) : '0');
				told.textContent = size(e.loaded) + ' of ' + size(file.size);
			});
			request.addEventListener('abort', () => { end(); over('', 'cancelled', 'canceled. Nothing is stored of it.'); });
			request.addEventListener('error', () => {
				const text = size(sent) + ' sent, then the connection was lost. Nothing is stored of it.';
				if (++tries <= 3) { become('bad', 'failed', text + ' It is tried again.'); setTimeout(run, 1000 * tries); return; }
				over('bad', 'failed', text, button('Try again', () => { tries = 0; again(); }));
			});
			request.addEventListener('load', () => {
				if (request.status < 300) {
					end();
					value.setAttribute('width', '100');
					const open = make('a', { class: 'b b-s quiet', href: base + '/' + encodeURIComponent(name) }, 'Open');
					over('good', 'done', size(file.size) + ', stored' + (name === file.name ? '' : ' as ' + name), open);
					return;
				}
				if (request.status === 412 && !replace) {
					if (n > 1 && n < 100) { name = numbered(file.name, ++n); run(); return; }
					over('warn', 'warn', 'The name is taken.',
						button('Replace', () => { replace = true; again(); }),
						button('Keep both', () => { n = 2; name = numbered(file.name, n); again(); }),
						button('Skip', () => { end(); become('', 'cancelled', 'skipped'); next(); }));
					return;
				}
				let detail = 'The server answered ' + request.status + '.';
				try { detail = JSON.parse(request.responseText).detail || detail; } catch { /* it is no problem document */ }
				if (request.status === 401) detail = 'You are not logged in any more. Log in in another tab, then try again.';
				over('bad', 'denied', detail, button('Try again', again));
			});
			request.send(file);
		};
		waiting.push(run);
		next();
	};
	form.addEventListener('submit', (e) => {
		if (!input.files.length) return;
		e.preventDefault();
		for (const file of input.files) send(file);
		form.reset();
	});
	input.addEventListener('change', () => form.requestSubmit());
	form.querySelector('.row > button').hidden = true; // choosing files is enough
	input.classList.add('vh');
	input.previousElementSibling.textContent = 'Drop files here, or choose them';
	form.querySelector('fieldset').hidden = true; // it asks for each
	for (const drop of [card, document.getElementById('list')]) {
		drop.addEventListener('dragover', (e) => { if ([...e.dataTransfer.types].includes('Files')) e.preventDefault(); });
		drop.addEventListener('drop', (e) => {
			if (!e.dataTransfer.files.length) return;
			e.preventDefault();
			for (const file of e.dataTransfer.files) send(file);
		});
	}
})();

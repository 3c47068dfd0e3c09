// The editor of a route: a link to a fault leads to its place, F8 to the next one; what is
// typed is kept while the tab lives, and leaving it asks.
(() => {
	'use strict';
	const area = document.getElementById('f-source');
	const form = document.getElementById('edit');
	if (!area || !form) return;
	const say = (text) => { const p = document.getElementById('say'); if (p) p.textContent = text; };
	const key = 'route-' + location.pathname;
	const stored = area.defaultValue;
	let sending = false;

	const kept = sessionStorage.getItem(key);
	if (kept !== null && kept !== stored && !document.getElementById('refused')) {
		const note = document.createElement('div');
		note.className = 'note info';
		const take = document.createElement('button');
		take.className = 'b b-s';
		take.type = 'button';
		take.textContent = 'Take it back';
		take.addEventListener('click', () => {
			area.value = kept;
			area.dispatchEvent(new Event('input', { bubbles: true }));
			note.remove();
			area.focus();
		});
		const drop = document.createElement('button');
		drop.className = 'b b-s quiet';
		drop.type = 'button';
		drop.textContent = 'Throw it away';
		drop.addEventListener('click', () => { sessionStorage.removeItem(key); note.remove(); });
		note.append('There is text that was not stored. ', take, drop);
		form.before(note);
	}
	area.addEventListener('input', () => sessionStorage.setItem(key, area.value));
	// What is sent is kept, too: the session may have ended. Once it is stored, it is what
	// the page has when it is opened again.
	form.addEventListener('submit', () => { sending = true; });
	if (kept === stored) sessionStorage.removeItem(key);
	addEventListener('beforeunload', (e) => { if (!sending && area.value !== stored) e.preventDefault(); });

	const lead = (link) => {
		const lines = area.value.split('\n');
		const line = Math.min(Number(link.dataset.line) || 1, lines.length);
		const start = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0);
		const from = start + Math.min(Math.max((Number(link.dataset.column) || 1) - 1, 0), lines[line - 1].length);
		area.focus();
		area.setSelectionRange(from, start + lines[line - 1].length);
		area.scrollTop = Math.max(0, (line - 4) * area.scrollHeight / lines.length);
		say('Line ' + line);
	};
	document.addEventListener('click', (e) => {
		const link = e.target.closest('a[data-line]');
		if (!link) return;
		e.preventDefault();
		lead(link);
	});
	// What is wrong is underlined in its place: by a copy of the text that lies above it and
	// of which nothing else is seen.
	const copy = document.createElement('pre');
	copy.className = 'faults';
	copy.setAttribute('aria-hidden', 'true');
	const holder = document.createElement('div');
	holder.className = 'marked';
	area.before(holder);
	const numbers = document.createElement('pre');
	numbers.className = 'lines';
	numbers.setAttribute('aria-hidden', 'true');
	holder.append(area, copy, numbers);
	const scroll = () => { numbers.scrollTop = copy.scrollTop = area.scrollTop; copy.scrollLeft = area.scrollLeft; };
	let numbered = 0;
	const number = () => {
		const lines = area.value.split('\n').length;
		if (lines !== numbered) numbers.textContent = Array.from({ length: lines }, (_, i) => i + 1).join('\n');
		numbered = lines;
		scroll();
	};
	area.addEventListener('input', number);
	number();
	const underline = () => {
		const found = new Map();
		for (const link of document.querySelectorAll('#check a[data-line]')) {
			const line = Number(link.dataset.line);
			if (!found.has(line)) found.set(line, [Math.max(0, (Number(link.dataset.column) || 1) - 1), link.closest('.warn') ? 'doubt' : 'fault']);
		}
		const parts = [];
		area.value.split('\n').forEach((text, i) => {
			const [from, kind] = found.get(i + 1) || [text.length, ''];
			parts.push(text.slice(0, from));
			if (kind) {
				const mark = document.createElement('mark');
				mark.className = kind;
				mark.textContent = text.slice(from) || ' ';
				parts.push(mark);
			}
			parts.push('\n');
		});
		copy.replaceChildren(...parts);
		scroll();
	};
	area.addEventListener('scroll', scroll);
	area.addEventListener('input', () => { copy.replaceChildren(); }); // it is checked again soon
	// While there are faults, the picture of the last text without any stays.
	const check = document.getElementById('check');
	let picture = null;
	const keepPicture = () => {
		const drawn = check.querySelector('section:has(> .dia)');
		if (drawn) { picture = drawn; return; }
		if (!picture) return;
		picture.querySelector('.sub').textContent = 'as it was last valid';
		check.append(picture);
	};
	if (check) {
		keepPicture();
		new MutationObserver(() => { keepPicture(); underline(); }).observe(check, { childList: true });
	}
	underline();
	let at = -1;
	document.addEventListener('keydown', (e) => {
		if (e.key !== 'F8') return;
		const all = [...document.querySelectorAll('#check a[data-line]')];
		if (!all.length) return;
		e.preventDefault();
		at = (at + (e.shiftKey ? all.length - 1 : 1)) % all.length;
		lead(all[at]);
	});
})();

// The manual: a block of code is copied by its button, and "/" leads to the search.
(() => {
	'use strict';
	const say = (text) => { const p = document.getElementById('say'); if (p) p.textContent = text; };
	for (const b of document.querySelectorAll('button[data-copy]')) {
		if (!navigator.clipboard) continue;
		b.hidden = false;
		b.addEventListener('click', () => navigator.clipboard.writeText(b.dataset.copy).then(() => say('Copied')));
	}
	document.addEventListener('keydown', (e) => {
		if (e.key !== '/' || e.ctrlKey || e.metaKey || e.altKey || e.target.closest('input, textarea')) return;
		const q = document.querySelector('.side input[name="q"]');
		if (q) { e.preventDefault(); q.focus(); }
	});
})();

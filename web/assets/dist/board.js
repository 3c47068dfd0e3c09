// The board: a card is moved by pointer or keys. What a card can do is in data-ways, as
// the server has written it; to drop it sends the form that the page has for moves.
(() => {
	'use strict';
	const say = (text) => { const p = document.getElementById('say'); if (p) p.textContent = text; };
	const form = document.getElementById('move');
	const board = () => document.getElementById('board');
	if (!form || !board()) return;
	for (const p of document.querySelectorAll('.with-script')) p.hidden = false;
	let lifted = null; // {card, ways, lanes, at}

	const titleOf = (lane) => lane.querySelector('h2').textContent.trim().replace(/\s+\S+$/, '');
	const waysTo = (lane) => lifted.ways.filter((w) => w.to.includes(lane.dataset.state));
	const hintOf = (ways) => {
		const names = ways.map((w) => w.title).join(' or ');
		return 'Drop here: ' + names + (ways.some((w) => w.decided) ? '; the outcome decides where it goes' : '');
	};
	const lift = (card) => {
		putBack();
		const ways = JSON.parse(card.dataset.ways);
		lifted = { card, ways, lanes: [], at: -1 };
		card.classList.add('lift');
		card.dataset.changed = '1'; // the page is not drawn again meanwhile
		for (const lane of board().querySelectorAll('.lane')) {
			const to = waysTo(lane);
			if (!to.length || lane.contains(card)) continue;
			lane.classList.add('target');
			const hint = lane.querySelector('.hint');
			hint.textContent = hintOf(to);
			hint.hidden = false;
			lifted.lanes.push(lane);
		}
		say(lifted.lanes.length ? 'Lifted. It can go to ' + lifted.lanes.map(titleOf).join(', ') + '.' : 'It can go nowhere.');
	};
	const putBack = () => {
		if (!lifted) return;
		lifted.card.classList.remove('lift');
		delete lifted.card.dataset.changed;
		for (const lane of lifted.lanes) {
			lane.classList.remove('target', 'over');
			lane.querySelector('.hint').hidden = true;
		}
		lifted = null;
	};
	const send = (card, way, to) => {
		form.elements.case.value = card.dataset.case;
		form.elements.from.value = card.closest('.lane').dataset.state;
		form.elements.way.value = way;
		form.elements.to.value = to;
		form.requestSubmit();
	};
	const drop = (lane) => {
		const ways = waysTo(lane);
		const { card } = lifted;
		if (!lifted.lanes.includes(lane)) { putBack(); say('Put back.'); return; }
		putBack();
		if (ways.length > 1) { location.href = card.querySelector('.go').href; return; }
		const way = ways[0];
		if (way.ask) { location.href = way.ask; return; }
		say(way.title + ': ' + titleOf(lane));
		if (way.decided) send(card, way.action, '');
		else send(card, '', lane.dataset.state);
	};
	const choose = (by) => {
		if (!lifted.lanes.length) return;
		lifted.at = (lifted.at + by + lifted.lanes.length) % lifted.lanes.length;
		for (const lane of lifted.lanes) lane.classList.toggle('over', lane === lifted.lanes[lifted.at]);
		const lane = lifted.lanes[lifted.at];
		lane.scrollIntoView({ block: 'nearest', inline: 'nearest' });
		say(titleOf(lane) + '. ' + lane.querySelector('.hint').textContent);
	};
	document.addEventListener('keydown', (e) => {
		const card = e.target.closest && e.target.closest('.kard[data-ways]');
		if (e.key === 'Escape' && lifted) { const back = lifted.card; putBack(); back.focus(); say('Put back.'); e.preventDefault(); e.stopImmediatePropagation(); return; }
		if (!card || e.target !== card) return;
		if (e.key === ' ') {
			e.preventDefault();
			if (!lifted) lift(card);
			else if (lifted.at >= 0) drop(lifted.lanes[lifted.at]);
			else { putBack(); say('Put back.'); }
		} else if (lifted && (e.key === 'ArrowRight' || e.key === 'ArrowLeft')) {
			e.preventDefault();
			choose(e.key === 'ArrowRight' ? 1 : lifted.at < 0 ? 0 : -1);
		}
	}, true);

	// The pointer. Touch scrolls; there the menu moves.
	let press = null;
	document.addEventListener('pointerdown', (e) => {
		const card = e.target.closest('.kard[data-ways]');
		if (!card || e.button !== 0 || e.pointerType === 'touch' || e.target.closest('.go')) return;
		press = { card, x: e.clientX, y: e.clientY, moved: false };
	});
	document.addEventListener('dragstart', (e) => { if (press && press.card.contains(e.target)) e.preventDefault(); });
	const laneAt = (e) => { const at = document.elementFromPoint(e.clientX, e.clientY); return at && at.closest('.lane'); };
	document.addEventListener('pointermove', (e) => {
		if (!press) return;
		if (!press.moved) {
			if (Math.hypot(e.clientX - press.x, e.clientY - press.y) < 6) return;
			press.moved = true;
			document.getSelection().removeAllRanges();
			document.body.classList.add('dragging');
			lift(press.card);
		}
		if (!lifted) return;
		const over = laneAt(e);
		for (const lane of lifted.lanes) lane.classList.toggle('over', lane === over);
		e.preventDefault();
	});
	const release = (e) => {
		if (!press) return;
		const moved = press.moved;
		press = null;
		document.body.classList.remove('dragging');
		if (!moved || !lifted) return;
		const lane = e.type === 'pointerup' ? laneAt(e) : null;
		if (lane) drop(lane); else { putBack(); say('Put back.'); }
		// The click that follows does not open the card.
		const swallow = (c) => { c.preventDefault(); c.stopPropagation(); };
		document.addEventListener('click', swallow, true);
		setTimeout(() => document.removeEventListener('click', swallow, true), 0);
	};
	document.addEventListener('pointerup', release);
	document.addEventListener('pointercancel', release);
})();

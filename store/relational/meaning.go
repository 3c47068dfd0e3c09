package relational

import "flowdrive/store"

const (
	selectMeanings = `
		SELECT m.route_id, m.kind, m.folded, m.upto, m.meant_id, coalesce(p.name, r.name, '') FROM meanings m
			LEFT JOIN parties p ON m.kind = 'party' AND p.id = m.meant_id
			LEFT JOIN routes r ON m.kind = 'route' AND r.id = m.meant_id
		WHERE m.route_id = ?1 AND m.upto = (SELECT min(upto) FROM meanings x
			WHERE x.route_id = m.route_id AND x.kind = m.kind AND x.folded = m.folded AND x.upto >= ?2) ORDER BY m.kind, m.folded`
	putMeaning = `
		INSERT INTO meanings (route_id, kind, folded, upto, meant_id) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (route_id, kind, folded, upto) DO UPDATE SET meant_id = excluded.meant_id`
	replaceMeant = `UPDATE meanings SET meant_id = ?3 WHERE kind = ?1 AND meant_id = ?2`
)

// Meanings returns what names in a version of a route mean that are not the names
// of those.
func (r routeReader) Meanings(route, version int64) (all []store.Meaning, err error) {
	err = r.c.Each(selectMeanings, func(scan Scan) error {
		var m store.Meaning
		err := scan(&m.RouteID, (*string)(&m.Kind), &m.Folded, &m.Upto, &m.MeantID, &m.Name)
		all = append(all, m)
		return err
	}, route, version)
	return all, Failure("read what names in a route mean", err)
}

// PutMeaning stores what a name means.
func (t routeWriter) PutMeaning(m *store.Meaning) error {
	_, err := t.c.Exec(putMeaning, m.RouteID, string(m.Kind), m.Folded, m.Upto, m.MeantID)
	return Failure("store what a name in a route means", err)
}

// ReplaceMeant lets all names that mean one party mean another.
func (t routeWriter) ReplaceMeant(kind store.MeaningKind, from, to int64) error {
	_, err := t.c.Exec(replaceMeant, string(kind), from, to)
	return Failure("store what names in routes mean", err)
}

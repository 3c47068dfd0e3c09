package engine

import (
	"cmp"
	"slices"

	"flowdrive/engine/hook"
	"flowdrive/schedule"
	"flowdrive/store"
)

// namedSecret is a secret of the settings that something stored names, whether there is one
// of that name or not.
type namedSecret struct {
	Name string   `json:"name"`
	By   []string `json:"by"`
}

// secretNames finds which secrets the newest versions of routes, hooks and entries name.
type secretNames struct {
	*base
	by map[string][]string
}

// all returns the secrets by name. What names each is in order, too.
func (e secretNames) all(r store.Reader) ([]namedSecret, error) {
	for _, info := range e.rights.Routes() {
		used, err := e.use(r, info)
		if err != nil {
			return nil, err
		}
		for _, reach := range used.Compiled.Reaches() {
			if reach.Kind.OfSecret() {
				e.add(reach.Name, "route "+info.Name)
			}
		}
		if err := e.ofHooks(r, info.ID, info.Name); err != nil {
			return nil, err
		}
	}
	entries, err := r.Entries().Holding(`"secret"`)
	if err != nil {
		return nil, err
	}
	for i := range entries {
		of := schedule.HeartbeatOf(entries[i].Form)
		if of == nil {
			continue
		}
		of.Each(func(_ string, a schedule.Address) {
			if a.Secret != "" {
				e.add(a.Secret, "schedule entry "+entries[i].UUID.String())
			}
		})
	}
	out := make([]namedSecret, 0, len(e.by))
	for name, by := range e.by {
		slices.Sort(by)
		out = append(out, namedSecret{name, slices.Compact(by)})
	}
	slices.SortFunc(out, func(a, b namedSecret) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

func (e secretNames) ofHooks(r store.Reader, routeID int64, name string) error {
	hooks, err := r.Routes().Hooks().OfRoute(routeID)
	if err != nil {
		return err
	}
	for i := range hooks {
		settings, err := hook.SettingsOf(&hooks[i])
		if err != nil {
			return err
		}
		if settings.Verify.Secret != "" {
			e.add(settings.Verify.Secret, "hook "+hooks[i].Name+" of route "+name)
		}
	}
	return nil
}

func (e secretNames) add(name, by string) { e.by[name] = append(e.by[name], by) }

package store

// SettingReader reads settings of the whole store.
type SettingReader interface {
	Get(key string) (string, error) // "" for none
	// Under returns the settings whose keys begin with a prefix, without it. Those that
	// are "" are left out.
	Under(prefix string) (map[string]string, error)
}

// SettingWriter writes settings.
type SettingWriter interface {
	Put(key, value string) error // "" deletes it
}

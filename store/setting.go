package store

// SettingReader reads settings of the whole store.
type SettingReader interface {
	Get(key string) (string, error) // "" for none
}

// SettingWriter writes settings.
type SettingWriter interface {
	Put(key, value string) error
}

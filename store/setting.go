package store

// SettingReader reads settings of the whole store.
type SettingReader interface {
	Setting(key string) (string, error) // "" for none
}

// SettingWriter writes settings.
type SettingWriter interface {
	PutSetting(key, value string) error
}

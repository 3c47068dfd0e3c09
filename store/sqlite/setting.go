package sqlite

const (
	selectSetting = `SELECT value FROM settings WHERE key = ?1`
	upsertSetting = `INSERT INTO settings (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2`
)

// Get returns the value of a setting, "" for none.
func (r settingReader) Get(key string) (value string, err error) {
	_, err = r.c.row(selectSetting, key).scan(&value)
	return value, failure("read a setting", err)
}

// Put stores a setting.
func (t settingWriter) Put(key, value string) error {
	_, err := t.c.exec(upsertSetting, key, value)
	return failure("store a setting", err)
}

package relational

const (
	selectSetting = `SELECT value FROM settings WHERE key = ?1`
	upsertSetting = `INSERT INTO settings (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2`
)

// Get returns the value of a setting, "" for none.
func (r settingReader) Get(key string) (value string, err error) {
	_, err = r.c.Row(selectSetting, key).Scan(&value)
	return value, Failure("read a setting", err)
}

// Put stores a setting.
func (t settingWriter) Put(key, value string) error {
	_, err := t.c.Exec(upsertSetting, key, value)
	return Failure("store a setting", err)
}

package relational

const (
	selectSetting       = `SELECT value FROM settings WHERE key = ?1`
	selectSettingsUnder = `SELECT substr(key, length(?1) + 1), value FROM settings WHERE substr(key, 1, length(?1)) = ?1 AND value <> ''`
	deleteSetting       = `DELETE FROM settings WHERE key = ?1`
	upsertSetting       = `INSERT INTO settings (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2`
)

// Get returns the value of a setting, "" for none.
func (r settingReader) Get(key string) (value string, err error) {
	_, err = r.c.Row(selectSetting, key).Scan(&value)
	return value, Failure("read a setting", err)
}

// Under returns the settings whose keys begin with a prefix.
func (r settingReader) Under(prefix string) (map[string]string, error) {
	all := map[string]string{}
	err := r.c.Each(selectSettingsUnder, func(scan Scan) error {
		var key, value string
		if err := scan(&key, &value); err != nil {
			return err
		}
		all[key] = value
		return nil
	}, prefix)
	return all, Failure("read settings", err)
}

// Put stores a setting; "" is as good as none, and its key may be somebody's address.
func (t settingWriter) Put(key, value string) error {
	if value == "" {
		_, err := t.c.Exec(deleteSetting, key)
		return Failure("delete a setting", err)
	}
	_, err := t.c.Exec(upsertSetting, key, value)
	return Failure("store a setting", err)
}

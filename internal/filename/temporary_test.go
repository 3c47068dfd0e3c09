package filename

import "testing"

func TestTemporaryFileOfSed(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"sed7kS6JV": true, "sedAbCdEf": true, "sed000000": true,
		"sedentary": false, "sedation": false, "sed7kS6J": false, "sed7kS6JVx": false, "sed7kS.JV": false, "sed": false, "Sed7kS6JV": false,
	} {
		if got := Temporary(name); got != want {
			t.Errorf("Temporary(%q) = %v", name, got)
		}
	}
}

package server

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"flowdrive/internal/errs"
)

// MaxPassword is the longest password, in bytes.
const MaxPassword = 1024

// Costs are those of argon2id.
type Costs struct {
	Memory  uint32 // KiB
	Time    uint32
	Threads uint8
}

// RecommendedCosts returns the recommendation of OWASP's Password Storage Cheat
// Sheet for argon2id with the least memory: as strong as the others there,
// and a log-in must not be what a small server needs its memory for.
func RecommendedCosts() Costs { return Costs{Memory: 7 << 10, Time: 5, Threads: 1} }

const (
	saltLength = 16
	keyLength  = 32
)

// passwordHash is an encoded hash in its parts.
type passwordHash struct {
	Costs
	salt []byte
	key  []byte
}

// deriveFunc is argon2.IDKey; tests count its calls.
type deriveFunc func(password, salt []byte, time, memory uint32, threads uint8, keyLen uint32) []byte

// Hash returns the argon2id hash of a password in the PHC string
// format, for Accounts to keep. A password has 1 to MaxPassword bytes of
// UTF-8 without control characters, which no client could send (RFC 7617);
// else the error is of kind errs.Invalid.
func (c Costs) Hash(password string) (string, error) {
	switch {
	case password == "":
		return "", errs.New(errs.Invalid, "A password must not be empty.")
	case len(password) > MaxPassword:
		return "", errs.New(errs.Invalid, "A password must have at most %d bytes.", MaxPassword)
	case !sendable(password):
		return "", errs.New(errs.Invalid, "A password must be UTF-8 without control characters.")
	}
	h := passwordHash{Costs: c, salt: make([]byte, saltLength)}
	if _, err := rand.Read(h.salt); err != nil {
		return "", errs.Wrap("server.Costs.Hash", err)
	}
	h.key = h.derive(argon2.IDKey, password)
	return h.String(), nil
}

// derive returns the key of a password. Clients differ in how they compose
// accented letters, so it is of the normal form (RFC 7617, section 2.1).
func (h *passwordHash) derive(f deriveFunc, password string) []byte {
	length := max(len(h.key), keyLength)
	// The last hash's memory is garbage of megabytes on a heap of few: without
	// this the next hash comes on top of it.
	if h.Memory >= 1<<10 {
		defer runtime.GC()
	}
	return f(norm.NFC.Bytes([]byte(password)), h.salt, h.Time, h.Memory, h.Threads, uint32(length))
}

// matches reports whether the password is the one that was hashed.
func (h *passwordHash) matches(f deriveFunc, password string) bool {
	return subtle.ConstantTimeCompare(h.derive(f, password), h.key) == 1
}

// String returns the PHC string.
func (h *passwordHash) String() string {
	enc := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.Memory, h.Time, h.Threads,
		enc.EncodeToString(h.salt), enc.EncodeToString(h.key))
}

// parseHash reads a PHC string. It refuses costs that would stop the server.
func parseHash(encoded string) (*passwordHash, bool) {
	parts := strings.Split(encoded, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != "v="+strconv.Itoa(argon2.Version) {
		return nil, false
	}
	var h passwordHash
	costs := strings.Split(parts[3], ",")
	if len(costs) != 3 {
		return nil, false
	}
	memory, ok1 := cost(costs[0], "m=", 1<<20)
	time, ok2 := cost(costs[1], "t=", 64)
	threads, ok3 := cost(costs[2], "p=", 64)
	if !ok1 || !ok2 || !ok3 || memory < 8*threads {
		return nil, false
	}
	h.Costs = Costs{Memory: memory, Time: time, Threads: uint8(threads)}
	var err1, err2 error
	h.salt, err1 = base64.RawStdEncoding.Strict().DecodeString(parts[4])
	h.key, err2 = base64.RawStdEncoding.Strict().DecodeString(parts[5])
	const longest = 256
	if err1 != nil || err2 != nil || len(h.salt) < 8 || len(h.salt) > longest || len(h.key) < keyLength || len(h.key) > longest {
		return nil, false
	}
	return &h, true
}

func cost(text, name string, most uint64) (uint32, bool) {
	digits, ok := strings.CutPrefix(text, name)
	n, err := strconv.ParseUint(digits, 10, 32)
	return uint32(n), ok && err == nil && n >= 1 && n <= most
}

// sendable reports whether Basic can carry the text.
func sendable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] == 0x7f {
			return false
		}
	}
	return utf8.ValidString(text)
}

package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/google/uuid"
)

// UUID is 128 bits; its text is 32 hex digits.
type UUID [16]byte

// Digest is the SHA-256 of some bytes.
type Digest [32]byte

// DigestOf returns the digest of the bytes.
func DigestOf(data []byte) Digest { return sha256.Sum256(data) }

// Short returns the part of the digest that ETags carry: 128 bits.
func (d Digest) Short() []byte { return d[:16] }

// NewUUID returns a random UUID (RFC 9562, version 4).
func NewUUID() UUID { return UUID(uuid.New()) }

// ParseUUID reads a UUID with or without dashes and braces, in either case.
func ParseUUID(text string) (u UUID, ok bool) {
	if inner, braced := strings.CutPrefix(text, "{"); braced {
		if inner, braced = strings.CutSuffix(inner, "}"); !braced {
			return UUID{}, false
		}
		text = inner
	}
	switch len(text) {
	case 36:
		if text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
			return UUID{}, false
		}
		text = text[:8] + text[9:13] + text[14:18] + text[19:23] + text[24:]
	case 32:
	default:
		return UUID{}, false
	}
	_, err := hex.Decode(u[:], []byte(text))
	return u, err == nil
}

// String returns the 32 hex digits, lower-case.
func (u UUID) String() string { return hex.EncodeToString(u[:]) }

// Braced returns the form of JSON documents: {8-4-4-4-12}.
func (u UUID) Braced() string { return "{" + uuid.UUID(u).String() + "}" }

package store

import (
	"fmt"
	"strings"
)

// Key names an object: parts with slashes between them, at least two, of small letters of ASCII, digits, dots and hyphens. A part
// begins and ends with a letter or a digit; the first, which names the space, has no others. A key has at most MaxKey bytes. So a
// key is a path on every file system, also one that knows no capitals, and a subject of NATS. A key may continue another one.
//
// Bytes stand in a key as base32 in small letters or as hex.
type Key string

// MaxKey is how many bytes a key may have: file names have 255, and some file systems (eCryptfs) 143 a part.
const (
	MaxKey  = 240
	maxPart = 120
)

// Check returns ErrKey, with the key and the reason, if no store takes the key.
func (k Key) Check() error {
	space, rest, found := strings.Cut(string(k), "/")
	switch {
	case len(k) > MaxKey:
		return fmt.Errorf("%w: it has %d bytes, at most %d may be", ErrKey, len(k), MaxKey)
	case !found:
		return fmt.Errorf("%w: %q has one part, and the first only names the space", ErrKey, string(k))
	case strings.ContainsAny(space, ".-"):
		return fmt.Errorf("%w: the first part of %q has other than letters and digits", ErrKey, string(k))
	}
	for part := range strings.SplitSeq(space+"/"+rest, "/") {
		if !IsPart(part) {
			return fmt.Errorf("%w: the part %q of %q", ErrKey, part, string(k))
		}
	}
	return nil
}

// Space is the first part of a key that passed Check, or of a prefix.
func (k Key) Space() string {
	space, _, _ := strings.Cut(string(k), "/")
	return space
}

// CheckPrefix returns ErrKey if no key that a store takes begins with prefix, or if prefix ends within a part. The empty one passes.
func CheckPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	if !strings.HasSuffix(prefix, "/") {
		return fmt.Errorf("%w: the prefix %q does not end with a slash", ErrKey, prefix)
	}
	return Key(prefix + "a").Check()
}

// CheckWatch is CheckPrefix where the prefix may not be empty.
func CheckWatch(prefix string) error {
	if prefix == "" {
		return fmt.Errorf("%w: what is watched has a prefix", ErrKey)
	}
	return CheckPrefix(prefix)
}

// CheckBody returns ErrKey, or ErrTooLarge for a body above MaxBody.
func CheckBody(key Key, body []byte) error {
	if err := key.Check(); err != nil {
		return err
	}
	if len(body) > MaxBody {
		return fmt.Errorf("%w: it has %d bytes, at most %d may be", ErrTooLarge, len(body), MaxBody)
	}
	return nil
}

// IsPart reports whether s may stand between the slashes of a key.
func IsPart(s string) bool {
	if s == "" || len(s) > maxPart || !alphanumeric(s[0]) || !alphanumeric(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if !alphanumeric(s[i]) && s[i] != '.' && s[i] != '-' {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

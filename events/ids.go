package events

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// ID names a record, a turn, an observation, a summary or a memory. New ones are UUIDv7: they sort by time.
type ID = uuid.UUID

// SessionID names one agent session for ever: a UUIDv5 of the agent's name and the agent's own session id.
type SessionID [16]byte

// ErrSessionID is returned by ParseSessionID for text that is not a UUID.
var ErrSessionID = errors.New("events: not a session id")

// sessionNamespace is the UUIDv5 name space of session ids, 7f1d6f4e-6a0b-5c53-9d3f-1f6e2c1b9a10. It is on disk in every
// log: it never changes.
var sessionNamespace = [16]byte{0x7f, 0x1d, 0x6f, 0x4e, 0x6a, 0x0b, 0x5c, 0x53, 0x9d, 0x3f, 0x1f, 0x6e, 0x2c, 0x1b, 0x9a, 0x10}

// SessionIDOf returns the id of the session that agent calls native. Equal arguments give equal ids, on any machine.
func SessionIDOf(agent, native string) SessionID {
	var room [128]byte // on the stack: each hook makes a few
	name := append(room[:0], sessionNamespace[:]...)
	name = append(append(append(name, agent...), 0), native...)
	sum := sha1.Sum(name)
	id := SessionID(sum[:len(SessionID{})])
	id[6] = id[6]&0x0f | 0x50 // version 5
	id[8] = id[8]&0x3f | 0x80 // the variant of RFC 9562
	return id
}

// ParseSessionID reads the form that String writes. The error is ErrSessionID.
func ParseSessionID(s string) (SessionID, error) {
	id, err := uuid.Parse(s)
	if err != nil {
		return SessionID{}, fmt.Errorf("%w: %q", ErrSessionID, s)
	}
	return SessionID(id), nil
}

// String is the usual 36 characters of a UUID.
func (s SessionID) String() string { return uuid.UUID(s).String() }

// MarshalText writes what String returns.
func (s SessionID) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *SessionID) UnmarshalText(b []byte) error {
	id, err := ParseSessionID(string(b))
	*s = id
	return err
}

// IsZero reports whether s names no session.
func (s SessionID) IsZero() bool { return s == SessionID{} }

// Stream is the stream that holds the session's events.
func (s SessionID) Stream() StreamID {
	name := append(make([]byte, 0, len(sessionPrefix)+36), sessionPrefix...) // on the stack: each record read makes one
	start := 0
	for _, end := range [...]int{4, 6, 8, 10, 16} {
		if start > 0 {
			name = append(name, '-')
		}
		name = hex.AppendEncode(name, s[start:end])
		start = end
	}
	return StreamID(name)
}

// StreamID names a stream: "session/<uuid>", "provider/<name>", "daemon", "projects" or "lost". At most MaxStream bytes.
type StreamID string

const (
	// Daemon is the stream of the daemon's own life.
	Daemon StreamID = "daemon"
	// Projects is the stream of what a person decides of which folders are one project.
	Projects StreamID = "projects"
	// Lost is the stream of records that damage took, where nobody says which streams they were in.
	Lost StreamID = "lost"

	sessionPrefix  = "session/"
	providerPrefix = "provider/"
	foreignPrefix  = "log/" // of names that a reader of several logs gives; no log has them

	// MaxStream is the longest stream name in bytes; the header stores its length in one byte.
	MaxStream = 255
)

// ProviderStream is the stream of one provider's pauses.
func ProviderStream(name string) StreamID { return StreamID(providerPrefix + name) }

// Session returns the session whose stream s is; ok is false for other streams. Only the name that SessionID.Stream
// gives is a session's: an id written in another way names another stream.
func (s StreamID) Session() (id SessionID, ok bool) {
	rest, ok := strings.CutPrefix(string(s), sessionPrefix)
	if !ok || len(rest) != 36 || strings.ContainsAny(rest, "ABCDEF") {
		return SessionID{}, false
	}
	id, err := ParseSessionID(rest)
	return id, err == nil
}

// Provider returns the provider whose stream s is; ok is false for other streams.
func (s StreamID) Provider() (name string, ok bool) {
	return strings.CutPrefix(string(s), providerPrefix)
}

// In is what a reader of several logs calls stream s of another log: as it is called there where it is a session's, whose id means the
// same on any machine, else "log/<id>/" and its name.
func (s StreamID) In(log LogID) StreamID {
	if _, session := s.Session(); session {
		return s
	}
	return StreamID(foreignPrefix + log.String() + "/" + string(s))
}

// Foreign undoes In, of a stream that is no session's. It is false for what In did not make.
func (s StreamID) Foreign() (log LogID, stream StreamID, ok bool) {
	rest, ok := strings.CutPrefix(string(s), foreignPrefix)
	id, name, cut := strings.Cut(rest, "/")
	if !ok || !cut || len(id) != 2*len(log) || log.UnmarshalText([]byte(id)) != nil || StreamID(name).In(log) != s {
		return LogID{}, "", false
	}
	return log, StreamID(name), true
}

// Key tells a repeated delivery of the same fact from a new one. The zero Key means that the event has none.
type Key [16]byte

// IsZero reports whether k is no key.
func (k Key) IsZero() bool { return k == Key{} }

// String is 32 hex digits, or "" for the zero key.
func (k Key) String() string {
	if k.IsZero() {
		return ""
	}
	return hex.EncodeToString(k[:])
}

// MarshalText writes what String returns.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (k *Key) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*k = Key{}
		return nil
	}
	if len(b) != 2*len(k) {
		return fmt.Errorf("events: key: want 32 hex digits, got %d characters", len(b))
	}
	_, err := hex.Decode(k[:], b)
	return err
}

// KeyOf derives a key from parts. Parts are length-prefixed, so ("ab","c") and ("a","bc") differ. The result is
// never the zero key.
func KeyOf(parts ...string) Key {
	var room [256]byte // on the stack
	all := room[:0]
	for _, p := range parts {
		all = binary.BigEndian.AppendUint64(all, uint64(len(p)))
		all = append(all, p...)
	}
	sum := sha256.Sum256(all)
	k := Key(sum[:len(Key{})])
	if k.IsZero() {
		k[0] = 1
	}
	return k
}

package space

import (
	"encoding/base32"
	"errors"
	"fmt"
)

// ErrID is returned for text that is no id of a space or a member.
var ErrID = errors.New("space: not an id")

// ID names a space: the beginning of the SHA-256 of its first change.
type ID [20]byte

// MemberID names a machine, an invitation or a recovery code: the beginning of the SHA-256 of its public keys.
type MemberID [16]byte

// String is 32 letters and digits, as they may stand in a store's keys.
func (id ID) String() string { return letters(id[:]) }

// String is 26 letters and digits, as they may stand in a store's keys.
func (id MemberID) String() string { return letters(id[:]) }

// MarshalText writes what String returns.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (id *ID) UnmarshalText(b []byte) error { return readLetters(id[:], b) }

// MarshalText writes what String returns.
func (id MemberID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (id *MemberID) UnmarshalText(b []byte) error { return readLetters(id[:], b) }

func encoding() *base32.Encoding {
	return base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
}

func letters(b []byte) string { return encoding().EncodeToString(b) }

func readLetters(to, text []byte) error {
	b, err := encoding().DecodeString(string(text))
	if err != nil || len(b) != len(to) || letters(b) != string(text) {
		return fmt.Errorf("%w: %.40q", ErrID, text)
	}
	copy(to, b)
	return nil
}

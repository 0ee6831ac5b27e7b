package space

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
)

// ErrCode is returned for text that is no code, or a code that was mistyped.
var ErrCode = errors.New("space: not a code, or one that was mistyped")

// codeVersion is the first byte of a code. What follows: what it is for 1, space 20, secret 16, address, check 4.
const (
	codeVersion     = 1
	codeSecret      = 16
	codeCheck       = 4
	codeFixed       = 2 + len(ID{}) + codeSecret
	maxAddressBytes = 512
	codeGroup       = 6 // characters between two hyphens
)

// Purpose says what a code is for.
type Purpose byte

// What codes are for.
const (
	Invitation Purpose = 'i' // lets one machine in, once, for a day
	Recovery   Purpose = 'r' // lets a machine in at any time
)

// Code lets a machine into a space. Whoever has it reads all that the space holds.
type Code struct {
	Purpose Purpose
	Space   ID
	Address string // of the store, as the caller of Invite gave it; a recovery code has none

	secret [codeSecret]byte
}

func newCode(purpose Purpose, space ID, address string) Code {
	c := Code{Purpose: purpose, Space: space, Address: address}
	rand.Read(c.secret[:]) // never fails
	return c
}

// keys are those of the invitation, or of the recovery.
func (c Code) keys() (*Keys, error) { return keysOf(append([]byte{byte(c.Purpose)}, c.secret[:]...)) }

// String is the code as a person copies it: letters, digits and hyphens.
func (c Code) String() string {
	b := append([]byte{codeVersion, byte(c.Purpose)}, c.Space[:]...)
	b = append(append(b, c.secret[:]...), c.Address...)
	sum := sha256.Sum256(b)
	text := letters(append(b, sum[:codeCheck]...))
	var groups []string
	for len(text) > codeGroup {
		groups, text = append(groups, text[:codeGroup]), text[codeGroup:]
	}
	return strings.Join(append(groups, text), "-")
}

// ParseCode reads what String returned; capitals, spaces and hyphens are as good as none. It returns ErrCode for anything else.
func ParseCode(s string) (Code, error) {
	if len(s) > 4*maxAddressBytes {
		return Code{}, fmt.Errorf("%w: it is %d characters long", ErrCode, len(s))
	}
	text := strings.ToLower(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '-' || r == ' ' || r == '\n' }), ""))
	b, err := encoding().DecodeString(text)
	if err != nil || len(b) < codeFixed+codeCheck || letters(b) != text {
		return Code{}, ErrCode
	}
	b, check := b[:len(b)-codeCheck], b[len(b)-codeCheck:]
	if sum := sha256.Sum256(b); string(sum[:codeCheck]) != string(check) {
		return Code{}, ErrCode
	}
	c := Code{Purpose: Purpose(b[1]), Space: ID(b[2:]), Address: string(b[codeFixed:])}
	copy(c.secret[:], b[2+len(ID{}):])
	if b[0] != codeVersion || c.Purpose != Invitation && c.Purpose != Recovery {
		return Code{}, fmt.Errorf("%w: made by a newer cmemd", ErrCode)
	}
	return c, nil
}

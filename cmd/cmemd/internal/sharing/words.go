package sharing

import (
	"context"
	"errors"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/refusal"
)

// Errors of joining and of what only a machine that has joined can do.
var (
	// ErrWhere is what is neither a folder's absolute path nor the address of a server.
	ErrWhere = errors.New("name a folder by its whole path, or a server as nats://TOKEN@HOST:PORT?pin=HEX")
	// ErrNotJoined is asked of a machine that shares its memory with no other.
	ErrNotJoined = errors.New("this machine shares its memory with no other; `cmemd join` begins")
	// errNotRunning is asked of a machine of a space while nothing is carried: its daemon is starting, or ending.
	errNotRunning = errors.New("sharing with other machines is not running yet, or no longer; ask again in a moment")
	// ErrTaken is a store that has a space already, where one was to be made.
	ErrTaken = errors.New("there is a space already: `cmemd invite` on one of its machines makes a code to enter it; " +
		"--new makes another one beside it")
	// ErrNoCode is a recovery code without a store.
	ErrNoCode = errors.New("a recovery code does not say where the store is: give that before the code")
	// ErrNoDevice is a name that no other machine of the space has.
	ErrNoDevice = errors.New("no other machine is called so; `cmemd devices` lists them")
	// errRevoked is asked of a machine that another one took out.
	errRevoked = errors.New("this machine was revoked: what it records goes to no other, and nothing of theirs comes; " +
		"`cmemd leave`, and a code from `cmemd invite` on another machine lets it in again")
	// ErrAmbiguous is a name that several machines have.
	ErrAmbiguous = errors.New("several machines are called so; give the id, which `cmemd devices` shows")
)

// asRefusal is err in the words for whoever asked. What ends because nobody waits any more stays what it is.
func asRefusal(ctx context.Context, title string, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &refusal.Error{Kind: refusal.Conflict, Title: title, Detail: terminal.Describe(err)}
}

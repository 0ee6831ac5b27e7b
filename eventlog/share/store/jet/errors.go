package jet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/internal/transient"
)

var (
	// ErrRefused is returned by all methods where the server does not let this machine in, or not do this.
	ErrRefused = errors.New("jet: the server refuses this machine")
	// ErrStream is returned where the stream of a space is not as this package makes it.
	ErrStream = errors.New("jet: the stream is not one that cmemd made")
	// These may pass.
	errNoConnection = transient.Mark(errors.New("jet: no connection to the server"))
	errFew          = transient.Mark(errors.New("jet: fewer than three servers of the cluster are there, which a new space takes: start the others"))
	errUnanswered   = transient.Mark(errors.New("jet: the connection was lost before an answer came"))
)

// wrap says which call failed, and marks what may pass.
func (j *Jet) wrap(name, key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("jet: %s %s: %w", name, key, j.classify(err))
}

// classify makes of what nats.go says what store.Store says.
func (j *Jet) classify(err error) error {
	var api *jetstream.APIError
	switch {
	case isOurs(err):
		return err
	case errors.Is(err, nats.ErrConnectionClosed) && j.isClosed():
		return store.ErrClosed
	case isRefusal(err):
		return ErrRefused
	case errors.Is(err, context.Canceled), errors.Is(err, errUnanswered) && !j.isClosed():
		return err
	case errors.Is(err, errUnanswered):
		return store.ErrClosed
	case !j.conn.IsConnected():
		return j.unconnected()
	case errors.As(err, &api) && isFull(api.ErrorCode):
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	case errors.As(err, &api) && api.ErrorCode == noPeers:
		return errFew
	case errors.As(err, &api) && api.Code < http.StatusInternalServerError:
		return err
	}
	return transient.Mark(err)
}

// noPeers is what a cluster says that has fewer servers than are to keep a new stream (server/errors.json).
const noPeers = jetstream.ErrorCode(10005)

// isFull reports whether a server refused for want of room: its own, its account's, or that of the stream's file (server/errors.json).
func isFull(code jetstream.ErrorCode) bool {
	return code == 10023 || code == 10047 || code == 10077
}

// unconnected says why there is no connection, as far as that is known.
func (j *Jet) unconnected() error {
	last := j.trouble.last()
	switch {
	case isRefusal(last), isRefusal(j.conn.LastError()):
		return ErrRefused
	case last == nil:
		return errNoConnection
	case errors.Is(last, errPin):
		return last
	}
	return fmt.Errorf("%w: %w", errNoConnection, last)
}

// isOurs reports whether err is one of those that callers look for already.
func isOurs(err error) bool {
	is := func(ours error) bool { return errors.Is(err, ours) }
	return slices.ContainsFunc([]error{
		store.ErrExists, store.ErrMoved, store.ErrNotFound, store.ErrTooLarge, store.ErrDamaged, store.ErrKey, store.ErrClosed, ErrStream,
	}, is)
}

// isRefusal reports whether a server said that it does not let this machine in. While it connects nats.go gives its words in capitals.
func isRefusal(err error) bool {
	is := func(refusal error) bool {
		return errors.Is(err, refusal) || err != nil && strings.EqualFold(err.Error(), refusal.Error())
	}
	return slices.ContainsFunc([]error{
		nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrPermissionViolation, nats.ErrAccountAuthExpired,
	}, is)
}

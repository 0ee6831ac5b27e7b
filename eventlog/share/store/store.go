package store

import (
	"context"
	"errors"
	"iter"

	"github.com/cmemd/cmemd/internal/transient"
)

// MaxBody is how many bytes a body may have, on every engine. NATS takes 1 MiB a message where nobody configured more; half of that
// takes 4 s at 1 Mbit/s.
const MaxBody = 512 << 10

// Rev names one state of one object; what it looks like is the engine's affair. Two states of a key never have the same one, nor
// has a state that was written again after a deletion. It is the same on all machines and in all lives of a program, so it may
// be kept on disk. The empty one is no state.
type Rev string

// Entry is an object as List and Watch tell it.
type Entry struct {
	Key Key
	Rev Rev // from List it is empty where the engine lists names alone (jet); Watch always tells it
}

var (
	// ErrKey is returned by all methods for a key or a prefix that is not of the form that Key describes.
	ErrKey = errors.New("store: no such key can be")
	// ErrClosed is returned by all methods once Close was called.
	ErrClosed = errors.New("store: closed")
	// ErrExists is returned by Create: the key has an object. Where an earlier call with the same body got no answer, it may be its own.
	ErrExists = errors.New("store: the object exists")
	// ErrMoved is returned by Replace and Delete: the object is there in another state than that of the revision given.
	ErrMoved = errors.New("store: the object was changed by another")
	// ErrNotFound is returned by Get, Replace and Delete: the key has no object.
	ErrNotFound = errors.New("store: no such object")
	// ErrTooLarge is returned by Create and Replace for a body above MaxBody.
	ErrTooLarge = errors.New("store: the body is too large")
	// ErrFull is returned by Create and Replace: the engine has no room. It may pass, when whoever runs it makes some.
	ErrFull = transient.Mark(errors.New("store: there is no room for more"))
	// ErrDamaged is returned, wrapped with the key, for an object that this engine did not write so: cut, too large, a link, a pipe.
	ErrDamaged = errors.New("store: the object is damaged")
)

// Store keeps objects. All methods may be called at once; bodies belong to the caller, before a call and after it. Errors name the
// key. Those that may pass (no connection, no space, no leader) are marked with internal/transient, and so is the end of ctx;
// ErrDamaged is marked where the object may still be on its way.
type Store interface {
	Reader
	Writer
	// Overwrites reports whether Delete overwrites the bytes where they were, but for the engine's own journal.
	Overwrites() bool
	// Close lets go of the connection; calls that are under way end with ErrClosed or as they would have. It may be called twice.
	Close() error
}

// Reader is the part of a Store that changes nothing.
type Reader interface {
	// Get returns the body of key and its revision. What Create, Replace or Delete answered to anybody before Get was called is
	// seen, on a Strong store on every machine. It returns ErrNotFound or ErrDamaged.
	Get(ctx context.Context, key Key) ([]byte, Rev, error)
	// List returns the first limit objects whose keys begin with prefix and are greater than after, in the order of their keys'
	// bytes; fewer than limit only at the end. A prefix ends with a slash; the empty one is all. A limit below 1 is 1,000. What
	// was answered before is seen, as by Get. Files and messages that no store wrote are passed over. See All.
	List(ctx context.Context, prefix string, after Key, limit int) ([]Entry, error)
	// Watch yields the objects whose keys begin with prefix, which is not empty: first all that are there, then each in its new
	// state as it changes, until ctx is done. States that were replaced soon may be passed over and others yielded twice;
	// deletions are not yielded. While the connection is cut it waits, and goes on with what changed meanwhile. It ends after the
	// first error that it yields, and without one when ctx is done; whoever wants more watches again.
	Watch(ctx context.Context, prefix string) iter.Seq2[Entry, error]
}

// Writer is the part of a Store that changes objects.
type Writer interface {
	// Create stores body under key if the key has no object, and returns its revision. It is durable when Create returns. It
	// returns ErrExists if the key has one, and ErrTooLarge. An empty body is a body.
	Create(ctx context.Context, key Key, body []byte) (Rev, error)
	// Replace puts body in place of the object's state rev, and returns the new revision. It is durable when Replace returns. It
	// returns ErrMoved if the object is in another state, ErrNotFound if there is none, and ErrTooLarge.
	Replace(ctx context.Context, key Key, rev Rev, body []byte) (Rev, error)
	// Delete removes the object in its state rev; the bytes are overwritten where Overwrites says so. It is durable when Delete
	// returns. It returns ErrMoved if the object is in another state and ErrNotFound if there is none.
	Delete(ctx context.Context, key Key, rev Rev) error
}

// listLimit is how many entries a List without a limit returns.
const listLimit = 1000

// Limit is what a limit given to List means.
func Limit(limit int) int {
	if limit < 1 {
		return listLimit
	}
	return limit
}

// Put stores body under key in the place of the object's state rev, or where rev is empty of none. Its errors are those of Create and
// of Replace.
func Put(ctx context.Context, s Writer, key Key, rev Rev, body []byte) (Rev, error) {
	if rev == "" {
		return s.Create(ctx, key, body)
	}
	return s.Replace(ctx, key, rev, body)
}

// All yields the objects whose keys begin with prefix and are greater than after, in the order of their keys, page by page. It
// ends after the first error that it yields.
func All(ctx context.Context, s Reader, prefix string, after Key) iter.Seq2[Entry, error] {
	return AllBy(ctx, s, prefix, after, listLimit)
}

// AllBy is All with pages of so many objects, as Limit has it: of a store that opens a file for each that it lists no more are listed than
// are wanted.
func AllBy(ctx context.Context, s Reader, prefix string, after Key, limit int) iter.Seq2[Entry, error] {
	limit = Limit(limit)
	return func(yield func(Entry, error) bool) {
		for {
			page, err := s.List(ctx, prefix, after, limit)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
			if len(page) < limit {
				return
			}
			after = page[len(page)-1].Key
		}
	}
}

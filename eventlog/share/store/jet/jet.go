package jet

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/internal/transient"
)

// errBusy is returned where a change was refused or not taken and all is as it was: another is under way. It may pass.
var errBusy = transient.Mark(errors.New("jet: another change is under way"))

// Create implements store.Store. It makes the space's stream if there is none.
func (j *Jet) Create(ctx context.Context, key store.Key, body []byte) (rev store.Rev, err error) {
	err = j.do(ctx, "create", string(key), len(body), store.CheckBody(key, body), func(ctx context.Context) error {
		return untilDone(ctx, func() error {
			if _, err := j.makeStream(ctx, key.Space()); err != nil {
				return err
			}
			seq, err := j.publish(ctx, key, 0, body)
			if isConflict(err) {
				return j.whyNotCreated(ctx, key)
			}
			rev = revOf(seq)
			return err
		})
	})
	return orNone(rev, err), err
}

// Replace implements store.Store.
func (j *Jet) Replace(ctx context.Context, key store.Key, at store.Rev, body []byte) (rev store.Rev, err error) {
	err = j.do(ctx, "replace", string(key), len(body), store.CheckBody(key, body), func(ctx context.Context) error {
		seq, ok := seqOf(at)
		if !ok {
			return j.whyNotReplaced(ctx, key, at)
		}
		return untilDone(ctx, func() error {
			next, err := j.publish(ctx, key, seq, body)
			if isConflict(err) {
				return j.whyNotReplaced(ctx, key, at)
			}
			if errors.Is(err, jetstream.ErrNoStreamResponse) {
				if _, lostErr := j.stream(ctx, key.Space()); errors.Is(lostErr, store.ErrNotFound) {
					return lostErr
				}
			}
			rev = revOf(next)
			return err
		})
	})
	return orNone(rev, err), err
}

// Get implements store.Store.
func (j *Jet) Get(ctx context.Context, key store.Key) (body []byte, rev store.Rev, err error) {
	err = j.do(ctx, "get", string(key), bodyBytes, key.Check(), func(ctx context.Context) (err error) {
		body, rev, err = j.get(ctx, key)
		return err
	})
	return body, rev, err
}

// Delete implements store.Store.
func (j *Jet) Delete(ctx context.Context, key store.Key, at store.Rev) error {
	return j.do(ctx, "delete", string(key), bodyBytes, key.Check(), func(ctx context.Context) error {
		return untilDone(ctx, func() error {
			// A sequence number may be another key's.
			if err := j.whyNotReplaced(ctx, key, at); !errors.Is(err, errBusy) {
				return err
			}
			seq, _ := seqOf(at)
			s, err := j.stream(ctx, key.Space())
			if err != nil {
				return err
			}
			err = s.SecureDeleteMsg(ctx, seq)
			if errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) { // it was replaced or deleted since
				return j.whyNotReplaced(ctx, key, at)
			}
			return err
		})
	})
}

// Overwrites implements store.Store.
func (j *Jet) Overwrites() bool { return true }

// Close implements store.Store.
func (j *Jet) Close() error {
	j.mu.Lock()
	was := j.closed
	j.closed = true
	j.mu.Unlock()
	if !was {
		close(j.done)
		j.conn.Close()
	}
	return nil
}

// publish stores body under key if its subject is at seq; 0 is without a message.
func (j *Jet) publish(ctx context.Context, key store.Key, seq uint64, body []byte) (uint64, error) {
	ack, err := j.js.PublishMsg(ctx, &nats.Msg{Subject: subjectOf(key), Data: body},
		jetstream.WithExpectLastSequencePerSubject(seq), jetstream.WithExpectStream(streamOf(key.Space())), jetstream.WithRetryAttempts(0))
	if errors.Is(err, jetstream.ErrNoStreamResponse) { // no leader, or no stream any more
		j.forget(key.Space())
	}
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// isConflict reports whether a publication was refused for the sequence number that its subject is at.
func isConflict(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) &&
		(api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// get asks the leader for the newest message of a key's subject.
func (j *Jet) get(ctx context.Context, key store.Key) ([]byte, store.Rev, error) {
	s, err := j.stream(ctx, key.Space())
	if err != nil {
		return nil, "", err
	}
	msg, err := s.GetLastMsgForSubject(ctx, subjectOf(key))
	var api *jetstream.APIError
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, "", store.ErrNotFound
	case errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamNotFound:
		j.forget(key.Space())
		return nil, "", store.ErrNotFound
	case err != nil:
		return nil, "", err
	case len(msg.Data) > store.MaxBody:
		return nil, "", fmt.Errorf("%w: it has %d bytes, at most %d may be", store.ErrDamaged, len(msg.Data), store.MaxBody)
	}
	return msg.Data, revOf(msg.Sequence), nil
}

// whyNotCreated says why a creation was refused: store.ErrExists, or errBusy where there is no object yet.
func (j *Jet) whyNotCreated(ctx context.Context, key store.Key) error {
	_, _, err := j.get(ctx, key)
	switch {
	case err == nil:
		return store.ErrExists
	case errors.Is(err, store.ErrNotFound):
		return errBusy
	}
	return err
}

// whyNotReplaced says why a change of key at a state was refused: store.ErrNotFound, store.ErrMoved, or errBusy where it is in that state.
func (j *Jet) whyNotReplaced(ctx context.Context, key store.Key, at store.Rev) error {
	_, now, err := j.get(ctx, key)
	switch {
	case err != nil:
		return err
	case now != at:
		return store.ErrMoved
	}
	return errBusy
}

func revOf(seq uint64) store.Rev { return store.Rev(strconv.FormatUint(seq, 10)) }

// seqOf is false for a revision that no stream has.
func seqOf(rev store.Rev) (uint64, bool) {
	seq, err := strconv.ParseUint(string(rev), 10, 64)
	return seq, err == nil && seq > 0 && revOf(seq) == rev
}

// orNone is rev unless there is an error.
func orNone(rev store.Rev, err error) store.Rev {
	if err != nil {
		return ""
	}
	return rev
}

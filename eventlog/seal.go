package eventlog

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/cmemd/cmemd/events"
)

// seal encodes, hashes and compresses drafts, and returns about how many bytes their records will take.
func seal(ctx context.Context, codec *events.Codec, stream events.StreamID, drafts []events.Draft) ([]events.Sealed, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if err := checkDrafts(stream, drafts); err != nil {
		return nil, 0, err
	}
	salts := make([]events.Salt, len(drafts))
	sealed := make([]events.Sealed, len(drafts))
	var size int64
	for i, d := range drafts {
		rand.Read(salts[i][:]) // never fails: without randomness it ends the program
		s, err := codec.Seal(d, salts[i])
		if err != nil {
			return nil, 0, fmt.Errorf("eventlog: draft %d for %s: %w", i, stream, err)
		}
		sealed[i] = s
		size += int64(s.Size())
	}
	return sealed, size, nil
}

// checkPayloads returns a *CorruptError for the first record whose payload is not the one it names.
func checkPayloads(ctx context.Context, records []events.Record) error {
	for _, r := range records {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := checkPayload(r); err != nil {
			return err
		}
	}
	return nil
}

// checkPayload returns a *CorruptError unless r's payload is the one its header names.
func checkPayload(r events.Record) error {
	if err := r.Check(); err != nil {
		return corruptf(r.Position, r.Stream, "payload: %s", rootReason(err))
	}
	return nil
}

// rootReason is err's text without the sentinel that the caller repeats.
func rootReason(err error) string {
	if errors.Is(err, events.ErrCorrupt) {
		return "is not what the header names"
	}
	return err.Error()
}

// checkDrafts returns ErrInvalid for what no log takes.
func checkDrafts(stream events.StreamID, drafts []events.Draft) error {
	if err := checkStream(stream); err != nil {
		return err
	}
	for i, d := range drafts {
		if d.ID == (events.ID{}) || d.Event == nil {
			return fmt.Errorf("%w: draft %d for %s has no id or no event", ErrInvalid, i, stream)
		}
	}
	return nil
}

// checkStream refuses names that cannot be stored. Those that begin with NUL up to space are the log's own.
func checkStream(stream events.StreamID) error {
	if stream == "" || len(stream) > events.MaxStream || stream[0] <= ' ' {
		return fmt.Errorf("%w: stream %.40q", ErrInvalid, string(stream))
	}
	return nil
}

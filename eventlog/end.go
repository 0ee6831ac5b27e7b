package eventlog

import (
	"context"
	"errors"

	"github.com/cmemd/cmemd/events"
)

// AppendEnd appends drafts at the end of stream, wherever that is: for streams that several writers share and whose
// events do not depend on each other. It is safe for concurrent use. Errors are those of Append, without
// ErrWrongVersion.
func AppendEnd(ctx context.Context, log Log, stream events.StreamID, drafts ...events.Draft) ([]events.Record, error) {
	for {
		v, _, err := log.Head(ctx, stream)
		if err != nil {
			return nil, err
		}
		records, err := log.Append(ctx, stream, v, drafts...)
		if !errors.Is(err, ErrWrongVersion) {
			return records, err
		}
	}
}

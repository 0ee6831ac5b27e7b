package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/cmemd/cmemd/internal/api"
)

// awaitResult reads progress, and then a result into out or a problem.
func awaitResult(ctx context.Context, r io.Reader, progress func(api.Progress), out any) error {
	for m, err := range messages(r) {
		if err != nil {
			return cut(ctx, err)
		}
		if done, err := m.workDone(progress, out); done || err != nil {
			return err
		}
	}
	return cut(ctx, io.ErrUnexpectedEOF)
}

// workDone takes one message and reports whether it was the last one.
func (m message) workDone(progress func(api.Progress), out any) (done bool, err error) {
	switch m.event {
	case api.EventResult:
		return true, json.Unmarshal(m.data, out)
	case api.EventProblem:
		p := new(api.Problem)
		if err := json.Unmarshal(m.data, p); err != nil {
			return true, fmt.Errorf("api: problem: %w", err)
		}
		return true, p
	case api.EventProgress:
		var p api.Progress
		if err := json.Unmarshal(m.data, &p); err != nil {
			return true, fmt.Errorf("api: progress: %w", err)
		}
		if progress != nil {
			progress(p)
		}
	}
	return false, nil
}

// maxMessage bounds one server-sent event: a record with the largest payload, in JSON.
const maxMessage = 128 << 20

// message is one server-sent event. Its data lives until the next one.
type message struct {
	id, event string
	data      []byte
}

// messages reads server-sent events from r. Comments and unknown fields are passed over; an event that its empty line
// does not end is not given out. The sequence ends with r, or after an error.
func messages(r io.Reader) iter.Seq2[message, error] {
	return func(yield func(message, error) bool) {
		in := bufio.NewScanner(r)
		in.Buffer(make([]byte, 0, 64<<10), maxMessage)
		var m message
		var data []byte
		for in.Scan() {
			line := in.Bytes()
			if len(line) == 0 {
				m.data = bytes.TrimSuffix(data, []byte("\n"))
				if data != nil && !yield(m, nil) {
					return
				}
				m, data = message{}, nil
				continue
			}
			name, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(name) {
			case "id":
				m.id = string(value)
			case "event":
				m.event = string(value)
			case "data":
				data = append(append(data, value...), '\n')
			}
		}
		if err := in.Err(); err != nil {
			yield(message{}, err)
		}
	}
}

// cut names an answer that stopped in the middle.
func cut(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, api.ErrNoAnswer):
		return api.ErrNoAnswer
	}
	return fmt.Errorf("%w: %w", api.ErrCut, err)
}

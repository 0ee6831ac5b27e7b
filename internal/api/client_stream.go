package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/url"
)

// work sends a request whose answer is progress, and then a result or a problem, as server-sent events.
func work[T any](
	ctx context.Context, c *Client, method, path string, q url.Values, in any, progress func(Progress),
) (T, error) {
	var out T
	err := c.work(ctx, method, path, q, in, progress, &out)
	return out, err
}

func (c *Client) work(
	ctx context.Context, method, path string, q url.Values, in any, progress func(Progress), out any,
) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("api: %s: %w", path, err)
		}
		body = bytes.NewReader(b)
	}
	res, err := c.Do(ctx, method, path, q, nil, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	for m, err := range messages(res.Body) {
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
func (m message) workDone(progress func(Progress), out any) (done bool, err error) {
	switch m.event {
	case EventResult:
		return true, json.Unmarshal(m.data, out)
	case EventProblem:
		p := new(Problem)
		if err := json.Unmarshal(m.data, p); err != nil {
			return true, fmt.Errorf("api: problem: %w", err)
		}
		return true, p
	case EventProgress:
		var p Progress
		if err := json.Unmarshal(m.data, &p); err != nil {
			return true, fmt.Errorf("api: progress: %w", err)
		}
		if progress != nil {
			progress(p)
		}
	}
	return false, nil
}

// The names of server-sent events that report work.
const (
	EventProgress = "progress"
	EventResult   = "result"
	EventProblem  = "problem"
)

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

package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// message is one of the protocol, either way: JSON between NUL bytes.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// errGone is what a call returns when the browser has ended.
var errGone = errors.New("browser: it has ended")

// pipe carries calls and their answers, and hands out events.
type pipe struct {
	to io.Writer

	mu      sync.Mutex // guards the fields below
	last    int
	waiting map[int]chan message
	heard   map[string]func(method string, params json.RawMessage) // by session; must not call
	gone    bool
}

func newPipe(to io.Writer) *pipe {
	return &pipe{to: to, waiting: map[int]chan message{}, heard: map[string]func(string, json.RawMessage){}}
}

// listen hands events of a session to f from now on.
func (p *pipe) listen(session string, f func(method string, params json.RawMessage)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard[session] = f
}

// read takes messages until from ends.
func (p *pipe) read(from io.Reader) {
	in := bufio.NewReader(from)
	for {
		b, err := in.ReadBytes(0)
		if err != nil {
			break
		}
		var m message
		if json.Unmarshal(bytes.TrimSuffix(b, []byte{0}), &m) != nil {
			continue
		}
		p.mu.Lock()
		answer, event := p.waiting[m.ID], p.heard[m.Session]
		delete(p.waiting, m.ID)
		p.mu.Unlock()
		switch {
		case m.ID != 0 && answer != nil:
			answer <- m
		case m.ID == 0 && event != nil:
			event(m.Method, m.Params)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
	for _, answer := range p.waiting {
		close(answer)
	}
	clear(p.waiting)
}

// call asks for method, and stores the result where out points, which may be nil.
func (p *pipe) call(ctx context.Context, session, method string, params, out any) error {
	b, err := json.Marshal(params)
	if err != nil {
		return err
	}
	answer := make(chan message, 1)
	if err := p.send(message{Session: session, Method: method, Params: b}, answer); err != nil {
		return fmt.Errorf("browser: %s: %w", method, err)
	}
	select {
	case m, ok := <-answer:
		switch {
		case !ok:
			return fmt.Errorf("browser: %s: %w", method, errGone)
		case m.Error != nil:
			return fmt.Errorf("browser: %s: %s", method, m.Error.Message)
		case out == nil:
			return nil
		}
		return json.Unmarshal(m.Result, out)
	case <-ctx.Done():
		return fmt.Errorf("browser: %s: %w", method, ctx.Err())
	}
}

// send writes m under an id of its own, whose answer goes to the channel.
func (p *pipe) send(m message, answer chan message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return errGone
	}
	p.last++
	m.ID = p.last
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	p.waiting[m.ID] = answer
	_, err = p.to.Write(append(b, 0)) // the browser reads at once, and a message is short: holding mu keeps messages whole
	return err
}

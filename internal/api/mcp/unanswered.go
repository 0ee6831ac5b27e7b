package mcp

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// listening is the request of a client that wants to hear of changes. It stays open as long as the client is there.
const listening = "subscriptions/listen"

// unanswered is which requests of a client are not answered yet, without those that wait for the end themselves. Its methods are safe for
// concurrent use.
type unanswered struct {
	mu   sync.Mutex // guards the fields below
	ids  map[jsonrpc.ID]bool
	none chan struct{} // if somebody waits: closed once there are none
}

// asked notes the requests of a line that was read.
func (u *unanswered) asked(line []byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, m := range messagesOf(line) {
		if q, ok := m.(*jsonrpc.Request); ok && q.IsCall() && q.Method != listening {
			if u.ids == nil {
				u.ids = map[jsonrpc.ID]bool{}
			}
			u.ids[q.ID] = true
		}
	}
}

// answered notes the answers of a line that was written. Where it could not be, no other will be.
func (u *unanswered) answered(line []byte, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, m := range messagesOf(line) {
		if a, ok := m.(*jsonrpc.Response); ok {
			delete(u.ids, a.ID)
		}
	}
	if err != nil {
		clear(u.ids)
	}
	if len(u.ids) == 0 && u.none != nil {
		close(u.none)
		u.none = nil
	}
}

// wait waits until there are none, done is closed, or lastAnswers have passed.
func (u *unanswered) wait(done <-chan struct{}) {
	u.mu.Lock()
	if len(u.ids) == 0 {
		u.mu.Unlock()
		return
	}
	none := make(chan struct{})
	u.none = none
	u.mu.Unlock()
	select {
	case <-none:
	case <-done:
	case <-time.After(lastAnswers):
	}
}

// messagesOf returns the messages of a line that is one, or a batch of them.
func messagesOf(line []byte) []jsonrpc.Message {
	var batch []json.RawMessage
	if json.Unmarshal(line, &batch) != nil {
		batch = []json.RawMessage{line}
	}
	list := make([]jsonrpc.Message, 0, len(batch))
	for _, one := range batch {
		if m, err := jsonrpc.DecodeMessage(one); err == nil {
			list = append(list, m)
		}
	}
	return list
}

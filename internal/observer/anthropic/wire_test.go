package anthropic

import (
	"bytes"
	"testing"
)

// FuzzRead: whatever a service streams, what it is read as has no figure below zero, and is whole only where a stop was said. What was read
// of the beginning of it stays.
func FuzzRead(f *testing.F) {
	f.Add([]byte("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":3}}}\n\n"+
		"data: {\"type\":\"content_block_delta\",\r\ndata: \"delta\":{\"text\":\"a\"}}\r\n\r\n"+
		"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1e3}}\n\n"), 90)
	f.Add([]byte("data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n"), 0)
	f.Fuzz(func(t *testing.T, body []byte, cut int) {
		a := read(body)
		if u := a.Usage; min(u.Input, u.Cached, u.Output) < 0 {
			t.Errorf("usage of %+v", u)
		}
		if a.Whole && a.Error != nil {
			t.Errorf("it is whole, and failed with %s", a.Error)
		}
		part := read(body[:max(0, min(cut, len(body)))])
		if !a.Whole && part.Whole {
			t.Error("the beginning of it is whole")
		}
		if u := part.Usage; u.Input > a.Usage.Input || u.Cached > a.Usage.Cached || u.Output > a.Usage.Output {
			t.Errorf("the beginning used %+v, all of it %+v", u, a.Usage)
		}
		for data := range eventsOf(body) {
			if !bytes.HasSuffix(data, []byte("\n")) {
				t.Errorf("an event's data are %q", data)
			}
		}
	})
}

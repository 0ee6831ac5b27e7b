package gemini

import (
	"encoding/json"
	"testing"
)

// FuzzRead: whatever a service answers, what it is read as has no figure below zero, and is whole only where the service says how it ended.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"candidates":[{"content":{"parts":[{"text":"a"},{"text":"b","thought":true}]},"finishReason":"STOP"}],
		"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1e3,"thoughtsTokenCount":9007199254740993},"modelVersion":"m"}`))
	f.Add([]byte(`{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"candidatesTokenCount":9223372036854775807,"thoughtsTokenCount":1}}`))
	f.Add([]byte(`{"candidates":[null],"usageMetadata":{"promptTokenCount":-1}}`))
	f.Add([]byte(`[{"error":{"code":429}}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a := read(body)
		if u := a.Usage; min(u.Input, u.Cached, u.Output) < 0 {
			t.Errorf("usage of %+v", u)
		}
		if a.Whole && (a.Error != nil || a.Reason == "") {
			t.Errorf("it is whole, and failed with %s, for %q", a.Error, a.Reason)
		}
		if a.Whole && !json.Valid(body) {
			t.Error("it is read, and no JSON")
		}
	})
}

package openai

import (
	"encoding/json"
	"math"
	"testing"
)

// FuzzRead: whatever a service answers, what it is read as has no figure below zero, and is whole only where a choice was given.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"model":"m","choices":[{"finish_reason":"stop","message":{"content":"a"}}],"usage":{"prompt_tokens":3,"completion_tokens":1e3,"cost":0.1}}`))
	f.Add([]byte(`{"choices":[{"finish_reason":"error","error":{"code":502}}],"usage":{"prompt_tokens":-1,"cost":"1e999"}}`))
	f.Add([]byte(`{"error":{"message":"no","code":429}}`))
	f.Add([]byte(`{"choices":[{"message":{"content":null,"refusal":"no"}},null],"usage":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a := read(body)
		if u := a.Usage; min(u.Input, u.Cached, u.Output) < 0 {
			t.Errorf("usage of %+v", u)
		}
		if a.Cost < 0 || math.IsNaN(a.Cost) || math.IsInf(a.Cost, 0) || a.Cost != 0 && !a.CostStated {
			t.Errorf("it cost %v, stated: %t", a.Cost, a.CostStated)
		}
		if a.Whole && a.Error != nil {
			t.Errorf("it is whole, and failed with %s", a.Error)
		}
		if (a.Whole || a.Error != nil) && !json.Valid(body) {
			t.Error("it is read, and no JSON")
		}
	})
}

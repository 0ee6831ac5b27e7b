package model_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/testkit/wiretest"
)

func TestPost(t *testing.T) {
	t.Parallel()
	type said struct {
		Text   string      `json:"text"`
		Tokens model.Count `json:"tokens"`
	}
	answer := func(status int, body string) wiretest.Answer {
		return wiretest.Answer{Status: status, Header: map[string]string{"Content-Type": "application/json"}, Body: body}
	}
	for name, tc := range map[string]struct {
		answer wiretest.Answer
		want   said
		fails  bool
	}{
		"an answer":            {answer(200, `{"text":"x","tokens":12,"more":[1]}`), said{"x", 12}, false},
		"a bill that is none":  {answer(200, `{"text":"x","tokens":"many"}`), said{"x", 0}, false},
		"a bill in fractions":  {answer(200, `{"text":"x","tokens":12.0}`), said{"x", 12}, false},
		"no JSON":              {answer(200, `<html>`), said{}, true},
		"half an answer":       {answer(200, `{"text":"x"`), said{}, true},
		"a refusal":            {answer(400, `{"text":"x"}`), said{}, true},
		"another good status":  {answer(204, ``), said{}, true},
		"text where a part is": {answer(200, `{"text":["x"]}`), said{}, true},
	} {
		server := wiretest.MustServe(t, tc.answer)
		var got said
		raw, err := model.Post(t.Context(), model.NewClient(model.Endpoint{}, "Authorization"), server.URL+"/v1/ask", map[string]string{"q": "a < b"}, &got)
		if failed := err != nil; failed != tc.fails || !failed && cmp.Diff(tc.want, got) != "" || string(raw) != tc.answer.Body {
			t.Errorf("%s: got %+v, %q, %v", name, got, raw, err)
		}
		if r := server.Requests()[0]; r.URL != "/v1/ask" || strings.TrimSpace(r.Body) != `{"q":"a < b"}` || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: sent %+v", name, r)
		}
	}
	if _, err := model.Post(t.Context(), http.DefaultClient, "http://127.0.0.1:1", func() {}, new(said)); err == nil || err == io.EOF {
		t.Errorf("a question that is no JSON: got %v", err)
	}
}

func TestCountsAreReadWhateverTheyAre(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]model.Count{
		"0": 0, "7": 7, "7.9": 7, "1e3": 1000, "-1": 0, "null": 0, `"7"`: 0, "{}": 0, "[1]": 0, "1e300": 0, "true": 0,
	} {
		got := model.Count(99)
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want && text != "null" {
			t.Errorf("%s: got %d, %v, want %d", text, got, err, want)
		}
	}
}

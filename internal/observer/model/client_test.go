package model_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
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
		ok     bool
	}{
		"an answer":            {answer(200, `{"text":"x","tokens":12,"more":[1]}`), said{"x", 12}, true},
		"a bill that is none":  {answer(200, `{"text":"x","tokens":"many"}`), said{"x", 0}, true},
		"a bill in fractions":  {answer(200, `{"text":"x","tokens":12.0}`), said{"x", 12}, true},
		"no JSON":              {answer(200, `<html>`), said{}, false},
		"half an answer":       {answer(200, `{"text":"x"`), said{}, false},
		"a refusal":            {answer(400, `{"text":"x"}`), said{}, false},
		"another good status":  {answer(204, ``), said{}, false},
		"text where a part is": {answer(200, `{"text":["x"]}`), said{}, false},
	} {
		server := wiretest.MustServe(t, tc.answer)
		c := client(t, model.Endpoint{URL: server.URL})
		var got said
		answered := c.Post(t.Context(), "v1/ask", map[string]string{"q": "a < b"})
		if ok := answered.JSON(&got); ok != tc.ok || ok && cmp.Diff(tc.want, got) != "" || answered.Status != tc.answer.Status {
			t.Errorf("%s: got %+v, %+v, want it taken: %t", name, got, answered, tc.ok)
		}
		if good := tc.answer.Status < 300; good != (string(answered.Body) == tc.answer.Body) {
			t.Errorf("%s: kept %q", name, answered.Body)
		}
		if r := server.Requests()[0]; r.URL != "/v1/ask" || strings.TrimSpace(r.Body) != `{"q":"a < b"}` || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: sent %+v", name, r)
		}
	}
	r := client(t, model.Endpoint{URL: "http://127.0.0.1:1"}).Post(t.Context(), "", func() {})
	if failure, ok := errors.AsType[*observer.Failure](r.Failed(t.Context())); !ok || failure.Class != events.FailTransport || failure.Calls != 0 {
		t.Errorf("a question that is no JSON: got %v", failure)
	}
}

func client(t *testing.T, e model.Endpoint) *model.Client {
	t.Helper()
	c, err := model.NewClient(model.Service{Name: "service", KeyHeader: "Authorization"}, "m", e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func TestClientsOfNoService(t *testing.T) {
	t.Parallel()
	s := model.Service{Name: "service", URL: "https://api.example.com/v1"}
	for name, e := range map[string]model.Endpoint{"": {}, "m": {URL: "ftp://x"}} {
		if _, err := model.NewClient(s, name, e); err == nil || strings.Contains(err.Error(), "ftp") || !strings.HasPrefix(err.Error(), "service: ") {
			t.Errorf("%q at %q: got %v", name, e.URL, err)
		}
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

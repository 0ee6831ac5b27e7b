package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/projections/vectors"
)

// request is what an endpoint is sent.
type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions"`
	Format     string   `json:"encoding_format"`
}

// endpoint answers as serve says, on loopback.
func endpoint(t *testing.T, c Config, serve func(http.ResponseWriter, *http.Request, request)) *Asker {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q request
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.URL.Path != "/v1/embeddings" {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		w.Header().Set("Content-Type", "application/json")
		serve(w, r, q)
	}))
	t.Cleanup(s.Close)
	c.Model, c.Endpoint.URL = "some-embedder", s.URL+"/v1"
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.CloseIdleConnections)
	return a
}

// TestEmbed: the texts, the model and the key go out; vectors come back in the texts' order, in whichever they were sent.
func TestEmbed(t *testing.T) {
	t.Parallel()
	key, err := model.NewKey(model.KeySource{Env: "K", Getenv: func(string) string { return "sk-test" }})
	if err != nil {
		t.Fatal(err)
	}
	a := endpoint(t, Config{Endpoint: model.Endpoint{Key: key}, Dimensions: 2}, func(w http.ResponseWriter, r *http.Request, q request) {
		want := request{Model: "some-embedder", Input: []string{"one", "two"}, Dimensions: 2, Format: "float"}
		if diff := cmp.Diff(want, q); diff != "" || r.Header.Get("Authorization") != "Bearer sk-test" {
			t.Errorf("it was sent (-want +got):\n%s%v", diff, r.Header)
		}
		fmt.Fprint(w, `{"object":"list","data":[{"index":1,"embedding":[3,4e0]},{"index":0,"embedding":[-0.5,1e-3]}],"model":"x"}`)
	})
	got, err := a.Embed(t.Context(), []string{"one", "two"})
	if diff := cmp.Diff([][]float32{{-0.5, 1e-3}, {3, 4}}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestFailures: each way to fail is told by its status and its shape, with what follows from it.
func TestFailures(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	for name, tc := range map[string]struct {
		serve func(http.ResponseWriter)
		want  vectors.Failure // Says: a part of it; Until: whether there is one
	}{
		"limit": {func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "120")
			answer(429, `{"error":{"message":"text one was bad"}}`)(w)
		}, vectors.Failure{Says: "429", Retryable: true, Until: time.Now().Add(2 * time.Minute)}},
		"auth":     {answer(401, `{}`), vectors.Failure{Says: "401"}},
		"server":   {answer(500, `{}`), vectors.Failure{Says: "500", Retryable: true}},
		"too long": {answer(400, `{"error":{"message":"maximum context length"}}`), vectors.Failure{Says: "400", BlamesTexts: true}},
		"cut":      {answer(200, `{"data":[{"index":0,"embedd`), vectors.Failure{Says: "broke off", Retryable: true}},
		"NaN":      {answer(200, `{"data":[{"index":0,"embedding":[NaN]},{"index":1,"embedding":[1]}]}`), vectors.Failure{Says: "broke off", Retryable: true}},
		"nothing":  {answer(200, `{"data":[]}`), vectors.Failure{Says: "neither an answer nor a reason"}},
		"fewer":    {answer(200, `{"data":[{"index":0,"embedding":[1]}]}`), vectors.Failure{Says: "1 vectors for 2"}},
		"twice":    {answer(200, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`), vectors.Failure{Says: "or two"}},
		"beyond":   {answer(200, `{"data":[{"index":7,"embedding":[1]}]}`), vectors.Failure{Says: "text 8 of 2"}},
		"no JSON": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			answer(200, `<html>log in`)(w)
		}, vectors.Failure{Says: "no such service"}},
		"elsewhere": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			answer(302, ``)(w)
		}, vectors.Failure{Says: "302"}},
		"too much": {answer(200, `{"data":[{"index":0,"embedding":[`+strings.Repeat("1,", 3<<20)+`1]}]}`), vectors.Failure{Says: "longer than", BlamesTexts: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := endpoint(t, Config{}, func(w http.ResponseWriter, _ *http.Request, _ request) { tc.serve(w) })
			got, err := a.Embed(t.Context(), []string{"text one", "text two"})
			f, ok := errors.AsType[*vectors.Failure](err)
			if !ok || got != nil {
				t.Fatalf("got %v, %v", got, err)
			}
			if !strings.Contains(f.Says, tc.want.Says) || strings.Contains(f.Says, "text one") || f.Retryable != tc.want.Retryable ||
				f.BlamesTexts != tc.want.BlamesTexts || f.Until.IsZero() != tc.want.Until.IsZero() {
				t.Errorf("got %+v, want %+v", *f, tc.want)
			}
		})
	}
}

// TestWrongSize: an endpoint that does not send the dimensions that were asked for is not believed.
func TestWrongSize(t *testing.T) {
	t.Parallel()
	a := endpoint(t, Config{Dimensions: 3}, func(w http.ResponseWriter, _ *http.Request, _ request) {
		fmt.Fprint(w, `{"data":[{"index":0,"embedding":[1,2]}]}`)
	})
	_, err := a.Embed(t.Context(), []string{"one"})
	if f, ok := errors.AsType[*vectors.Failure](err); !ok || !strings.Contains(f.Says, "2 dimensions, and was asked for 3") {
		t.Errorf("got %v", err)
	}
}

// TestHang: an endpoint that does not answer ends with its context; one that is not there is told.
func TestHang(t *testing.T) {
	t.Parallel()
	a := endpoint(t, Config{}, func(_ http.ResponseWriter, r *http.Request, _ request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := a.Embed(ctx, []string{"one"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	a, err := New(Config{Model: "m", Endpoint: model.Endpoint{URL: gone.URL}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Embed(t.Context(), []string{"one"})
	if f, ok := errors.AsType[*vectors.Failure](err); !ok || !f.Retryable || !strings.Contains(f.Says, "connection refused") {
		t.Errorf("got %v", err)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{
		{}, {Model: "m"}, {Endpoint: model.Endpoint{URL: "http://127.0.0.1"}}, {Model: "m", Endpoint: model.Endpoint{URL: "ftp://x"}},
		{Model: "m", Endpoint: model.Endpoint{URL: "https://user@host"}},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v: got no error", c)
		}
	}
}

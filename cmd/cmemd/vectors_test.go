package main

import (
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// embeddings MODE has an endpoint of embeddings for the script, which EMBEDDINGS names: up, down, slow or hung. What it is sent is
// added to the file sent.
func embeddings(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: embeddings up|down|slow|hung")
	}
	at := ts.Getenv("EMBEDDINGS")
	if at == "" {
		e := &embedder{sent: ts.MkAbs("sent"), gone: make(chan struct{})}
		s := httptest.NewServer(e)
		ts.Defer(func() { close(e.gone); s.Close() })
		at = s.URL
		ts.Setenv("EMBEDDINGS", at)
	}
	resp, err := http.Post(at+"/mode/"+args[0], "", nil)
	ts.Check(err)
	ts.Check(resp.Body.Close())
}

// embedder answers as an embeddings endpoint does: texts that share words, or words that mean the same, are near.
type embedder struct {
	sent string
	gone chan struct{} // closed at the end

	mu   sync.Mutex // guards mode, and the file
	mode string
}

func (e *embedder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if mode, ok := strings.CutPrefix(r.URL.Path, "/mode/"); ok {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.mode = mode
		return
	}
	var q struct {
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch e.took(q.Input) {
	case "down":
		w.WriteHeader(http.StatusServiceUnavailable)
	case "hung":
		select {
		case <-r.Context().Done():
		case <-e.gone:
		}
	case "slow":
		time.Sleep(2 * slowerThan)
		fallthrough
	default:
		_ = json.NewEncoder(w).Encode(embedded(q.Input)) // who asked may be gone
	}
}

// slowerThan is what a search waits for a vector: embeddings_timeout without a setting.
const slowerThan = 300 * time.Millisecond

// took notes texts, and returns the mode.
func (e *embedder) took(texts []string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	f, err := os.OpenFile(e.sent, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(strings.Join(texts, "\n") + "\n")
		_ = f.Close()
	}
	if err != nil {
		return "down"
	}
	return e.mode
}

func embedded(texts []string) any {
	type vector struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	var out []vector
	same := strings.NewReplacer("slideshow", "carousel", "pictures", "carousel", "money", "invoice")
	for i, text := range texts {
		v := vector{i, make([]float64, 48)}
		for word := range strings.FieldsSeq(same.Replace(strings.ToLower(text))) {
			h := fnv.New64a()
			h.Write([]byte(word))
			rng := rand.New(rand.NewPCG(h.Sum64(), 3))
			for d := range v.Embedding {
				v.Embedding[d] += rng.NormFloat64()
			}
		}
		out = append(out, v)
	}
	return map[string]any{"object": "list", "data": out}
}

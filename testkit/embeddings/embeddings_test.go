package embeddings

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/projections/vectors/embed"
)

func texts() []string {
	return []string{
		"the cart rounds its total before the discount", "the basket and the cart are one, says the catalog", "the basket is emptied by the checkout",
		"sails are mended in the harbour", "the lighthouse stands above the harbour", "the keeper of the lighthouse reads", "the mast broke", "rope and sail",
	}
}

func cosine(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// Forms of a word, and words of the same texts, are nearer than others; what is said the same way is the same.
func TestNearness(t *testing.T) {
	t.Parallel()
	m := New(texts())
	for _, c := range []struct{ text, near, far string }{
		{"rounding", "rounded", "harbour"},
		{"lighthouse", "keeper", "discount"}, // of one text
		{"cart", "basket", "harbour"},        // of one text
		{"parseFile", "file parsers", "sailing ropes"},
	} {
		if near, far := cosine(m.Vector(c.text), m.Vector(c.near)), cosine(m.Vector(c.text), m.Vector(c.far)); near < far+0.1 {
			t.Errorf("%q: %.3f to %q, %.3f to %q", c.text, near, c.near, far, c.far)
		}
	}
	if got := cosine(m.Vector("a Mast broke!"), m.Vector("mast, broke")); math.Abs(got-1) > 1e-9 {
		t.Errorf("the same words: %f", got)
	}
	for _, text := range []string{"", "…", "the", "x"} {
		v := m.Vector(text)
		if length := cosine(v, v); math.Abs(length-1) > 1e-9 {
			t.Errorf("%q has the length %f", text, length)
		}
	}
}

// The same texts make the same vectors, whatever their order and however often it is asked.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	other := texts()
	slices.Reverse(other)
	for _, text := range append(texts(), "words that stand nowhere else, twice twice") {
		if diff := cmp.Diff(New(texts()).Vector(text), New(other).Vector(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// The endpoint is one that cmemd's own client takes.
func TestServe(t *testing.T) {
	t.Parallel()
	m := New(texts())
	s := httptest.NewServer(m)
	defer s.Close()
	a, err := embed.New(embed.Config{Model: "m", Endpoint: model.Endpoint{URL: s.URL + "/v1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.CloseIdleConnections()
	got, err := a.Embed(t.Context(), []string{"cart", "sail"})
	if err != nil || len(got) != 2 || len(got[0]) != Dimensions {
		t.Fatalf("got %d vectors, %v", len(got), err)
	}
	for i, text := range []string{"cart", "sail"} {
		for d, x := range m.Vector(text) {
			if float32(x) != got[i][d] {
				t.Fatalf("%s: dimension %d is %v, want %v", text, d, got[i][d], x)
			}
		}
	}
	for body, want := range map[string]int{`{"input":"cart"}`: 200, `{"input":7}`: 400, `no JSON`: 400} {
		resp, err := http.Post(s.URL+"/v1/embeddings", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		_, err = b.ReadFrom(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != want || !json.Valid(b.Bytes()) {
			t.Errorf("%s: %d %s, %v; want %d", body, resp.StatusCode, &b, err, want)
		}
	}
}

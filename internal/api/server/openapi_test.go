package server

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/cmemd/cmemd/internal/api"
)

var update = flag.Bool("update", false, "write the description of the API, and add to what it promises")

const (
	describedIn = "../../../docs/openapi.json"
	promisedIn  = "testdata/promised.txt"
)

// described is the description that a daemon gives.
func described(t *testing.T, w *world) (text []byte, doc map[string]any) {
	t.Helper()
	raw, err := api.OpenAPIRoute.Call(t.Context(), w.client, api.NoQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", " "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), doc
}

// TestTheDescription is the one in docs: `go test ./internal/api/server -run TestTheDescription -update` writes it.
func TestTheDescription(t *testing.T) {
	t.Parallel()
	got, _ := described(t, newWorld(t, nil))
	if *update {
		if err := os.WriteFile(describedIn, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(describedIn)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/openapi.json is not what the routes say (-docs +routes):\n%s", diff)
	}
}

// TestEveryPatternIsDescribed: an operation for each route that is bound, with its scope and each of its parameters, and none besides.
func TestEveryPatternIsDescribed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, doc := described(t, w)
	found, ids := map[string]bool{}, map[string]string{}
	for path, item := range doc["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			pattern, op := strings.ToUpper(method)+" "+path, op.(map[string]any)
			found[pattern] = true
			e, bound := w.server.endpoints[pattern]
			if !bound || op["x-scope"] != e.Scope.String() || op["summary"] != e.Doc {
				t.Errorf("%s is described as %v, bound: %t", pattern, op, bound)
			}
			id := op["operationId"].(string)
			if ids[id] != "" {
				t.Errorf("%s and %s are both called %s", ids[id], pattern, id)
			}
			ids[id] = pattern
		}
	}
	for pattern := range w.server.endpoints {
		if !found[pattern] {
			t.Errorf("%s is not described", pattern)
		}
	}
}

// TestTheDescriptionIsOne: it is valid by the schema of OpenAPI 3.1 that its makers publish.
func TestTheDescriptionIsOne(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/openapi-3.1.json")
	if err != nil {
		t.Fatal(err)
	}
	of := resolved(t, text)
	_, doc := described(t, newWorld(t, nil))
	if err := of.Validate(doc); err != nil {
		t.Error(err)
	}
	delete(doc, "info")
	if of.Validate(doc) == nil {
		t.Error("one without info is valid too: the test shows nothing")
	}
}

func resolved(t *testing.T, text []byte) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	of, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// TestAnswersAreAsDescribed asks every route that is answered with JSON, and holds answers and problems to their schemas. What is not
// described is wrong here, though clients pass over it.
func TestAnswersAreAsDescribed(t *testing.T) {
	t.Parallel()
	w, contracts := contracts(t)
	_, doc := described(t, w)
	answers := answerSchemas(t, doc)
	seen := map[string]bool{}
	for _, c := range contracts {
		w.settled(t)
		for _, text := range c.ask(t.Context(), w.client) {
			var answer any
			if err := json.Unmarshal([]byte(text), &answer); err != nil {
				t.Fatal(err)
			}
			schema := c.Pattern()
			if fields, ok := answer.(map[string]any); ok && strings.HasPrefix(fmt.Sprint(fields["type"]), "urn:cmemd:") {
				schema = "problem"
			} else {
				seen[c.Pattern()] = true
			}
			if !answers.has(schema) { // of a route that answers with a status
				continue
			}
			if err := answers.validate(schema, answer); err != nil {
				t.Errorf("%s answers %.300s\n%v", c.Pattern(), text, err)
			}
		}
	}
	if len(seen) < 25 {
		t.Errorf("only %d routes gave an answer", len(seen))
	}
	if answers.validate("GET /v1/status", map[string]any{"nosuch": 1}) == nil {
		t.Error("an unknown field is valid: the test shows nothing")
	}
}

// answers are the schemas of answers by pattern, and that of a problem by that word, closed to what they do not name. They are one schema,
// of an object with each of them as a property: what they share is resolved once.
type answers struct {
	all *jsonschema.Resolved
	of  map[string]any
}

// has reports whether answers of that pattern are described.
func (a answers) has(pattern string) bool { return a.of[pattern] != nil }

// validate holds an answer to the schema of that pattern, which has one.
func (a answers) validate(pattern string, answer any) error {
	return a.all.Validate(map[string]any{pattern: answer})
}

func answerSchemas(t *testing.T, doc map[string]any) answers {
	t.Helper()
	defs := doc["components"].(map[string]any)["schemas"].(map[string]any)
	for _, def := range defs {
		if def := def.(map[string]any); def["properties"] != nil {
			def["additionalProperties"] = false
		}
	}
	of := map[string]any{"problem": map[string]any{"$ref": "#/components/schemas/Problem"}}
	for path, item := range doc["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			ok, _ := op.(map[string]any)["responses"].(map[string]any)[fmt.Sprint(http.StatusOK)].(map[string]any)
			content, _ := ok["content"].(map[string]any)
			for _, kind := range []string{"application/json", "text/event-stream"} {
				if schema, ok := content[kind].(map[string]any); ok && schema["schema"] != nil {
					of[strings.ToUpper(method)+" "+path] = schema["schema"]
				}
			}
		}
	}
	text, err := json.Marshal(map[string]any{"properties": of, "additionalProperties": false, "$defs": defs})
	if err != nil {
		t.Fatal(err)
	}
	return answers{resolved(t, bytes.ReplaceAll(text, []byte("#/components/schemas/"), []byte("#/$defs/"))), of}
}

// TestPromises: whatever was described once is described still. Each line is a parameter, or a field that is given or taken, with its type
// and its words: it may be added, and never goes or becomes narrower. With -update what is new is added.
func TestPromises(t *testing.T) {
	t.Parallel()
	_, doc := described(t, newWorld(t, nil))
	now := promises(doc)
	text, err := os.ReadFile(promisedIn)
	if err != nil && !*update {
		t.Fatal(err)
	}
	promised := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range promised {
		if line != "" && !slices.Contains(now, line) {
			t.Errorf("no more: %s", line)
		}
	}
	if *update {
		all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(promised, now))))
		if err := os.WriteFile(promisedIn, []byte(strings.TrimSpace(strings.Join(all, "\n"))+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range now {
		if !*update && !slices.Contains(promised, line) {
			t.Errorf("new, and not promised yet (-update adds it): %s", line)
		}
	}
}

// promises are what clients may rely on.
func promises(doc map[string]any) (lines []string) {
	for path, item := range doc["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			op, at := op.(map[string]any), strings.ToUpper(method)+" "+path
			lines = append(lines, at)
			params, _ := op["parameters"].([]any)
			for _, p := range params {
				p := p.(map[string]any)
				lines = append(lines, promised(fmt.Sprintf("%s ?%s", at, p["name"]), p["schema"])...)
			}
			if body, ok := op["requestBody"].(map[string]any); ok {
				schema := body["content"].(map[string]any)["application/json"].(map[string]any)["schema"]
				for name, of := range schema.(map[string]any)["properties"].(map[string]any) {
					lines = append(lines, promised(at+" <"+name, of)...)
				}
			}
			for status, answer := range op["responses"].(map[string]any) {
				content, _ := answer.(map[string]any)["content"].(map[string]any)
				for kind, of := range content {
					lines = append(lines, promised(fmt.Sprintf("%s >%s %s", at, status, kind), of.(map[string]any)["schema"])...)
				}
			}
		}
	}
	for name, def := range doc["components"].(map[string]any)["schemas"].(map[string]any) {
		def := def.(map[string]any)
		must, _ := def["required"].([]any)
		fields, _ := def["properties"].(map[string]any)
		for field, of := range fields {
			line := name + "." + field
			if slices.Contains(must, any(field)) {
				line += " always"
			}
			lines = append(lines, promised(line, of)...)
		}
	}
	slices.Sort(lines)
	return lines
}

// promised is what a schema says behind a name: its type, what it refers to or holds, and a line for each word that it may be.
func promised(name string, schema any) (lines []string) {
	s, _ := schema.(map[string]any)
	words, _ := s["enum"].([]any)
	for _, word := range words {
		lines = append(lines, fmt.Sprintf("%s = %v", name, word))
	}
	said := map[string]any{}
	for _, key := range []string{"type", "$ref", "items", "additionalProperties", "maximum", "format"} {
		if s[key] != nil {
			said[key] = s[key]
		}
	}
	text, _ := json.Marshal(said) // always encodes
	return append(lines, name+" "+string(text))
}

// TestTags: who has an answer by GET is told so until it changes; who posts is answered.
func TestTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.work(t, "s1", "mend the cart", "/src/shop/cart.go")
	w.settled(t)
	ask := func(tag string) (status int, now string) {
		res := w.remote(t, func(r *http.Request) {
			r.URL.Path = "/v1/rows"
			if tag != "" {
				r.Header.Set("If-None-Match", tag)
			}
		})
		return res.StatusCode, res.Header.Get("ETag")
	}
	status, first := ask("")
	if status != 200 || first == "" {
		t.Fatalf("got %d, %q", status, first)
	}
	if status, again := ask(first); status != 304 || again != first {
		t.Errorf("the same: %d, %q", status, again)
	}
	w.remember(t, "another")
	w.settled(t)
	if status, then := ask(first); status != 200 || then == first {
		t.Errorf("after a change: %d, %q", status, then)
	}
	res := w.remote(t, func(r *http.Request) {
		r.Method, r.URL.Path, r.Body = "POST", "/v1/rows", io.NopCloser(strings.NewReader(`{"ids":["`+newID().String()+`"]}`))
	})
	if res.StatusCode != 200 || res.Header.Get("ETag") != "" {
		t.Errorf("a post: %s, %v", res.Status, res.Header)
	}
}

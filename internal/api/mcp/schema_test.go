package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cmemd/cmemd/internal/api"
)

// argsOf are the arguments of every tool.
func argsOf() map[string]any {
	return map[string]any{
		"search": searchArgs{}, "timeline": timelineArgs{}, "get": getArgs{}, "why": whyArgs{}, "save": saveArgs{},
		"forget": forgetArgs{}, "status": statusArgs{},
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	c := connect(t, &memory{}, nil)
	listed, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
		checkTool(t, tool)
	}
	if diff := gocmp.Diff(slices.Sorted(maps.Keys(argsOf())), names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	b, err := json.Marshal(listed)
	if err != nil || tokens(string(b)) > 5000 {
		t.Errorf("%v: telling of the tools takes up to %d tokens, want few", err, tokens(string(b)))
	}
}

func checkTool(t *testing.T, tool *mcp.Tool) {
	t.Helper()
	if tool.Title == "" || tool.Description == "" || len(tool.Description) > 1000 {
		t.Errorf("%s: title %q, description of %d bytes", tool.Name, tool.Title, len(tool.Description))
	}
	h := tool.Annotations
	writes := map[string]bool{"save": true, "forget": true}[tool.Name]
	if h == nil || h.ReadOnlyHint == writes || h.DestructiveHint == nil || *h.DestructiveHint != (tool.Name == "forget") ||
		h.OpenWorldHint == nil || *h.OpenWorldHint {
		t.Errorf("%s: hints %+v", tool.Name, h)
	}
	if tool.OutputSchema != nil {
		t.Errorf("%s has a schema of its output, which would say everything twice", tool.Name)
	}
	schema := tool.InputSchema.(map[string]any)
	if schema["type"] != "object" || schema["additionalProperties"] == nil {
		t.Errorf("%s: got %v, want an object and nothing else", tool.Name, schema)
	}
	properties, _ := schema["properties"].(map[string]any)
	var want []string
	for f := range reflect.TypeOf(argsOf()[tool.Name]).Fields() {
		want = append(want, f.Tag.Get("json"))
	}
	slices.Sort(want)
	if diff := gocmp.Diff(want, slices.Sorted(maps.Keys(properties))); diff != "" {
		t.Errorf("%s: the schema and what is read of it differ (-read +schema):\n%s", tool.Name, diff)
	}
	for name, p := range properties {
		checkProperty(t, tool.Name+"."+name, p.(map[string]any))
	}
}

// checkProperty wants one type, never null, said in words, and bounded.
func checkProperty(t *testing.T, name string, p map[string]any) {
	t.Helper()
	kind, ok := p["type"].(string)
	if !ok || kind == "null" {
		t.Errorf("%s: the type is %v, want one word", name, p["type"])
	}
	if says, _ := p["description"].(string); says == "" {
		t.Errorf("%s says nothing of itself", name)
	}
	bounds := map[string]string{"string": "maxLength", "array": "maxItems", "integer": "minimum"}
	if bound, ok := bounds[kind]; ok && p[bound] == nil && p["enum"] == nil {
		t.Errorf("%s has no %s", name, bound)
	}
	if kind == "array" {
		checkProperty(t, name+"[]", p["items"].(map[string]any))
	}
}

// TestBoundsAreTheDaemons: what a tool lets through as an argument the daemon takes as the parameter of that name, and a search is of
// the same size either way. A timeline for an agent is wider by default and ends sooner: its lines cost tokens.
func TestBoundsAreTheDaemons(t *testing.T) {
	t.Parallel()
	for tool, c := range map[string]struct {
		schema map[string]any
		query  any // points to one
		exact  bool
	}{
		"search":   {schemaOf[searchArgs](), &api.SearchQuery{}, true},
		"timeline": {schemaOf[timelineArgs](), &api.TimelineQuery{}, false},
	} {
		properties := c.schema["properties"].(map[string]property)
		compared := 0
		for _, f := range api.Fields(c.query) {
			p, ok := properties[f.Name]
			if !ok {
				continue
			}
			compared++
			if most, ok := p["maximum"].(int); ok && (most > f.Most || c.exact && most != f.Most) {
				t.Errorf("%s.%s is at most %d, and the daemon takes %d", tool, f.Name, most, f.Most)
			}
			if standard, ok := p["default"].(int); ok && c.exact && fmt.Sprint(standard) != cmp.Or(f.Default, "0") {
				t.Errorf("%s.%s is %d by default, and the daemon's is %q", tool, f.Name, standard, f.Default)
			}
			if words, _ := p["enum"].([]string); f.Words != nil && !slices.Equal(words, f.Words) {
				t.Errorf("%s.%s is one of %q, and the daemon takes %q", tool, f.Name, words, f.Words)
			}
			if length, ok := p["maxLength"].(int); ok && length > api.MaxParam {
				t.Errorf("%s.%s has up to %d characters, and the daemon takes %d bytes", tool, f.Name, length, api.MaxParam)
			}
		}
		if compared < 3 {
			t.Errorf("%s: %d arguments are parameters, want more", tool, compared)
		}
	}
	ids := schemaOf[getArgs]()["properties"].(map[string]property)["ids"]
	if most := ids["maxItems"].(int); most > api.MaxRows {
		t.Errorf("get takes %d ids, and the daemon %d", most, api.MaxRows)
	}
}

// TestLengthsOfNames: every argument that is a path, or may be one, is as long as a name may be.
func TestLengthsOfNames(t *testing.T) {
	t.Parallel()
	if maxName > api.MaxParam {
		t.Errorf("a name has up to %d characters, and the daemon takes %d bytes", maxName, api.MaxParam)
	}
	for tool, args := range argsOf() {
		for f := range reflect.TypeOf(args).Fields() {
			p := argument(f.Type.Kind(), f.Tag)
			if f.Type.Kind() == reflect.Slice {
				p = p["items"].(property)
			}
			switch name := f.Tag.Get("json"); name {
			case "project", "file", "files":
				if p["maxLength"] != maxName {
					t.Errorf("%s.%s has up to %v characters, want %d", tool, name, p["maxLength"], maxName)
				}
			}
		}
	}
}

// Agents cut what a server says of itself at two kilobytes.
func TestInstructions(t *testing.T) {
	t.Parallel()
	c := connect(t, &memory{}, nil)
	got := c.InitializeResult().Instructions
	if len(got) > 2000 {
		t.Errorf("%d bytes, want at most 2000", len(got))
	}
	for name := range argsOf() {
		if !cmpContainsWord(got, name) {
			t.Errorf("nothing is said of %s", name)
		}
	}
}

// TestArgumentsAreWithinRoutes: an argument that a query has too, under the same name, allows nothing that the query refuses.
func TestArgumentsAreWithinRoutes(t *testing.T) {
	t.Parallel()
	compared := 0
	for arguments, query := range map[reflect.Type]reflect.Type{
		reflect.TypeFor[searchArgs]():   reflect.TypeFor[api.SearchQuery](),
		reflect.TypeFor[timelineArgs](): reflect.TypeFor[api.TimelineQuery](),
	} {
		for f := range arguments.Fields() {
			q, ok := query.FieldByName(f.Name)
			if !ok {
				continue
			}
			if words := f.Tag.Get("words"); words != "" {
				compared++
				if words != q.Tag.Get("words") {
					t.Errorf("%s.%s may be %s, and the query %s", arguments, f.Name, words, q.Tag.Get("words"))
				}
			}
			if most, err := strconv.Atoi(q.Tag.Get("most")); err == nil && q.Type.Kind() == reflect.Int {
				compared++
				if n, err := strconv.Atoi(f.Tag.Get("most")); err != nil || n > most {
					t.Errorf("%s.%s may be %d, and the query %d", arguments, f.Name, n, most)
				}
			}
		}
	}
	if compared < 5 {
		t.Errorf("compared %d arguments: the test looks at the wrong tags", compared)
	}
}

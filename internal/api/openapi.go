package api

import (
	"encoding"
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/order"
)

// OpenAPIRoute describes all routes to programs.
var OpenAPIRoute = Route[NoQuery, json.RawMessage]{get, "/v1/openapi.json", ScopeView, "this description: OpenAPI 3.1"}

// Operation is a route as it is described.
type Operation struct {
	Endpoint
	Query  reflect.Type
	Answer reflect.Type // nil: it is read as it comes, and no JSON
	Work   bool         // progress comes before the answer, as server-sent events
}

// object is a JSON object whose keys are sorted.
type object = map[string]any

// OpenAPI is the document, OpenAPI 3.1, that describes ops: their parameters, bodies and answers by their Go types.
func OpenAPI(ops []Operation) ([]byte, error) {
	s, paths := schemas{named: object{}, names: map[string]reflect.Type{}}, object{}
	order.By(ops, func(a, b Operation) int { return strings.Compare(a.Pattern(), b.Pattern()) })
	problem := s.of(reflect.TypeFor[Problem]())
	for _, op := range ops {
		at, _ := paths[op.Path].(object)
		if at == nil {
			at = object{}
			paths[op.Path] = at
		}
		at[strings.ToLower(op.Method)] = op.describe(&s)
	}
	return json.MarshalIndent(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "cmemd", "version": "1",
			"description": "Positions are below 2^53, times RFC 3339 in UTC. Parameters that are not listed are refused. Fields are added, never changed: pass over those that you do not know.",
		},
		"servers":  []any{object{"url": "http://127.0.0.1:37911"}},
		"security": []any{object{"bearer": []string{}}},
		"paths":    paths,
		"components": object{
			"schemas":         s.named,
			"securitySchemes": object{"bearer": object{"type": "http", "scheme": "bearer"}},
			"responses": object{"Problem": object{
				"description": "What is no success (RFC 9457).", "content": object{ProblemType: object{"schema": problem}},
			}},
		},
	}, "", " ")
}

// TakesKey reports whether calls of op may have an IdempotencyHeader: what changes memory and is answered at once. Work does nothing
// twice by itself: what it is asked for is gone then, or asked for already.
func (op Operation) TakesKey() bool {
	return op.Method == http.MethodPost && !op.Work && op.Answer != nil && (op.Scope == ScopeEdit || op.Scope == ScopePerson)
}

// describe is op as an Operation Object.
func (op Operation) describe(s *schemas) object {
	out := object{
		"operationId": op.id(), "summary": op.Doc, "x-scope": op.Scope.String(),
		"responses": object{strconv.Itoa(op.status()): op.answer(s), "default": object{"$ref": "#/components/responses/Problem"}},
	}
	if op.Scope == ScopeAnybody {
		out["security"] = []any{}
	}
	params := parametersOf(op.Query)
	if op.TakesKey() {
		params = append(params, object{
			"name": IdempotencyHeader, "in": "header", "schema": object{"type": "string", "maxLength": 128},
			"description": "a word of the caller's own: sent once more with it, within a day of the same daemon, a request is answered as before, and nothing is done twice",
		})
	}
	if len(params) > 0 {
		out["parameters"] = params
	}
	if body := bodyOf(op.Query, s); body != nil {
		_, required := body["required"] // without a field that must be there, no bytes say the same as {}
		out["requestBody"] = object{"required": required, "content": object{"application/json": object{"schema": body}}}
	}
	return out
}

// id is the operation's name: its method and the words of its path.
func (op Operation) id() string {
	words := regexp.MustCompile(`[A-Za-z0-9]+`).FindAllString(strings.TrimPrefix(op.Path, "/v1"), -1)
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.ToLower(op.Method) + strings.Join(words, "")
}

// status is what op answers with where it is no problem.
func (op Operation) status() int {
	if op.Answer == reflect.TypeFor[Done]() {
		return http.StatusNoContent
	}
	return http.StatusOK
}

func (op Operation) answer(s *schemas) object {
	out := object{"description": op.Doc}
	switch {
	case op.status() == http.StatusNoContent:
	case op.Answer == nil:
		out["content"] = object{"*/*": object{}}
	case op.Work:
		out["description"] = op.Doc + "; events progress, then one event result, or problem"
		out["content"] = object{"text/event-stream": object{"schema": s.of(op.Answer)}}
	default:
		out["content"] = object{"application/json": object{"schema": s.of(op.Answer)}}
	}
	return out
}

// parametersOf are the fields of a query that go into the URL.
func parametersOf(query reflect.Type) (out []any) {
	eachParam(reflect.New(query).Elem(), func(p param, v reflect.Value) {
		one := object{"name": p.name, "in": "query", "schema": p.schema(v.Type())}
		if p.path != "" {
			one["name"], one["in"], one["required"] = p.path, "path", true
		}
		if p.help != "" && p.path == "" {
			one["description"] = p.help
		}
		if v.Kind() == reflect.Slice && p.path == "" {
			one["style"], one["explode"] = "form", p.repeated
		}
		out = append(out, one)
	})
	return out
}

// schema is what a parameter may be.
func (p param) schema(t reflect.Type) object {
	s := object{"type": "string"}
	switch {
	case t == reflect.TypeFor[time.Time]():
		s["description"] = "a time (RFC 3339) or a date"
	case t == reflect.TypeFor[Moment]():
		s["description"] = "a position, a time (RFC 3339) or a date"
	case t == reflect.TypeFor[*int](), t.Kind() == reflect.Int, t.Kind() == reflect.Uint64:
		s = object{"type": "integer", "minimum": 0}
	case t.Kind() == reflect.Bool:
		s = object{"type": "boolean"}
	case t.Kind() == reflect.Slice:
		s = object{"type": "array", "items": s}
	}
	if n := p.most; n > 0 {
		s["maximum"] = n
	}
	if n, err := strconv.Atoi(p.otherwise); err == nil {
		s["default"] = n
	} else if p.otherwise != "" {
		s["default"] = p.otherwise
	}
	if len(p.words) > 0 && !p.several {
		s["enum"] = p.words
	} else if len(p.words) > 0 {
		s["description"] = "with commas between: " + strings.Join(p.words, ", ")
	}
	return s
}

// bodyOf is the schema of what of a query is the body; nil: nothing is.
func bodyOf(query reflect.Type, s *schemas) object {
	if !HasBody(reflect.New(query).Elem().Interface()) {
		return nil
	}
	body := s.object(query)
	body["additionalProperties"] = false
	return body
}

// schemas are those of named structs, under their names.
type schemas struct {
	named object
	names map[string]reflect.Type
}

// of is the schema of a type as encoding/json writes it.
func (s *schemas) of(t reflect.Type) object {
	switch {
	case t.Kind() == reflect.Pointer:
		return s.of(t.Elem())
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		return object{}
	case isText(t):
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Struct:
		return s.ref(t)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 && t.Kind() == reflect.Slice {
			return object{"type": "string", "contentEncoding": "base64"}
		}
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	}
	return object{"type": "integer"}
}

// isText reports whether a type is written as a text.
func isText(t reflect.Type) bool {
	return t == reflect.TypeFor[events.Output]() || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// ref refers to the schema of a named struct.
func (s *schemas) ref(t reflect.Type) object {
	name := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(t.Name(), "")
	if other := s.names[name]; other != nil && other != t {
		_, of, _ := strings.Cut(t.String(), ".")
		pkg := strings.TrimSuffix(t.String(), "."+of)
		name = strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
	if s.names[name] == nil {
		s.names[name] = t
		s.named[name] = s.object(t)
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// object is the schema of a struct.
func (s *schemas) object(t reflect.Type) object {
	properties, required := object{}, []string{}
	s.fields(t, properties, &required)
	out := object{"type": "object", "properties": properties}
	if slices.Sort(required); len(required) > 0 {
		out["required"] = required
	}
	return out
}

// fields enters the fields of a struct, those of the structs that it embeds too.
func (s *schemas) fields(t reflect.Type, properties object, required *[]string) {
	if t == reflect.TypeFor[Row]() { // which a row's own method adds
		properties["handle"] = s.of(reflect.TypeFor[Handle]())
	}
	for f := range t.Fields() {
		tag, tagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case f.Anonymous && !tagged:
			s.fields(f.Type, properties, required)
			continue
		case !f.IsExported(), name == "-", f.Tag.Get("path") != "" || f.Tag.Get("param") != "":
			continue
		case name == "":
			name = f.Name
		}
		properties[name] = s.of(f.Type)
		if strings.Contains(options, "omit") {
			continue
		}
		*required = append(*required, name)
		if f.Type.Kind() == reflect.Pointer {
			properties[name] = object{"anyOf": []any{s.of(f.Type), object{"type": "null"}}}
		}
	}
}

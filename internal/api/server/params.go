package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// params reads a request's parameters and collects what is wrong with them.
type params struct {
	values url.Values
	errors []api.FieldError
}

func paramsOf(r *http.Request, known ...string) *params {
	p := &params{values: r.URL.Query()}
	for name := range p.values {
		if !slices.Contains(known, name) {
			p.wrong(name, "is no parameter here; there are %s", strings.Join(known, ", "))
		}
	}
	return p
}

func (p *params) wrong(name, format string, args ...any) {
	p.errors = append(p.errors, api.FieldError{Pointer: name, Detail: fmt.Sprintf(format, args...)})
}

// err is the problem with all that is wrong, or nil.
func (p *params) err() error {
	if len(p.errors) == 0 {
		return nil
	}
	slices.SortFunc(p.errors, func(a, b api.FieldError) int { return strings.Compare(a.Pointer, b.Pointer) })
	return invalidAll(p.errors)
}

func invalidAll(errs []api.FieldError) *api.Problem {
	return &api.Problem{Type: api.ProblemInvalid, Title: "The request is not valid", Status: http.StatusBadRequest, Errors: errs}
}

// maxParam is the longest parameter in bytes: the longest path.
const maxParam = 4 << 10

func (p *params) text(name string) string {
	s := p.values.Get(name)
	if len(s) > maxParam {
		p.wrong(name, "is longer than %d bytes", maxParam)
		return ""
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// oneOf reads a word of a closed set; empty is allowed.
func (p *params) oneOf(name string, words ...string) string {
	s := p.text(name)
	if s != "" && !slices.Contains(words, s) {
		p.wrong(name, "is none of %s", strings.Join(words, ", "))
		return ""
	}
	return s
}

// number reads a whole number from 0 to most; absent and 0 mean otherwise.
func (p *params) number(name string, otherwise, most int) int {
	s := p.values.Get(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > most {
		p.wrong(name, "is no whole number from 0 to %d", most)
		return otherwise
	}
	if n == 0 {
		return otherwise
	}
	return n
}

func (p *params) position(name string) events.Position {
	s := p.values.Get(name)
	if s == "" {
		return 0
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		p.wrong(name, "is no position: a whole number from 0 on")
	}
	return events.Position(n)
}

// moment reads a position, or a time instead of it.
func (p *params) moment(name string) (events.Position, time.Time) {
	s := p.values.Get(name)
	if n, err := strconv.ParseUint(s, 10, 63); s == "" || err == nil {
		return events.Position(n), time.Time{}
	}
	at, err := parseTime(s)
	if err != nil {
		p.wrong(name, "is no position, no time in the form of RFC 3339, and no date")
	}
	return 0, at
}

func (p *params) flag(name string) bool {
	switch p.values.Get(name) {
	case "", "0", "false":
		return false
	case "1", "true":
		return true
	}
	p.wrong(name, "is none of 0, 1, false, true")
	return false
}

func (p *params) time(name string) time.Time {
	s := p.values.Get(name)
	if s == "" {
		return time.Time{}
	}
	at, err := parseTime(s)
	if err != nil {
		p.wrong(name, "is no time in the form of RFC 3339, and no date")
	}
	return at
}

// parseTime reads RFC 3339, or a date, which begins at midnight UTC.
func parseTime(s string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		at, err = time.Parse(time.DateOnly, s)
	}
	if err == nil && (at.Year() < 1 || at.Year() > 9999) {
		err = errors.New("out of range")
	}
	return at.UTC(), err
}

// readJSON reads a body that is one JSON value of v's shape, and nothing else.
func readJSON(r *http.Request, v any) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return bodyError(err)
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return shapeError(err, dec.InputOffset())
	}
	if _, err := dec.Token(); err != io.EOF {
		return invalid("", "something follows the JSON value at byte %d", dec.InputOffset())
	}
	return nil
}

// shapeError says what is wrong with a body without quoting it, but for names of fields.
func shapeError(err error, offset int64) *api.Problem {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		return invalid("/"+strings.ReplaceAll(kind.Field, ".", "/"), "is a %s where a %s belongs", kind.Value, jsonName(kind.Type.String()))
	case errors.As(err, &syntax):
		return invalid("", "is not JSON from byte %d on", syntax.Offset)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return invalid("", "the JSON ends too early, at byte %d", offset)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		if field, err := strconv.Unquote(name); err == nil && len(field) <= 100 {
			return invalid("/"+field, "is no field here")
		}
	}
	return invalid("", "has a value that is not of its field's form, before byte %d", offset)
}

// jsonName is what a Go type is called in JSON.
func jsonName(goType string) string {
	switch {
	case strings.HasPrefix(goType, "[]"):
		return "list"
	case goType == "string" || strings.HasSuffix(goType, "ID") || strings.HasSuffix(goType, "Time"):
		return "string"
	case goType == "bool":
		return "boolean"
	case strings.HasPrefix(goType, "int"), strings.HasPrefix(goType, "uint"), strings.HasPrefix(goType, "float"):
		return "number"
	}
	return "object"
}

// isPath reports whether a project is named by its folder rather than by its shown name.
func isPath(project string) bool { return filepath.IsAbs(project) }

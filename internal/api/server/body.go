package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/cmemd/cmemd/internal/api"
)

// noteIn adds what is wrong to errs.
func noteIn(errs *[]api.FieldError) api.Wrong {
	return func(pointer, format string, args ...any) {
		*errs = append(*errs, api.FieldError{Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
	}
}

func invalidAll(errs []api.FieldError) *api.Problem {
	return &api.Problem{Type: api.ProblemInvalid, Title: "The request is not valid", Status: http.StatusBadRequest, Errors: errs}
}

// readJSON reads a body that is one JSON value of v's shape, and nothing else. One of no bytes is an empty object: routes that took no
// body once are asked without.
func readJSON(r *http.Request, v any) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return bodyError(err)
	}
	if len(body) == 0 {
		return nil
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
		return invalid("/"+strings.ReplaceAll(kind.Field, ".", "/"), "is a %s where a %s belongs", kind.Value, jsonTypeName(kind.Type.String()))
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

// jsonTypeName is what a Go type is called in JSON.
func jsonTypeName(goType string) string {
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

package mcp

import (
	"reflect"
	"strconv"
	"strings"
)

// property is one argument of a tool, as JSON Schema has it.
type property map[string]any

// object is the schema of a tool's arguments: those that are named, and no others.
func object(required []string, properties map[string]property) map[string]any {
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// Lengths of arguments, in characters. The daemon has bounds of its own.
const (
	maxArgument = 1000
	maxName     = 4000 // a path
)

// schemaOf is the schema of a tool's arguments, a struct whose fields have the tags
//
//	says:"..."             what it is; each:"..." what an entry of a list is
//	words:"a,b"            the words that it may be
//	least:"1" most:"100"   of a number; of the length of a text or list. A text has maxArgument characters if no most is said,
//	                       as has an entry of a list without eachmost
//	default:"20"           of a number
//	required:"true"        it must be given
func schemaOf[In any]() map[string]any {
	var required []string
	properties := map[string]property{}
	for f := range reflect.TypeFor[In]().Fields() {
		name := f.Tag.Get("json")
		properties[name] = argument(f.Type.Kind(), f.Tag)
		if f.Tag.Get("required") != "" {
			required = append(required, name)
		}
	}
	return object(required, properties)
}

// argument is one argument, never null.
func argument(kind reflect.Kind, tag reflect.StructTag) property {
	p := property{"description": tag.Get("says")}
	number := func(keyword, from string) {
		if n, err := strconv.Atoi(tag.Get(from)); err == nil {
			p[keyword] = n
		}
	}
	switch kind {
	case reflect.String:
		if words := tag.Get("words"); words != "" {
			p["type"], p["enum"] = "string", strings.Split(words, ",")
			break
		}
		p["type"], p["maxLength"] = "string", maxArgument
		number("maxLength", "most")
		number("minLength", "least")
	case reflect.Slice:
		entry := property{"type": "string", "description": tag.Get("each"), "maxLength": maxArgument}
		if n, err := strconv.Atoi(tag.Get("eachmost")); err == nil {
			entry["maxLength"] = n
		}
		p["type"], p["items"] = "array", entry
		number("maxItems", "most")
		number("minItems", "least")
	case reflect.Bool:
		p["type"], p["default"] = "boolean", false
	default:
		p["type"] = "integer"
		number("minimum", "least")
		number("maximum", "most")
		number("default", "default")
	}
	return p
}

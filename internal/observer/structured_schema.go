package observer

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/cmemd/cmemd/events"
)

// Schema is the JSON schema of the structured form for one kind of turn: an observation turn is asked for observations, a
// summary turn for a summary, and both may skip. It is made from Observation and Summary, so that it asks for what is read,
// and its properties stand in the order of their fields: models write in that order. Types and concepts are the mode's. It
// keeps to what the services have in common: every property is required and no other is allowed, and there is neither null
// nor a bound. The bytes are the caller's, and equal for equal arguments.
func Schema(kind events.TurnKind, m Mode) json.RawMessage {
	var o object
	if kind == events.TurnSummary {
		o.add("summary", summarySchema())
	} else {
		o.add("observations", arrayOf(observationSchema(m)))
	}
	o.add("skip", typed("boolean"))
	o.add("skip_reason", typed("string"))
	return o.schema()
}

func observationSchema(m Mode) json.RawMessage {
	var o object
	for _, f := range jsonFields(reflect.TypeFor[Observation]()) {
		switch f.name {
		case "type_given": // what Parse found, not what is asked for
		case "type":
			o.add(f.name, oneOf(m.TypeIDs()))
		case "concepts":
			o.add(f.name, arrayOf(oneOf(m.ConceptIDs())))
		default:
			o.add(f.name, schemaOf(f.of))
		}
	}
	return o.schema()
}

func summarySchema() json.RawMessage {
	var o object
	for _, f := range jsonFields(reflect.TypeFor[Summary]()) {
		o.add(f.name, schemaOf(f.of))
	}
	return o.schema()
}

// jsonField is a field of a struct under its name in JSON.
type jsonField struct {
	name string
	of   reflect.Type
}

func jsonFields(t reflect.Type) []jsonField {
	var list []jsonField
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		list = append(list, jsonField{name: name, of: t.Field(i).Type})
	}
	return list
}

// schemaOf is the schema of a text or of a list of texts, which is all that there is.
func schemaOf(t reflect.Type) json.RawMessage {
	if t.Kind() == reflect.Slice {
		return arrayOf(schemaOf(t.Elem()))
	}
	return typed(t.Kind().String())
}

// oneOf is a text that is one of ids, or any text where there are none.
func oneOf(ids []string) json.RawMessage {
	if len(ids) == 0 {
		return typed("string")
	}
	return join(`{"type":"string","enum":`, quoted(ids), `}`)
}

func arrayOf(items json.RawMessage) json.RawMessage {
	return join(`{"type":"array","items":`, items, `}`)
}

func typed(name string) json.RawMessage { return join(`{"type":`, quoted(name), `}`) }

// object is an object schema in the making. Its properties keep their order, which a map would lose.
type object struct{ properties, required [][]byte }

func (o *object) add(name string, schema json.RawMessage) {
	key := quoted(name)
	o.properties = append(o.properties, join(string(key), []byte(":"), string(schema)))
	o.required = append(o.required, key)
}

func (o *object) schema() json.RawMessage {
	comma := []byte(",")
	return join(
		`{"type":"object","properties":{`, bytes.Join(o.properties, comma),
		`},"required":[`+string(bytes.Join(o.required, comma))+`],"additionalProperties":false}`,
	)
}

func join(before string, inside []byte, after string) []byte {
	return append(append([]byte(before), inside...), after...)
}

// quoted is v as JSON. A text or a list of texts always has one.
func quoted(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

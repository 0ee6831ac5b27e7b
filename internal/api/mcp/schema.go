package mcp

import "maps"

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
	maxSaved    = 60_000
)

func text(says string) property { return texts(says, maxArgument) }

// texts is a string of at most so many characters.
func texts(says string, most int) property {
	return property{"type": "string", "description": says, "maxLength": most}
}

// word is a string that is one of a few.
func word(says string, words ...string) property {
	return property{"type": "string", "description": says, "enum": words}
}

func number(says string, least, most, otherwise int) property {
	return property{"type": "integer", "description": says, "minimum": least, "maximum": most, "default": otherwise}
}

// choice is a boolean that is false unless it is given.
func choice(says string) property {
	return property{"type": "boolean", "description": says, "default": false}
}

// many is a list of strings, never null.
func many(says string, each property, most int) property {
	return property{"type": "array", "description": says, "items": each, "maxItems": most}
}

// with adds to p what more says.
func (p property) with(more property) property {
	p = maps.Clone(p)
	maps.Copy(p, more)
	return p
}

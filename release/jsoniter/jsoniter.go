// Package jsoniter stands in for github.com/json-iterator/go when the programs of a release are linked: what their one importer, the
// shapes of bleve, asks of that is what encoding/json does. cmemd stores no shapes; but with the original in a program, whose types
// embed reflect.Type, the linker has to keep every exported method of every type, and the program is a quarter larger.
package jsoniter

import "encoding/json"

// API is the part of the original that the importer uses. Another use does not compile.
type API struct{}

// ConfigCompatibleWithStandardLibrary is, as its name says, encoding/json.
var ConfigCompatibleWithStandardLibrary API

// Marshal is json.Marshal.
func (API) Marshal(v any) ([]byte, error) { return json.Marshal(v) }

// Unmarshal is json.Unmarshal.
func (API) Unmarshal(data []byte, v any) error { return json.Unmarshal(data, v) }

package observer

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/cmemd/cmemd/internal/tomledit"
)

// modeFile is a mode as a file has it.
type modeFile struct {
	Extends string `toml:"extends"`
	Mode
}

// keys are the fields of a struct that a file may give, those of what is embedded in it among them.
func keys(of reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(of), func(f reflect.StructField) bool {
		key := f.Tag.Get("toml")
		return key == "" || key == "-"
	})
}

// modeDraft is a mode that may still be wrong. where says for each key, such as types[2].id, the place it came from.
type modeDraft struct {
	name  string // of the file
	file  modeFile
	where map[string]place
}

type place struct {
	file string
	line int
}

// readMode decodes a mode file strictly.
func readMode(name string, data []byte) (modeDraft, error) {
	d := modeDraft{name: name}
	dec := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	if err := dec.Decode(&d.file); err != nil {
		return modeDraft{}, decodingError(name, err)
	}
	var err error
	d.where, err = keyPlaces(name, data)
	return d, err
}

// decodingError says where a mode file is not what it should be.
func decodingError(name string, err error) error {
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		var all []error
		for i := range strict.Errors {
			e := &strict.Errors[i]
			line, _ := e.Position()
			key := e.Key()
			all = append(all, modeError(place{name, line}, strings.Join(key, "."),
				"there is no such key; there are "+strings.Join(keysBeside(key), ", ")))
		}
		return errors.Join(all...)
	}
	if d, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := d.Position()
		return modeError(place{name, line}, strings.Join(d.Key(), "."), strings.TrimPrefix(d.Error(), "toml: "))
	}
	return modeError(place{name, 1}, "", err.Error())
}

func modeError(at place, key, detail string) error {
	if key != "" {
		key += ": "
	}
	return fmt.Errorf("observer: mode %s:%d: %s%s", at.file, at.line, key, detail)
}

// keysBeside lists the keys that may stand where key stands.
func keysBeside(key []string) (names []string) {
	t := reflect.TypeFor[modeFile]()
	for _, part := range key[:len(key)-1] {
		for _, f := range keys(t) {
			inner := f.Type
			for inner.Kind() == reflect.Slice || inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if f.Tag.Get("toml") == part && inner.Kind() == reflect.Struct {
				t = inner
				break
			}
		}
	}
	for _, f := range keys(t) {
		names = append(names, f.Tag.Get("toml"))
	}
	return names
}

// keyPlaces finds the line of every key. Tables of an array count from 0.
func keyPlaces(name string, data []byte) (map[string]place, error) {
	lines, err := tomledit.Lines(data)
	if err != nil {
		return nil, decodingError(name, err)
	}
	where := map[string]place{}
	for _, line := range lines {
		at := place{name, line.Number}
		where[line.Path] = at
		if list, first := strings.CutSuffix(line.Path, "[0]"); first {
			where[list] = at
		}
	}
	return where, nil
}

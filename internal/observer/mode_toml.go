package observer

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/cmemd/cmemd/internal/tomledit"
)

// modeFile is a mode as a file has it.
type modeFile struct {
	Extends  string        `toml:"extends"`
	Name     string        `toml:"name"`
	Role     string        `toml:"role"`
	Record   string        `toml:"record"`
	Skip     string        `toml:"skip"`
	Tone     string        `toml:"tone"`
	Summary  string        `toml:"summary"`
	Language string        `toml:"language"`
	Types    []termFile    `toml:"types"`
	Concepts []termFile    `toml:"concepts"`
	Examples []exampleFile `toml:"examples"`
}

type termFile struct {
	ID          string `toml:"id"`
	Label       string `toml:"label"`
	Description string `toml:"description"`
}

type exampleFile struct {
	Seen         string            `toml:"seen"`
	Skip         string            `toml:"skip"`
	Observations []observationFile `toml:"observations"`
	Summary      *summaryFile      `toml:"summary"`
}

type observationFile struct {
	Type          string   `toml:"type"`
	Title         string   `toml:"title"`
	Subtitle      string   `toml:"subtitle"`
	Narrative     string   `toml:"narrative"`
	Facts         []string `toml:"facts"`
	Concepts      []string `toml:"concepts"`
	FilesRead     []string `toml:"files_read"`
	FilesModified []string `toml:"files_modified"`
}

type summaryFile struct {
	Request      string `toml:"request"`
	Investigated string `toml:"investigated"`
	Learned      string `toml:"learned"`
	Completed    string `toml:"completed"`
	NextSteps    string `toml:"next_steps"`
	Notes        string `toml:"notes"`
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
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) {
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
	var d *toml.DecodeError
	if errors.As(err, &d) {
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
		for f := range t.NumField() {
			if t.Field(f).Tag.Get("toml") != part {
				continue
			}
			inner := t.Field(f).Type
			for inner.Kind() == reflect.Slice || inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				t = inner
			}
			break
		}
	}
	for f := range t.NumField() {
		names = append(names, t.Field(f).Tag.Get("toml"))
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

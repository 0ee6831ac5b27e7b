package observer

import (
	"fmt"
	"reflect"
	"strings"
)

// has reports whether the draft gives the key itself.
func (d modeDraft) has(key string) bool {
	_, ok := d.where[key]
	return ok
}

// over lays d over base: the keys that d gives replace those of base.
func (d modeDraft) over(base modeDraft) modeDraft {
	out := modeDraft{name: d.name, file: base.file, where: map[string]place{}}
	from, to := reflect.ValueOf(d.file), reflect.ValueOf(&out.file).Elem()
	for i := range from.NumField() {
		key := from.Type().Field(i).Tag.Get("toml")
		source := base
		if d.has(key) {
			to.Field(i).Set(from.Field(i))
			source = d
		}
		for path, at := range source.where {
			if path == key || strings.HasPrefix(path, key+"[") || strings.HasPrefix(path, key+".") {
				out.where[path] = at
			}
		}
	}
	return out
}

// problem is an error about a key: its own line if it has one, else that of what it is part of, else the file's first.
func (d modeDraft) problem(key, format string, args ...any) error {
	at := place{d.name, 1}
	for path := key; ; {
		if p, ok := d.where[path]; ok {
			at = p
			break
		}
		n := strings.LastIndexAny(path, ".[")
		if n < 0 {
			break
		}
		path = path[:n]
	}
	return modeError(at, key, fmt.Sprintf(format, args...))
}

// mode is the draft, which check has passed, as a mode.
func (d modeDraft) mode(name string) Mode {
	f := d.file
	m := Mode{
		ID: name, Name: f.Name, Types: terms(f.Types), Concepts: terms(f.Concepts),
		Role: strings.TrimSpace(f.Role), Record: strings.TrimSpace(f.Record), Skip: strings.TrimSpace(f.Skip),
		Tone: strings.TrimSpace(f.Tone), Summary: strings.TrimSpace(f.Summary), Language: strings.TrimSpace(f.Language),
	}
	for _, e := range f.Examples {
		m.Examples = append(m.Examples, e.example())
	}
	return m
}

func terms(files []termFile) (list []Term) {
	for _, f := range files {
		list = append(list, Term(f))
	}
	return list
}

func (f exampleFile) example() Example {
	e := Example{Seen: strings.TrimSpace(f.Seen), Skip: strings.TrimSpace(f.Skip)}
	for _, o := range f.Observations {
		e.Observations = append(e.Observations, o.observation())
	}
	if f.Summary != nil {
		s := Summary(*f.Summary)
		e.Summary = &s
	}
	return e
}

func (f observationFile) observation() Observation {
	return Observation{
		Type: f.Type, Title: f.Title, Subtitle: f.Subtitle, Narrative: strings.TrimSpace(f.Narrative),
		Facts: append([]string{}, f.Facts...), Concepts: append([]string{}, f.Concepts...),
		FilesRead: append([]string{}, f.FilesRead...), FilesModified: append([]string{}, f.FilesModified...),
	}
}

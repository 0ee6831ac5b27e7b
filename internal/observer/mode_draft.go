package observer

import (
	"fmt"
	"reflect"
	"slices"
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
	for _, f := range keys(from.Type()) {
		key, source := f.Tag.Get("toml"), base
		if d.has(key) {
			to.FieldByIndex(f.Index).Set(from.FieldByIndex(f.Index))
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
	m := d.file.Mode
	m.ID = name
	for _, text := range []*string{&m.Role, &m.Record, &m.Skip, &m.Tone, &m.Summary, &m.Language} {
		*text = strings.TrimSpace(*text)
	}
	m.Examples = nil
	for _, e := range d.file.Examples {
		m.Examples = append(m.Examples, e.parsed())
	}
	return m
}

// parsed is e, as a file has it, with its observations as Parse gives them back.
func (e Example) parsed() Example {
	e.Seen, e.Skip = strings.TrimSpace(e.Seen), strings.TrimSpace(e.Skip)
	e.Observations = slices.Clone(e.Observations)
	for i := range e.Observations {
		o := &e.Observations[i]
		o.Narrative = strings.TrimSpace(o.Narrative)
		for _, p := range o.parts() {
			if p.list != nil {
				*p.list = append([]string{}, *p.list...)
			}
		}
	}
	return e
}

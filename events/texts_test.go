package events_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/cmemd/cmemd/events"
)

// TestTextsAreWhole: a text that is added to a summary or an observation is among its Texts.
func TestTextsAreWhole(t *testing.T) {
	t.Parallel()
	notSaid := []string{"Source", "Type", "TypeGiven"}
	var s events.SummaryParsed
	var o events.ObservationParsed
	for made, texts := range map[any]func() []string{
		&s: func() []string { return s.Texts() },
		&o: func() []string { return o.Texts() },
	} {
		v := reflect.ValueOf(made).Elem()
		for f := range v.Fields() {
			if slices.Contains(notSaid, f.Name) || f.Type != reflect.TypeFor[string]() {
				continue
			}
			v.FieldByIndex(f.Index).SetString(f.Name)
			if !slices.Contains(texts(), f.Name) {
				t.Errorf("%T: %s is not among its Texts", made, f.Name)
			}
		}
	}
	o.Facts = []string{"a fact"}
	if !slices.Contains(o.Texts(), "a fact") {
		t.Error("facts are not among an observation's Texts")
	}
}

package events_test

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

// TestFieldsHaveTheirNumbers holds what payloads are read by: field n of a payload is the nth of its struct.
func TestFieldsHaveTheirNumbers(t *testing.T) {
	t.Parallel()
	for _, e := range samples() {
		checkFieldNumbers(t, reflect.TypeOf(e))
	}
}

func checkFieldNumbers(t *testing.T, typ reflect.Type) {
	t.Helper()
	switch {
	case typ == reflect.TypeFor[time.Time]() || typ == reflect.TypeFor[events.Output]():
	case typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map:
		checkFieldNumbers(t, typ.Elem())
	case typ.Kind() == reflect.Struct:
		for i := range typ.NumField() {
			f := typ.Field(i)
			want := strconv.Itoa(i+1) + ",keyasint,"
			if tag := f.Tag.Get("cbor"); !strings.HasPrefix(tag, want) || f.Anonymous {
				t.Errorf("%s.%s: got %q (embedded: %t), want the number %d", typ, f.Name, tag, f.Anonymous, i+1)
			}
			checkFieldNumbers(t, f.Type)
		}
	}
}

// Package filled fills values for tests that write a stored form and read it back: a field that the form forgets would come
// back empty.
package filled

import (
	"reflect"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
)

// Fill gives every field of the struct that v points to a value that is not zero. It panics where a field is not exported.
func Fill(v any) { fill(reflect.ValueOf(v).Elem()) }

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Uint8:
		v.SetUint(7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("x"), reflect.ValueOf(int64(7)))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)))
			return
		}
		if v.Type() == reflect.TypeFor[events.Output]() {
			v.Set(reflect.ValueOf(events.NewOutput("x")))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	}
}

// RoundTrips fills each of values, which are structs, and fails t where one is not the same after encode has written it and
// decode has read it. Fields that the form leaves out, by the tag cbor:"-", do not count.
func RoundTrips(t testing.TB, encode func(any) ([]byte, error), decode func([]byte, any) error, values ...any) {
	t.Helper()
	for _, v := range values {
		in, out := reflect.New(reflect.TypeOf(v)), reflect.New(reflect.TypeOf(v))
		Fill(in.Interface())
		raw, err := encode(in.Elem().Interface())
		if err != nil {
			t.Fatal(err)
		}
		if err := decode(raw, out.Interface()); err != nil {
			t.Fatal(err)
		}
		for i := range in.Elem().NumField() {
			if in.Elem().Type().Field(i).Tag.Get("cbor") == "-" {
				in.Elem().Field(i).SetZero()
			}
		}
		if !reflect.DeepEqual(in.Interface(), out.Interface()) {
			t.Errorf("%T: stored %+v, read %+v", v, in.Elem(), out.Elem())
		}
	}
}

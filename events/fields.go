package events

import (
	"reflect"
	"time"
)

// fieldReader reads payloads in the form in which Seal writes nearly all of them, about three times as fast as the library of CBOR:
// replay with payloads spends more than half of its time there. It knows texts, bytes, truths, natural numbers, lists of these
// and structs whose fields it finds by their number: field n of a payload is the nth of its struct. All else is refused, and
// what is refused is for the library to read or to refuse; what is read is what the library reads.
type fieldReader struct{ rest []byte }

// The major types of CBOR that a fieldReader knows (RFC 8949, section 3.1).
const (
	majorNumber = 0
	majorBytes  = 2
	majorText   = 3
	majorList   = 4
	majorMap    = 5
	majorSimple = 7

	simpleFalse = 20
	simpleTrue  = 21
)

// readFields fills v, which is a zero struct, from body. It is false if that is for the library; v may have been changed then.
func readFields(v reflect.Value, body []byte) bool {
	r := fieldReader{rest: body}
	return r.value(v) && len(r.rest) == 0
}

func (r *fieldReader) value(v reflect.Value) bool {
	major, n, ok := r.head()
	if !ok {
		return false
	}
	switch v.Kind() {
	case reflect.String:
		b, ok := r.take(major == majorText, n)
		v.SetString(string(b))
		return ok
	case reflect.Int, reflect.Int64:
		ok = major == majorNumber && int64(n) >= 0 && !v.OverflowInt(int64(n))
		v.SetInt(int64(n))
	case reflect.Uint64:
		ok = major == majorNumber
		v.SetUint(n)
	case reflect.Bool:
		ok = major == majorSimple && (n == simpleFalse || n == simpleTrue)
		v.SetBool(n == simpleTrue)
	case reflect.Array:
		b, ok := r.take(major == majorBytes && n == uint64(v.Len()), n)
		return ok && v.Type().Elem().Kind() == reflect.Uint8 && copy(v.Bytes(), b) == len(b)
	case reflect.Slice:
		return major == majorList && r.list(v, n)
	case reflect.Struct:
		return r.object(v, major, n)
	default:
		return false
	}
	return ok
}

// list reads n elements into v. Each has a byte at least, so that n is no more than what is left.
func (r *fieldReader) list(v reflect.Value, n uint64) bool {
	if n > maxElements || n > uint64(len(r.rest)) || v.Type().Elem().Kind() == reflect.Uint8 {
		return false
	}
	v.Set(reflect.MakeSlice(v.Type(), int(n), int(n)))
	for i := range int(n) {
		if !r.value(v.Index(i)) {
			return false
		}
	}
	return true
}

// object reads a struct whose head says major and n.
func (r *fieldReader) object(v reflect.Value, major byte, n uint64) bool {
	switch v.Type() {
	case reflect.TypeFor[Output]():
		b, ok := r.take(major == majorText, n)
		*v.Addr().Interface().(*Output) = Output{text: string(b)}
		return ok
	case reflect.TypeFor[time.Time]():
		return false
	}
	if major != majorMap {
		return false
	}
	last := uint64(0)
	for range n {
		major, number, ok := r.head()
		if !ok || major != majorNumber || number <= last || number > uint64(v.NumField()) || !r.value(v.Field(int(number)-1)) {
			return false
		}
		last = number
	}
	return true
}

// take returns the next n bytes, if they are wanted and there are as many.
func (r *fieldReader) take(wanted bool, n uint64) ([]byte, bool) {
	if !wanted || n > uint64(len(r.rest)) {
		return nil, false
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b, true
}

// head reads the head of an item: its major type, and its number, which is its length where it has one.
func (r *fieldReader) head() (major byte, n uint64, ok bool) {
	if len(r.rest) == 0 {
		return 0, 0, false
	}
	first := r.rest[0]
	major, more := first>>5, first&31
	if more < 24 {
		r.rest = r.rest[1:]
		return major, uint64(more), true
	}
	size := 1 << (more - 24) // of the number that follows
	if more > 27 || major == majorSimple || len(r.rest) <= size {
		return 0, 0, false
	}
	for _, b := range r.rest[1 : 1+size] {
		n = n<<8 | uint64(b)
	}
	r.rest = r.rest[1+size:]
	return major, n, true
}

package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cmemd/cmemd/events"
)

// MaxParam is the longest parameter in bytes: the longest path.
const MaxParam = 4 << 10

// param is a field of a query that goes into the URL. Its tags are
//
//	param:"q"        its name in the query part, or path:"id" in the path
//	words:"a,b"      the words that it may be; empty too
//	several:"true"   with words: several of them with commas between
//	repeated:"true"  of a list: each is a parameter of that name; without it they have commas between
//	most:"100"       the largest number
//	default:"20"     what 0, or an empty word, stands for
//	wait:"true"      a position that the answer must know
//	ofpage:"true"    it may differ from one page of a list to the next: what a cursor is not bound to, see CheckCursor
//	help:"..."       what the flag of it is for, that a command has, and flag:"at" its name where it is another: see Fields
type param struct {
	field, most                 int // field is its place among the struct's
	name, path, otherwise, help string
	words                       []string
	several, repeated           bool
	wait, ofPage                bool
}

// paramOf is what the tags of a field say.
func paramOf(tag reflect.StructTag) param {
	p := param{
		name: tag.Get("param"), path: tag.Get("path"), otherwise: tag.Get("default"), help: tag.Get("help"),
		several: tag.Get("several") != "", repeated: tag.Get("repeated") != "",
		wait: tag.Get("wait") != "", ofPage: tag.Get("ofpage") != "",
	}
	p.most, _ = strconv.Atoi(tag.Get("most"))
	if words := tag.Get("words"); words != "" {
		p.words = strings.Split(words, ",")
	}
	return p
}

// eachParam calls do with every field of query, a struct, that goes into the URL.
func eachParam(query reflect.Value, do func(p param, v reflect.Value)) {
	for _, p := range paramsOf(query.Type()) {
		do(p, query.Field(p.field))
	}
}

// params are what paramsOf knows, by the struct's type: a request goes through them several times, and to read the tags takes longer than
// all else that is done then.
var params sync.Map

// paramsOf are those fields of a struct that go into the URL, in their order.
func paramsOf(query reflect.Type) []param {
	if known, ok := params.Load(query); ok {
		return known.([]param)
	}
	var list []param
	for i := range query.NumField() {
		if p := paramOf(query.Field(i).Tag); p.name != "" || p.path != "" {
			p.field = i
			list = append(list, p)
		}
	}
	params.Store(query, list)
	return list
}

// A Field is a field of a query that a command has a flag for: one with a tag help.
type Field struct {
	Name    string   // of the flag: the tag flag, or the parameter's with dashes
	Help    string   // what the flag is for
	Words   []string // that it may be; nil: any
	Several bool     // several of the words with commas between
	Most    int      // the largest number; 0: not said
	Default string   // what zero stands for; empty: for itself
	At      any      // points to the field
}

// Fields lists those fields of query, which points to a struct, in their order.
func Fields(query any) (fields []Field) {
	for f, v := range reflect.ValueOf(query).Elem().Fields() {
		p := paramOf(f.Tag)
		if p.help == "" {
			continue
		}
		inBody, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		name := cmp.Or(f.Tag.Get("flag"), p.name, inBody)
		fields = append(fields, Field{
			Name: strings.ReplaceAll(name, "_", "-"), Help: p.help, Words: p.words, Several: p.several, Most: p.most, Default: p.otherwise,
			At: v.Addr().Interface(),
		})
	}
	return fields
}

// SetPath sets those fields of query, which points to a struct, that stand in the path, in their order, as far as there are values.
func SetPath(query any, values []string) {
	eachParam(reflect.ValueOf(query).Elem(), func(p param, v reflect.Value) {
		if p.path != "" && len(values) > 0 {
			v.SetString(values[0])
			values = values[1:]
		}
	})
}

// HasBody reports whether a query, a struct, goes into a request's body: it has fields that the URL does not take.
func HasBody(query any) bool {
	v, n := reflect.ValueOf(query), 0
	eachParam(v, func(param, reflect.Value) { n++ })
	return n < v.NumField()
}

// URL is the path and the parameters that ask e for query, a struct: those that are not zero.
func (e Endpoint) URL(query any) (path string, values url.Values) {
	path, values = e.Path, url.Values{}
	eachParam(reflect.ValueOf(query), func(p param, v reflect.Value) {
		switch text := paramText(v); {
		case p.path != "":
			path = strings.ReplaceAll(path, "{"+p.path+"}", url.PathEscape(text))
		case p.repeated && v.Len() > 0:
			values[p.name] = v.Interface().([]string)
		case text != "":
			values.Set(p.name, text)
		}
	})
	return path, values
}

// paramText is a value as a parameter has it; empty where it is zero.
func paramText(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Time:
		return timeText(x)
	case Moment:
		if x.Position != 0 {
			return strconv.FormatUint(uint64(x.Position), 10)
		}
		return timeText(x.Time)
	case Cursor:
		if x.IsZero() {
			return ""
		}
		text, _ := x.MarshalText() // never fails
		return string(text)
	case *int:
		if x == nil {
			return ""
		}
		return strconv.Itoa(*x)
	}
	switch {
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Bool && v.Bool():
		return "1"
	case v.Kind() == reflect.Int && v.Int() > 0, v.Kind() == reflect.Uint64 && v.Uint() > 0:
		return fmt.Sprint(v)
	case v.Kind() == reflect.Slice:
		words := make([]string, v.Len())
		for i := range words {
			words[i] = v.Index(i).String()
		}
		return strings.Join(words, ",")
	}
	return ""
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// Moment is a position, or a time instead of it. The zero Moment is now.
type Moment struct {
	Position events.Position
	Time     time.Time // counts where Position is 0
}

// Wrong notes what is wrong with one parameter, or with one field of a body.
type Wrong func(pointer, format string, args ...any)

// Read fills query, which points to a struct, from a request's parameters and path, and notes those that cannot be read.
func Read(query any, values url.Values, inPath func(name string) string, wrong Wrong) {
	var known []string
	eachParam(reflect.ValueOf(query).Elem(), func(p param, v reflect.Value) {
		if p.path != "" {
			v.SetString(inPath(p.path))
			return
		}
		known = append(known, p.name)
		if p.repeated {
			v.Set(reflect.ValueOf(values[p.name]))
			return
		}
		if s := values.Get(p.name); s != "" {
			if says := p.read(v, s); says != "" {
				wrong(p.name, "%s", says)
			}
		}
	})
	for name := range values {
		if !slices.Contains(known, name) {
			wrong(name, "is no parameter here; there are %s", strings.Join(known, ", "))
		}
	}
}

// read sets v to what s means, or returns what is wrong with s.
func (p param) read(v reflect.Value, s string) string {
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		at, err := parseTime(s)
		if err != nil {
			return "is no time in the form of RFC 3339, and no date"
		}
		*x = at
		return ""
	case *Moment:
		if n, err := strconv.ParseUint(s, 10, 63); err == nil {
			x.Position = events.Position(n)
			return ""
		}
		at, err := parseTime(s)
		if err != nil {
			return "is no position, no time in the form of RFC 3339, and no date"
		}
		x.Time = at
		return ""
	case *Cursor:
		if x.UnmarshalText([]byte(s)) != nil {
			return "is nothing that a page ended with"
		}
		return ""
	case **int:
		n, err := strconv.Atoi(s)
		if err != nil {
			return p.numberProblem()
		}
		*x = &n
		return ""
	}
	return p.readPlain(v, s)
}

func (p param) readPlain(v reflect.Value, s string) string {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Bool:
		if !slices.Contains([]string{"0", "1", "false", "true"}, s) {
			return "is none of 0, 1, false, true"
		}
		v.SetBool(s == "1" || s == "true")
	case reflect.Int:
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return p.numberProblem()
		}
		v.SetInt(int64(n))
	case reflect.Uint64:
		n, err := strconv.ParseUint(s, 10, 63)
		if err != nil {
			return "is no position: a whole number from 0 on"
		}
		v.SetUint(n)
	case reflect.Slice:
		for word := range strings.SplitSeq(s, ",") {
			if word = strings.TrimSpace(word); word != "" {
				v.Set(reflect.Append(v, reflect.ValueOf(word).Convert(v.Type().Elem())))
			}
		}
	}
	return ""
}

func (p param) numberProblem() string { return fmt.Sprintf("is no whole number from 0 to %d", p.most) }

// parseTime reads RFC 3339, or a date, which begins at midnight UTC.
func parseTime(s string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		at, err = time.Parse(time.DateOnly, s)
	}
	if err == nil && (at.Year() < 1 || at.Year() > 9999) {
		err = errors.New("out of range")
	}
	return at.UTC(), err
}

// Check holds query, which points to a struct, against its tags and its method Check, notes what is wrong, and fills in what zero
// values stand for.
func Check(query any, wrong Wrong) {
	eachParam(reflect.ValueOf(query).Elem(), func(p param, v reflect.Value) {
		if says := p.check(v); says != "" {
			wrong(p.name, "%s", says)
			v.SetZero()
		}
		if v.IsZero() && p.otherwise != "" {
			p.readPlain(v, p.otherwise)
		}
	})
	if q, ok := query.(interface{ Check(wrong Wrong) }); ok {
		q.Check(wrong)
	}
}

// CheckLengths notes the texts of query, a struct, that are too long for a parameter: with one that is much too long a server reads no
// request, and cannot say which it is.
func CheckLengths(query any, wrong Wrong) {
	eachParam(reflect.ValueOf(query), func(p param, v reflect.Value) {
		if v.Kind() == reflect.String && len(v.String()) > MaxParam {
			wrong(cmp.Or(p.name, p.path), tooLong, MaxParam)
		}
	})
}

const tooLong = "is longer than %d bytes"

// check returns what is wrong with v, if anything is.
func (p param) check(v reflect.Value) string {
	n, isNumber := v.Interface().(*int)
	switch {
	case v.Kind() == reflect.Int:
		v.SetInt(max(0, v.Int()))
		if int(v.Int()) > p.most {
			return p.numberProblem()
		}
	case isNumber && n != nil:
		if *n < 0 || *n > p.most {
			return p.numberProblem()
		}
	case v.Kind() == reflect.String && p.path == "":
		if len(v.String()) > MaxParam {
			return fmt.Sprintf(tooLong, MaxParam)
		}
		v.SetString(strings.ToValidUTF8(v.String(), "\uFFFD"))
		return p.checkWords(v.String())
	}
	return ""
}

func (p param) checkWords(text string) string {
	if len(p.words) == 0 || text == "" {
		return ""
	}
	words, more := []string{text}, ""
	if p.several {
		words, more = strings.Split(text, ","), ", nor several of them with commas between"
	}
	for _, word := range words {
		if !slices.Contains(p.words, strings.TrimSpace(word)) {
			return "is none of " + strings.Join(p.words, ", ") + more
		}
	}
	return ""
}

// MustKnow is the position that the answer to query, which points to a struct, must know; 0: whatever is known.
func MustKnow(query any) (at events.Position) {
	eachParam(reflect.ValueOf(query).Elem(), func(p param, v reflect.Value) {
		if p.wait {
			at = events.Position(v.Uint())
		}
	})
	return at
}

// Most is the largest number that the parameter of that name of query, a struct, may be.
func Most(query any, name string) int { return named(query, name).most }

func named(query any, name string) (found param) {
	eachParam(reflect.ValueOf(query), func(p param, _ reflect.Value) {
		if p.name == name {
			found = p
		}
	})
	return found
}

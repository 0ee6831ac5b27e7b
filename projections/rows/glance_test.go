package rows

import (
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
)

// A word of any text of a row is found in what is stored of it, however it is written there.
func TestWordsAreFoundInStoredRows(t *testing.T) {
	t.Parallel()
	codec := engine.NewCodec()
	fields := reflect.TypeFor[Row]()
	for i := range fields.NumField() {
		for _, text := range []string{
			"the queries ran", "QUERIES", strings.Repeat("so ", 30_000) + "Queries", "Querİes", "検索queries", "\xffqueries", "ЗАПРОС queries", "\xd0 Queries запрос",
		} {
			row := Row{ID: events.ID{1}, Kind: Observation, Count: 3}
			switch f := reflect.ValueOf(&row).Elem().Field(i); f.Interface().(type) {
			case string:
				f.SetString(text)
			case []string:
				f.Set(reflect.ValueOf([]string{"another", text}))
			}
			if text = strings.ToLower(strings.Join(append(row.Words(), row.Concepts...), "\n")); !strings.Contains(text, "queries") {
				continue
			}
			stored, err := codec.Encode(&row)
			if err != nil {
				t.Fatal(err)
			}
			holds := make([]bool, 3)
			newWordFinder([]string{"queries", "索", "nowhere"}).find(stored, holds)
			if !holds[0] || holds[1] != strings.Contains(text, "索") || holds[2] {
				t.Errorf("%s %.20q: got %v, want its words found, and only these", fields.Field(i).Name, text, holds)
			}
			newWordFinder([]string{"queries", "запрос"}).find(stored, holds[:2])
			if !holds[0] || holds[1] != strings.Contains(text, "запрос") {
				t.Errorf("%s %.20q: got %v, want its words found, and only these", fields.Field(i).Name, text, holds[:2])
			}
			newWordFinder([]string{"queries", "nowhere"}).find(stored, holds[:2])
			if !holds[0] || holds[1] && !strings.Contains(string(stored), "İ") {
				t.Errorf("%s %.20q: of ASCII alone: got %v, want its word found, and only that", fields.Field(i).Name, text, holds[:2])
			}
		}
	}
}

// What wordFinder says of letters beyond ASCII holds of all there are.
func TestLettersWithALowerCaseInASCII(t *testing.T) {
	t.Parallel()
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		odd := string(r) == string(dottedI) || string(r) == string(kelvin)
		if low := unicode.ToLower(r); (low < utf8.RuneSelf) != odd {
			t.Errorf("%U is %U in lower case", r, low)
		}
	}
}

// A glance says of a row that it is listed where the row does.
func TestGlanceOfWhatIsListed(t *testing.T) {
	t.Parallel()
	codec := engine.NewCodec()
	row, all := reflect.TypeFor[Row](), reflect.TypeFor[standing]()
	for i := range all.NumField() {
		f := all.Field(i)
		if of, ok := row.FieldByName(f.Name); !ok || of.Type != f.Type || of.Tag.Get("cbor") != f.Tag.Get("cbor") {
			t.Errorf("%s is not as a row has it", f.Name)
		}
	}
	whole := Row{Kind: Summary, Title: "x", Turn: events.ID{7}, Count: 1}
	for i := range row.NumField() {
		r := whole
		switch f := reflect.ValueOf(&r).Elem().Field(i); f.Interface().(type) {
		case bool:
			f.SetBool(true)
		case Kind:
			f.SetString("")
		case events.ID:
			f.Set(reflect.ValueOf(events.ID{9}))
		case []events.ID:
			f.Set(reflect.ValueOf([]events.ID{{9}}))
		}
		stored, err := codec.Encode(&r)
		if err != nil {
			t.Fatal(err)
		}
		var s standing
		if err := codec.Decode(stored, &s); err != nil || s.listed() != r.Listed() {
			t.Errorf("%s: a glance says %v (%v), the row %v", row.Field(i).Name, s.listed(), err, r.Listed())
		}
	}
}

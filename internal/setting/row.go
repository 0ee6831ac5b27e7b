package setting

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Facts are what is known of a setting wherever its value goes.
type Facts struct {
	Key      string
	Kind     Kind
	Standard string   // the default, as it would be written
	Limits   string   // what it may be, for people
	Doc      string   // what it means
	Words    []string // the only ones that it may be, or be made of; nil: it is no choice of words
	Secret   bool     // no value of it is repeated in an error: somebody may have put a key there
}

// Env is the variable that sets it.
func (f Facts) Env() string { return EnvPrefix + strings.ToUpper(f.Key) }

// EnvPrefix begins the variables that are cmemd's.
const EnvPrefix = "CMEMD_"

// A Row is one setting and the field that holds its value.
type Row struct {
	Facts
	Read func(text string) bool // whether the text can be read; if so the field has its value, be it within the limits or not
	Set  func(text string) bool // whether it can be read and is within the limits; if not, the field keeps what it has
	Get  func() string          // the value of the field, as it may be shown and recorded
}

// newRow is the row of the field at, without its limits.
func newRow[T any](f form[T], at *T, key string, standard T, doc string, allowed func(T) bool) Row {
	set := func(text string, allowed func(T) bool) bool {
		v, ok := f.read(text)
		if ok = ok && allowed(v); ok {
			*at = v
		}
		return ok
	}
	return Row{
		Facts: Facts{Key: key, Kind: f.kind, Standard: f.write(standard), Doc: doc},
		Read:  func(text string) bool { return set(text, func(T) bool { return true }) },
		Set:   func(text string) bool { return set(text, allowed) },
		Get:   func() string { return f.write(*at) },
	}
}

// ranged is a row of values from low to high.
func ranged[T cmp.Ordered](f form[T], at *T, key string, standard, low, high T, doc string) Row {
	r := newRow(f, at, key, standard, doc, func(v T) bool { return low <= v && v <= high })
	r.Limits = f.write(low) + " to " + f.write(high)
	return r
}

// Number is a whole number from low to high.
func Number[T int | int64](at *T, key string, standard, low, high T, doc string) Row {
	return ranged(numbers[T](), at, key, standard, low, high, doc)
}

// Duration is a time from low to high.
func Duration(at *time.Duration, key string, standard, low, high time.Duration, doc string) Row {
	return ranged(durations(), at, key, standard, low, high, doc)
}

// Bytes is a number of bytes from low to high.
func Bytes(at *int64, key string, standard, low, high int64, doc string) Row {
	return ranged(form[int64]{KindBytes, ParseBytes, FormatBytes}, at, key, standard, low, high, doc)
}

// Money is an amount from nothing, which is the default, to high.
func Money(at *float64, key string, high float64, doc string) Row {
	r := ranged(form[float64]{KindMoney, parseMoney, formatMoney}, at, key, 0, 0, high, doc)
	r.Limits = fmt.Sprintf("0 to %.0f", high)
	return r
}

// Word is one of words.
func Word[T ~string](at *T, key string, standard T, words []T, doc string) Row {
	r := newRow(texts[T](), at, key, standard, doc, func(text T) bool { return slices.Contains(words, text) })
	for _, w := range words {
		r.Words = append(r.Words, string(w))
	}
	r.Limits = strings.Join(r.Words, ", ")
	return r
}

// Text is any text that is allowed, which limits tells.
func Text(at *string, key, standard, limits, doc string, allowed func(string) bool) Row {
	r := newRow(texts[string](), at, key, standard, doc, allowed)
	r.Limits = limits
	return r
}

// List is several texts with commas between them, or none, which is the default, as far as they are allowed.
func List(at *[]string, key, limits, doc string, allowed func([]string) bool) Row {
	r := newRow(lists(), at, key, nil, doc, allowed)
	r.Limits = limits
	return r
}

// Path is an absolute path, or empty, which is the default.
func Path(at *string, key, doc string) Row {
	return Text(at, key, "", "an absolute path, or empty", doc, func(text string) bool { return text == "" || filepath.IsAbs(text) })
}

// Model is the name of a model, or empty.
func Model(at *string, key, standard, doc string) Row {
	return Text(at, key, standard, "the name of a model, or empty", doc, isModel)
}

// isModel takes what every service could call a model.
func isModel(text string) bool {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	return len(text) <= 200 && !strings.HasPrefix(text, "-") && !strings.ContainsFunc(text, odd)
}

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

// A Row is one setting whose value goes to a field of a C.
type Row[C any] struct {
	Facts
	Read    func(c *C, text string) bool // whether the text can be read; then c has its value
	Allowed func(c *C) bool              // whether the value in c is within the limits
	Get     func(c *C) string            // the value in c, as it may be shown and recorded
}

// Set puts the value of a text into c and reports whether it is within the limits. If not, what c has is not defined.
func (r Row[C]) Set(c *C, text string) bool { return r.Read(c, text) && r.Allowed(c) }

// newRow is a row without its limits.
func newRow[C, T any](f form[T], key string, standard T, doc string, at func(*C) *T, allowed func(T) bool) Row[C] {
	return Row[C]{
		Facts: Facts{Key: key, Kind: f.kind, Standard: f.write(standard), Doc: doc},
		Read: func(c *C, text string) bool {
			v, ok := f.read(text)
			if ok {
				*at(c) = v
			}
			return ok
		},
		Allowed: func(c *C) bool { return allowed(*at(c)) },
		Get:     func(c *C) string { return f.write(*at(c)) },
	}
}

// ranged is a row of values from low to high.
func ranged[C any, T cmp.Ordered](f form[T], key string, standard, low, high T, doc string, at func(*C) *T) Row[C] {
	r := newRow(f, key, standard, doc, at, func(v T) bool { return low <= v && v <= high })
	r.Limits = f.write(low) + " to " + f.write(high)
	return r
}

// Number is a whole number from low to high.
func Number[C any, T int | int64](key string, standard, low, high T, doc string, at func(*C) *T) Row[C] {
	return ranged(numbers[T](), key, standard, low, high, doc, at)
}

// Duration is a time from low to high.
func Duration[C any](key string, standard, low, high time.Duration, doc string, at func(*C) *time.Duration) Row[C] {
	return ranged(durations(), key, standard, low, high, doc, at)
}

// Bytes is a number of bytes from low to high.
func Bytes[C any](key string, standard, low, high int64, doc string, at func(*C) *int64) Row[C] {
	return ranged(form[int64]{KindBytes, parseBytes, FormatBytes}, key, standard, low, high, doc, at)
}

// Money is an amount from nothing, which is the default, to high.
func Money[C any](key string, high float64, doc string, at func(*C) *float64) Row[C] {
	r := ranged(form[float64]{KindMoney, parseMoney, formatMoney}, key, 0, 0, high, doc, at)
	r.Limits = fmt.Sprintf("0 to %.0f", high)
	return r
}

// Word is one of words.
func Word[C any, T ~string](key string, standard T, words []T, doc string, at func(*C) *T) Row[C] {
	r := newRow(texts[T](), key, standard, doc, at, func(text T) bool { return slices.Contains(words, text) })
	for _, w := range words {
		r.Words = append(r.Words, string(w))
	}
	r.Limits = strings.Join(r.Words, ", ")
	return r
}

// Text is any text that is allowed, which limits tells.
func Text[C any](key, standard, limits, doc string, allowed func(string) bool, at func(*C) *string) Row[C] {
	r := newRow(texts[string](), key, standard, doc, at, allowed)
	r.Limits = limits
	return r
}

// List is several texts with commas between them, or none, which is the default, as far as they are allowed.
func List[C any](key, limits, doc string, allowed func([]string) bool, at func(*C) *[]string) Row[C] {
	r := newRow(lists(), key, nil, doc, at, allowed)
	r.Limits = limits
	return r
}

// Within is rows of a C as those of a D that has the C at at.
func Within[C, D any](rows []Row[C], at func(*D) *C) []Row[D] {
	var within []Row[D]
	for _, r := range rows {
		within = append(within, Row[D]{
			Facts:   r.Facts,
			Read:    func(d *D, text string) bool { return r.Read(at(d), text) },
			Allowed: func(d *D) bool { return r.Allowed(at(d)) },
			Get:     func(d *D) string { return r.Get(at(d)) },
		})
	}
	return within
}

// Path is an absolute path, or empty, which is the default.
func Path[C any](key, doc string, at func(*C) *string) Row[C] {
	return Text(key, "", "an absolute path, or empty", doc, func(text string) bool { return text == "" || filepath.IsAbs(text) }, at)
}

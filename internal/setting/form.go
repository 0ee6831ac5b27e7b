package setting

import (
	"strconv"
	"strings"
	"time"
)

// Kind is how a setting is written in the file.
type Kind string

// The kinds.
const (
	KindText     Kind = "text"
	KindNumber   Kind = "number"
	KindBytes    Kind = "bytes"
	KindDuration Kind = "duration"
	KindMoney    Kind = "money" // a number with decimals, too
	KindList     Kind = "list"  // of texts without commas; its text has commas between them
)

// form is how values of one kind are read and written. What is written can be read.
type form[T any] struct {
	kind  Kind
	read  func(text string) (value T, ok bool)
	write func(T) string
}

func texts[T ~string]() form[T] {
	return form[T]{KindText, func(text string) (T, bool) { return T(text), true }, func(text T) string { return string(text) }}
}

func lists() form[[]string] {
	return form[[]string]{
		KindList, func(text string) ([]string, bool) { return SplitList(text), true },
		func(list []string) string { return strings.Join(list, Comma+" ") },
	}
}

func numbers[T int | int64]() form[T] {
	return form[T]{
		KindNumber, func(text string) (T, bool) {
			n, err := strconv.ParseInt(text, 10, 64)
			return T(n), err == nil && int64(T(n)) == n
		},
		func(n T) string { return strconv.FormatInt(int64(n), 10) },
	}
}

func durations() form[time.Duration] {
	read := func(text string) (time.Duration, bool) {
		d, err := time.ParseDuration(text)
		return d, err == nil
	}
	return form[time.Duration]{KindDuration, read, ShortDuration}
}

// Comma stands between the texts of a list.
const Comma = ","

// SplitList parts what has commas between; a text without any word is no list.
func SplitList(text string) (list []string) {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	for w := range strings.SplitSeq(text, Comma) {
		list = append(list, strings.TrimSpace(w))
	}
	return list
}

// ShortDuration writes d without the zero parts that time.Duration adds: 10m, not 10m0s.
func ShortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// byteUnits are what a number of bytes may be written in, the largest first.
func byteUnits() []string { return []string{"TiB", "GiB", "MiB", "KiB"} }

// ParseBytes reads a number of bytes: 67108864 or 64MiB. ok is false for anything else, and for what overflows.
func ParseBytes(text string) (n int64, ok bool) {
	factor := int64(1) << 40
	for _, unit := range byteUnits() {
		if digits, found := strings.CutSuffix(text, unit); found {
			text = digits
			break
		}
		factor >>= 10
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/factor {
		return 0, false
	}
	return n * factor, true
}

// FormatBytes writes n so that a setting reads it back, in the largest unit that leaves it whole.
func FormatBytes(n int64) string {
	factor := int64(1) << 40
	for _, unit := range byteUnits() {
		if n >= factor && n%factor == 0 {
			return strconv.FormatInt(n/factor, 10) + unit
		}
		factor >>= 10
	}
	return strconv.FormatInt(n, 10)
}

// parseMoney reads an amount: digits, and behind a point at most two more. ok is false for anything else.
func parseMoney(text string) (usd float64, ok bool) {
	whole, cents, _ := strings.Cut(text, ".")
	digits := func(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' }) }
	if whole == "" || len(cents) > 2 || !digits(whole) || !digits(cents) || strings.HasSuffix(text, ".") {
		return 0, false
	}
	usd, err := strconv.ParseFloat(text, 64)
	return usd, err == nil
}

// formatMoney writes an amount to the cent.
func formatMoney(usd float64) string { return strconv.FormatFloat(usd, 'f', 2, 64) }

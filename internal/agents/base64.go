package agents

import (
	"fmt"
	"strings"
)

const (
	// minRun is the shortest line of base64 that may be part of a wrapped run: encoders wrap at 64 or 76.
	minRun = 60

	// minBlob is the shortest run of base64 that is left out of a text: no hash, token or id is that long.
	minBlob = 1024

	// minData is the shortest base64 that is left out where it is all that a member called data or base64 holds.
	minData = 256

	blobLeftOut = "[cmemd: %d bytes of base64 left out]"
)

func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '+' || c == '/' || c == '=' || c == '-' || c == '_'
}

// foldBase64 replaces each run of at least minBlob bytes of base64, wrapped or not, by its size. Rulers of one character
// and long words are none: a run has to hold upper and lower case and digits. Linear time.
func foldBase64(s string) string {
	if len(s) < minBlob {
		return s
	}
	var out strings.Builder
	from := 0
	for i := 0; i < len(s); {
		if !isBase64(s[i]) {
			i++
			continue
		}
		end := runEnd(s, i)
		if end-i >= minBlob && mixed(s[i:end]) {
			out.WriteString(s[from:i])
			fmt.Fprintf(&out, blobLeftOut, end-i)
			from = end
		}
		i = end
	}
	if from == 0 {
		return s
	}
	out.WriteString(s[from:])
	return out.String()
}

// runEnd returns where the run of base64 that starts at s[i] ends. It goes on behind a full line if the next line is
// nothing but base64.
func runEnd(s string, i int) int {
	for {
		end := wordEnd(s, i)
		if end-i < minRun || end == len(s) || s[end] != '\n' {
			return end
		}
		next := wordEnd(s, end+1)
		if next == end+1 || next < len(s) && s[next] != '\n' {
			return end
		}
		i = end + 1
	}
}

// wordEnd returns the index of the first byte from i on that is no base64.
func wordEnd(s string, i int) int {
	for i < len(s) && isBase64(s[i]) {
		i++
	}
	return i
}

// mixed reports whether s holds upper case, lower case and digits, as encoded bytes do.
func mixed(s string) bool {
	var upper, lower, digit bool
	for i := range len(s) {
		c := s[i]
		upper = upper || 'A' <= c && c <= 'Z'
		lower = lower || 'a' <= c && c <= 'z'
		digit = digit || '0' <= c && c <= '9'
		if upper && lower && digit {
			return true
		}
	}
	return false
}

// isData reports whether s, the value of the member whose raw key is given, is an encoded blob by its place.
func isData(key, s string) bool {
	return (key == `"data"` || key == `"base64"`) && len(s) >= minData && wordEnd(s, 0) == len(s)
}

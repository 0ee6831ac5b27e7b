package prompt

import (
	"fmt"
	"strings"
)

const (
	// minRun is the shortest run of base64 that is taken for encoded bytes: no hash, token or path is that long.
	minRun = 256

	// minLine and maxLine are the lengths of a full line of a wrapped run: encoders wrap at 64 or 76.
	minLine, maxLine = 60, 128

	// minURL is the shortest run that is taken for encoded bytes where a data URL says so.
	minURL = 16

	imageForm  = "[image: %d bytes]"
	base64Form = "[base64: %d bytes]"

	// capturedForm stands in captured text where encoded bytes were left out when it was recorded.
	capturedForm = "[cmemd: %d bytes of base64 left out]"
)

// foldBlobs replaces data URLs and long runs of base64, wrapped or not, by what they are and how many bytes they encode.
// A run has to hold upper case, lower case and digits: rulers and long words are none. Linear time.
func foldBlobs(s string) string {
	if len(s) < minURL {
		return s
	}
	var out strings.Builder
	from := 0
	for i := 0; i < len(s); {
		if !isBase64(s[i]) {
			i++
			continue
		}
		start := dataURL(s, from, i)
		end := runEnd(s, i)
		if run := s[i:end]; start < i && len(run) >= minURL || len(run) >= minRun && isMixed(run) {
			form := base64Form
			if strings.HasPrefix(s[start:], "data:image/") {
				form = imageForm
			}
			out.WriteString(s[from:start])
			fmt.Fprintf(&out, form, decodedSize(run))
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

// dataURL is where the head of a data URL begins that ends at s[i], "data:image/png;base64,", or i if there is none behind
// from.
func dataURL(s string, from, i int) int {
	const sign, longest = ";base64,", 120
	if !strings.HasSuffix(s[from:i], sign) {
		return i
	}
	window := max(from, i-longest)
	n := strings.LastIndex(s[window:i], "data:")
	if n < 0 || strings.ContainsAny(s[window+n:i-len(sign)], " \n\t\"'<>(),") {
		return i
	}
	return window + n
}

// runEnd is where the run of base64 that starts at s[i] ends. It goes on behind a full line if the next line is nothing but
// base64.
func runEnd(s string, i int) int {
	for {
		end := wordEnd(s, i)
		if end-i < minLine || end-i > maxLine || end == len(s) || s[end] != '\n' {
			return end
		}
		next := wordEnd(s, end+1)
		if next == end+1 || next < len(s) && s[next] != '\n' {
			return end
		}
		i = end + 1
	}
}

func wordEnd(s string, i int) int {
	for i < len(s) && isBase64(s[i]) {
		i++
	}
	return i
}

func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '+' || c == '/' || c == '=' || c == '-' || c == '_'
}

// isMixed reports whether s holds upper case, lower case and digits, as encoded bytes do.
func isMixed(s string) bool {
	var upper, lower, digit bool
	for i := range len(s) {
		c := s[i]
		upper = upper || 'A' <= c && c <= 'Z'
		lower = lower || 'a' <= c && c <= 'z'
		digit = digit || '0' <= c && c <= '9'
	}
	return upper && lower && digit
}

// decodedSize is how many bytes a run of base64 encodes.
func decodedSize(run string) int {
	return (len(run) - strings.Count(run, "\n") - strings.Count(run, "=")) * 3 / 4
}

// blobSize is how many bytes s stands for if it is nothing but a data URL, base64, or what capturing left of it.
func blobSize(s string) (n int, ok bool) {
	if _, err := fmt.Sscanf(s, capturedForm, &n); err == nil {
		return n * 3 / 4, true
	}
	if _, data, found := strings.Cut(s, ";base64,"); found && strings.HasPrefix(s, "data:") {
		s = data
	}
	s = strings.TrimRight(s, "\n")
	return decodedSize(s), len(s) >= minURL && wordEnd(strings.ReplaceAll(s, "\n", "A"), 0) == len(s)
}

package agents

import (
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/internal/clip"
)

const (
	// minRun is the shortest line of base64 that may be part of a wrapped run: encoders wrap at 64 or 76.
	minRun = 60

	// minBlob is the shortest run of base64 that is left out of a text: no hash, token or id is that long.
	minBlob = 1024

	// minData is the shortest base64 that is left out where it is all that a member called data or base64 holds.
	minData = 256
)

// foldBase64 replaces each run of at least minBlob bytes of base64, wrapped or not, by its size. Rulers of one character
// and long words are none: a run has to hold upper and lower case and digits. Linear time.
func foldBase64(s string) string {
	if len(s) < minBlob {
		return s
	}
	var out strings.Builder
	from := 0
	for i := 0; i < len(s); {
		if !clip.IsBase64(s[i]) {
			i++
			continue
		}
		end := runEnd(s, i)
		if end-i >= minBlob && clip.IsMixed(s[i:end]) {
			out.WriteString(s[from:i])
			fmt.Fprintf(&out, clip.Base64LeftOut, end-i)
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
		end := clip.Base64End(s, i)
		if end-i < minRun || end == len(s) || s[end] != '\n' {
			return end
		}
		next := clip.Base64End(s, end+1)
		if next == end+1 || next < len(s) && s[next] != '\n' {
			return end
		}
		i = end + 1
	}
}

// isData reports whether s, the value of the member whose raw key is given, is an encoded blob by its place.
func isData(key, s string) bool {
	return (key == `"data"` || key == `"base64"`) && len(s) >= minData && clip.Base64End(s, 0) == len(s)
}

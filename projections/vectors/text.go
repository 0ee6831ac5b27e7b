package vectors

import (
	"strings"

	"github.com/cmemd/cmemd/projections/rows"
)

// maxText is how many bytes of a row are embedded: some 2,000 tokens of English, 4,000 of Chinese. Models that read less
// cut by themselves; those that refuse are asked with less.
const maxText = 8 << 10

// textOf is what of a row is embedded: what people wrote or read of it, the most telling first.
func textOf(r rows.Row) string {
	var b strings.Builder
	for _, p := range append(r.Words(), strings.Join(r.Concepts, ", ")) {
		if p = strings.TrimSpace(p); p == "" || b.Len() > maxText {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p)
	}
	return b.String()
}

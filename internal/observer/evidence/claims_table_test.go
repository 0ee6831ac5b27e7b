package evidence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// table reads a file of testdata: fields between tabs, a case a line, "\n" for a line break.
func table(t testing.TB, name string, fields int) (rows [][]string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.SplitSeq(strings.TrimSpace(string(b)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.Split(line, "\t")
		if len(row) != fields || seen[row[0]] {
			t.Fatalf("%s: %q has %d fields, want %d, or its name twice", name, line, len(row), fields)
		}
		seen[row[0]] = true
		row[fields-1] = strings.ReplaceAll(row[fields-1], `\n`, "\n")
		rows = append(rows, row)
	}
	return rows
}

func TestTableOfClaims(t *testing.T) {
	t.Parallel()
	rows := table(t, "claims.tsv", 3)
	if len(rows) < 25 {
		t.Errorf("%d cases, want at least 25", len(rows))
	}
	for _, row := range rows {
		if diff := cmp.Diff(strings.Split(row[1], ","), Claims(row[2])); diff != "" {
			t.Errorf("%s: Claims(%q) (-want +got):\n%s", row[0], row[2], diff)
		}
	}
}

func TestTableOfNoClaims(t *testing.T) {
	t.Parallel()
	rows := table(t, "no_claims.tsv", 2)
	if len(rows) < 60 {
		t.Errorf("%d cases, want at least 60", len(rows))
	}
	for _, row := range rows {
		if got := Claims(row[1]); got != nil {
			t.Errorf("%s: Claims(%q) = %q", row[0], row[1], got)
		}
	}
}

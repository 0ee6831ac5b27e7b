//go:build unix

package faults

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPageListsWhatIsTried: docs/faults.md and the suite name the same.
func TestPageListsWhatIsTried(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "faults.md"))
	if err != nil {
		t.Fatal(err)
	}
	var listed, tried []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`-]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, m[1])
	}
	for _, o := range operations() {
		tried = append(tried, o.name)
	}
	for _, k := range kinds {
		tried = append(tried, k.name)
	}
	for _, w := range ways() {
		tried = append(tried, w.name)
	}
	for _, h := range hands() {
		tried = append(tried, h.name)
	}
	slices.Sort(listed)
	slices.Sort(tried)
	if diff := cmp.Diff(tried, listed); diff != "" {
		t.Errorf("the suite and docs/faults.md differ (-suite +page):\n%s", diff)
	}
	for _, w := range (&home{}).workers() {
		if !regexp.MustCompile("`" + w.name + "`").Match(page) {
			t.Errorf("docs/faults.md does not name what runs while daemons are killed: %s", w.name)
		}
	}
}

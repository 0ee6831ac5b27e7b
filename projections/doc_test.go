package projections

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocListsTheViews holds the list in the package comment to the views that there are, in their order.
func TestDocListsTheViews(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var listed, want []string
	for _, line := range regexp.MustCompile(`(?m)^//\t([a-z]+) `).FindAllSubmatch(doc, -1) {
		listed = append(listed, string(line[1]))
	}
	for _, view := range allViews() {
		want = append(want, view.Name())
	}
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("doc.go (-views +listed):\n%s", diff)
	}
}

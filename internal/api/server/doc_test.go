package server

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/google/go-cmp/cmp"
)

// TestDocListsTheRoutes: the package comment names every route, and no other.
func TestDocListsTheRoutes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, m := range regexp.MustCompile(`(?m)^//\t(GET|POST) +(/\S+)`).FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[1]+" "+m[2])
	}
	served := []string{api.Endpoint(api.HookRoute).Pattern()}
	for _, e := range (&Server{}).endpoints() {
		served = append(served, e.Pattern())
	}
	slices.SortFunc(listed, strings.Compare)
	slices.SortFunc(served, strings.Compare)
	if diff := cmp.Diff(served, listed); diff != "" {
		t.Errorf("routes in doc.go (-served +listed):\n%s", diff)
	}
}

package server

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

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
	s := &Server{}
	served := slices.Concat([]string{"POST /v1/hooks/{agent}"}, slices.Collect(maps.Keys(s.plainRoutes())), slices.Collect(maps.Keys(s.streamRoutes())))
	slices.SortFunc(listed, strings.Compare)
	slices.SortFunc(served, strings.Compare)
	if diff := cmp.Diff(served, listed); diff != "" {
		t.Errorf("routes in doc.go (-served +listed):\n%s", diff)
	}
}

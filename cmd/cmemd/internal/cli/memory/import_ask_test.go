package memory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
)

func TestImportAsksForFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all := []importedProject{
		{Name: "shop", Entries: 7}, {Name: "known", Folder: "/src/known", Entries: 5}, {Name: "bank", Entries: 3}, {Entries: 2}, {Name: "till", Entries: 1},
	}
	for in, want := range map[string]map[string]string{
		"":                                    {},
		"\n\n\n":                              {},
		dir + "\n":                            {"shop": dir},
		"\n" + dir + "\n":                     {"bank": dir},
		file + "\n" + dir + "\n\n" + dir:      {"shop": dir, "till": dir},
		filepath.Join(dir, "gone") + "\n\n\n": {},
	} {
		a, _, errors := clitest.App()
		got := map[string]string{}
		answered, err := askFolders(a, strings.NewReader(in), all, got)
		if diff := cmp.Diff(want, got); diff != "" || err != nil || answered != (len(want) > 0) {
			t.Errorf("%q: answered %t, %v (-want +got):\n%s\n%s", in, answered, err, diff, errors)
		}
		if strings.Contains(errors.String(), "known") {
			t.Errorf("asked for what is known: %s", errors)
		}
	}
}

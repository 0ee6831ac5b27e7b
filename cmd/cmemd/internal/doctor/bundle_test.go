package doctor

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/testkit/secrets"
)

// readBundle returns the files of a bundle, by name.
func readBundle(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for archive := tar.NewReader(zipped); ; {
		head, err := archive.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(head.Name)] = string(text)
	}
}

// TestBundleHoldsNoSecrets plants secrets in all that goes into a bundle.
func TestBundleHoldsNoSecrets(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	x := patientAt(t, now)
	all := secrets.Make(815)
	var log strings.Builder
	found := diagnosis{Home: x.paths.Home}
	for _, s := range all {
		log.WriteString("time=2026 level=WARN msg=\"it failed\" err=\"see\n" + s.Text + "\"\n")
		found.Checks = append(found.Checks, finding{Name: "x", Detail: "it says " + s.Text, Mend: s.Text})
	}
	log.WriteString("level=DEBUG msg=\"words of a prompt\"\n{\"level\":\"DEBUG\",\"msg\":\"words of a prompt\"}\nlevel=INFO msg=\"the end\"\n")
	for _, path := range []string{x.paths.LogFile, x.paths.StartLog} {
		if err := os.WriteFile(path, []byte(log.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x.config.SkipTools = []string{all[0].Text}
	x.status.Spool.LostReason = all[1].Text
	path := filepath.Join(t.TempDir(), "report.tar.gz")
	if err := x.writeBundle(t.Context(), found, path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	files := readBundle(t, path)
	for _, name := range []string{"README.txt", "doctor.json", "system.json", "settings.json", "status.json", "daemon.log", "start.log"} {
		text := files[name]
		if text == "" {
			t.Errorf("there is no %s", name)
		}
		if strings.HasSuffix(name, ".json") && !json.Valid([]byte(text)) {
			t.Errorf("%s is no JSON", name)
		}
		for _, s := range all {
			if strings.Contains(text, s.Find) || strings.Contains(text, strings.Trim(clitest.JSON(s.Find), `"`)) {
				t.Errorf("%s holds %s %q", name, s.Rule, s.Find)
			}
		}
		if strings.Contains(text, "words of a prompt") {
			t.Errorf("%s holds lines for debugging", name)
		}
	}
	if !strings.Contains(files["daemon.log"], "the end") || !strings.Contains(files["doctor.json"], "[redacted:") {
		t.Error("the log has no end, or nothing was taken out")
	}
	if err := x.writeBundle(t.Context(), found, path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
}

func TestTailOf(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	line := strings.Repeat("x", 99) + "\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(line, 2*bundleTail/len(line))), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := tailOf(path)
	if err != nil || len(text) > bundleTail || len(text) < bundleTail-len(line) || len(text)%len(line) != 0 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if _, err := tailOf(t.TempDir()); err == nil {
		t.Error("a folder has an end")
	}
}

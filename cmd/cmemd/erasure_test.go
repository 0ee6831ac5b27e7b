package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// holding lists the files below a folder that hold a word, in any letter case, as it stands or in a payload that is compressed.
func holding(dir, word string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if os.IsNotExist(err) { // it was replaced while we looked
			return nil
		}
		if err != nil {
			return err
		}
		packed, err := unpacked(b)
		if says(b, word) || says(packed, word) {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

func says(b []byte, word string) bool {
	return bytes.Contains(bytes.ToLower(b), []byte(strings.ToLower(word)))
}

// unpacked is what all frames of zstd in b hold, wherever they begin: payloads above 1 KiB, in pages that are free as well.
func unpacked(b []byte) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var out bytes.Buffer
	for magic := []byte{0x28, 0xb5, 0x2f, 0xfd}; ; b = b[1:] {
		at := bytes.Index(b, magic)
		if at < 0 {
			return out.Bytes(), nil
		}
		if b = b[at:]; d.Reset(bytes.NewReader(b)) == nil {
			_, _ = io.Copy(&out, d) // up to what is no frame
		}
	}
}

// TestHoldingSeesThroughCompression: a word in a payload that is compressed is found in the log, and not by its bytes.
func TestHoldingSeesThroughCompression(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, err := eventlog.Open(filepath.Join(dir, "log.db"), eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{longWith("first"), strings.Repeat("nothing to see ", 200), longWith("second")} {
		d := events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(), Event: events.ToolUsed{Tool: "Bash", Output: text}}
		if _, err := eventlog.AppendEnd(t.Context(), log, events.SessionIDOf("a", "s").Stream(), d); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "log.db"))
	if err != nil || says(b, "secondsecret") {
		t.Fatalf("the payload stands there as it is, %v: this shows nothing", err)
	}
	for word, want := range map[string]int{"FIRSTsecret": 1, "secondsecret": 1, "thirdsecret": 0} {
		if files, err := holding(dir, word); err != nil || len(files) != want {
			t.Errorf("%s is in %v, %v; want %d", word, files, err, want)
		}
	}
}

// longWith is a text that compresses well, so that nothing of a word stands in its payload as it is but by chance.
func longWith(word string) string {
	text := strings.Repeat("the build went on, and its output was long: ", 60)
	for i := range word + "secret" {
		text += (word + "secret")[:i+1] + " and then\n"
	}
	return text
}

// nowhere WORD fails if a file of the home holds a word.
func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: nowhere WORD")
	}
	files, err := holding(home(ts).Home, args[0])
	ts.Check(err)
	if len(files) > 0 {
		ts.Fatalf("%q is in %v", args[0], files)
	}
}

// somewhere WORD fails unless the log holds a word: it shows that nowhere would find it.
func somewhere(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: somewhere WORD")
	}
	files, err := holding(home(ts).Home, args[0])
	ts.Check(err)
	for _, want := range []string{home(ts).Log, filepath.Join(home(ts).Views, "views.db")} {
		found := false
		for _, f := range files {
			found = found || f == want
		}
		if !found {
			ts.Fatalf("%q is in %v, not in %s", args[0], files, want)
		}
	}
}

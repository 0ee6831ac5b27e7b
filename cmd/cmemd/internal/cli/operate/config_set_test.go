package operate

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/setting"
)

// TestWhatIsSetIsRead takes any allowed value through a file.
func TestWhatIsSetIsRead(t *testing.T) {
	t.Parallel()
	n := len(new(config.Config).Settings())
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, n-1).Draw(t, "setting")
		s := new(config.Config).Settings()[i]
		value := rapid.OneOf(rapid.Just(s.Standard), rapid.SampledFrom(append(s.Words, "")), rapid.StringMatching(`[0-9]{1,4}(\.[0-9]{2})?`),
			rapid.StringMatching(`[1-9][0-9]?[smh]`), rapid.StringMatching(`/[a-z "'\\]{1,9}`), rapid.StringMatching(`[A-Z_]{1,9}`)).Draw(t, "value")
		if !s.Set(value) {
			t.Skip("not allowed")
		}
		after, err := config.Changed([]byte("# a\nslots = 3\n"), []config.Change{{Key: s.Key, Value: &value}})
		if err != nil {
			t.Fatal(err)
		}
		l, _ := config.ReadSettings("", nil, after, nil)
		if got := l.Settings()[i].Get(); got != s.Get() || !strings.HasPrefix(l.From[s.Key], config.FileName) || !bytes.HasPrefix(after, []byte("# a\n")) {
			t.Fatalf("%s = %q is written as\n%s\nand read %q from %s", s.Key, value, after, got, l.From[s.Key])
		}
	})
}

// TestConfigFileStaysALink: who keeps the settings elsewhere finds the change there.
func TestConfigFileStaysALink(t *testing.T) {
	t.Parallel()
	home, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "mine.toml")
	if err := os.WriteFile(elsewhere, []byte("slots = 3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(home, config.FileName)); err != nil {
		t.Skip("no links here: ", err)
	}
	four := "4"
	if err := changeConfig(t.Context(), appAt(home), []config.Change{{Key: "slots", Value: &four}}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(elsewhere)
	if info, _ := os.Lstat(filepath.Join(home, config.FileName)); err != nil || string(got) != "slots = 4\n" || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("got %q, %v, and the link is %v", got, err, info.Mode())
	}
}

// appAt is a command in a home.
func appAt(home string) *terminal.App {
	return &terminal.App{Out: io.Discard, Err: io.Discard, Getenv: func(name string) string {
		if name == "CMEMD_HOME" {
			return home
		}
		return ""
	}}
}

// TestChangesAtOnceAllStay: whoever changes settings at the same moment loses nothing of the others.
func TestChangesAtOnceAllStay(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	numbers := slices.DeleteFunc(new(config.Config).Settings(), func(s config.Setting) bool { return s.Kind != setting.KindNumber && s.Kind != setting.KindDuration })
	errs := make([]error, len(numbers))
	var all sync.WaitGroup
	for i, s := range numbers {
		all.Go(func() {
			for { // on a slow disk the last of so many is refused in time, which loses nothing: it asks again
				errs[i] = changeConfig(t.Context(), appAt(home), []config.Change{{Key: s.Key, Value: &s.Standard}})
				if !errors.Is(errs[i], homedir.ErrLocked) {
					return
				}
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	l, err := config.Load(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range numbers {
		if l.From[s.Key] == config.FromDefault {
			t.Errorf("%s is lost", s.Key)
		}
	}
	if len(numbers) < 10 {
		t.Errorf("only %d keys were set", len(numbers))
	}
}

// TestConfigFileKeepsItsMode but where others could write settings of this user.
func TestConfigFileKeepsItsMode(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no modes here")
	}
	for was, want := range map[os.FileMode]os.FileMode{0: 0o600, 0o600: 0o600, 0o644: 0o644, 0o664: 0o600, 0o646: 0o600} {
		home, three := t.TempDir(), "3"
		path := filepath.Join(home, config.FileName)
		if was != 0 {
			if err := errors.Join(os.WriteFile(path, nil, was), os.Chmod(path, was)); err != nil {
				t.Fatal(err)
			}
		}
		if err := changeConfig(t.Context(), appAt(home), []config.Change{{Key: "slots", Value: &three}}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%v became %v, %v, want %v", was, info.Mode(), err, want)
		}
	}
}

func TestWithoutFlags(t *testing.T) {
	t.Parallel()
	c := &cobra.Command{}
	c.PersistentFlags().String("home", "", "")
	c.Flags().Bool("json", false, "")
	args := []string{"slots", "-5", "--json", "x", "", "-", "--home", "h", "-.5", "--home=i", "-h"}
	rest, flags := withoutFlags(c, args)
	if diff := cmp.Diff([]string{"slots", "-5", "x", "", "-", "-.5"}, rest); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"--json", "--home", "h", "--home=i", "-h"}, flags); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestByteOrderMark: what some editors begin a file with is no setting, and one that stands there twice is none of theirs.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	home, four := t.TempDir(), "4"
	path := filepath.Join(home, config.FileName)
	if err := os.WriteFile(path, []byte(config.ByteOrderMark+"slots = 3\n"), homedir.OwnFile); err != nil {
		t.Fatal(err)
	}
	if l, err := config.Load(home, nil); err != nil || l.Slots != 3 || l.From["slots"] != config.FileName+":1" {
		t.Errorf("got %d from %s, %v", l.Slots, l.From["slots"], err)
	}
	if err := changeConfig(t.Context(), appAt(home), []config.Change{{Key: "slots", Value: &four}}); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "slots = 4\n" {
		t.Errorf("got %q, %v", data, err)
	}
	if err := os.WriteFile(path, []byte(config.ByteOrderMark+config.ByteOrderMark+"slots = 3\n"), homedir.OwnFile); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(home, nil); err == nil {
		t.Error("two of them are read")
	}
}

// TestReadOnlyConfigFileStays: what its owner made read-only is not changed, and the error says what to do.
func TestReadOnlyConfigFileStays(t *testing.T) {
	t.Parallel()
	home, four := t.TempDir(), "4"
	path := filepath.Join(home, config.FileName)
	if err := errors.Join(os.WriteFile(path, []byte("slots = 3\n"), 0o600), os.Chmod(path, 0o444)); err != nil {
		t.Fatal(err)
	}
	err := changeConfig(t.Context(), appAt(home), []config.Change{{Key: "slots", Value: &four}})
	if err == nil || !strings.Contains(err.Error(), path+" is read-only") || terminal.NextStep(err) != "chmod u+w "+path {
		t.Errorf("got %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "slots = 3\n" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

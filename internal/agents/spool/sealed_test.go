package spool

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/ignore"
	"github.com/cmemd/cmemd/internal/seal"
)

const planted = "correct-horse-battery"

// TestNothingReadableWaits: no word of a payload, nor whose it is, can be read from any file of a home.
func TestNothingReadableWaits(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := keyed(t, home)
	e := testEntry(`{"hook_event_name":"UserPromptSubmit","session_id":"s-1234","cwd":"/work/shop","prompt":"` + planted + `"}`)
	e.Ignore = []ignore.Source{{Folder: "/work/shop", Text: planted}}
	put := mustPut(t, s, e)
	if err := s.DeadLetter(mustPut(t, s, testEntry(planted)).Name, "400"); err != nil {
		t.Fatal(err)
	}
	files := 0
	err := filepath.WalkDir(filepath.Join(home, "spool"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		for _, word := range []string{planted, "s-1234", "shop", "claude-code", "prompt"} {
			if bytes.Contains(data, []byte(word)) {
				t.Errorf("%s says %s", path, word)
			}
		}
		return err
	})
	if err != nil || files != 3 {
		t.Errorf("%d files, %v; want two entries and a reason", files, err)
	}
	e.Name = put.Name
	if got, err := s.Read(put.Name); err != nil || !cmp.Equal(got, e) {
		t.Errorf("read %+v, %v; want %+v", got, err, e)
	}
}

// TestOlderDaemonsPassOver: releases before the sealed format take no name of new that begins with a dot, and of tmp no folder. Of
// what is sealed they so touch nothing: what waits, what a killed hook left, and dead letters, which they only count.
func TestOlderDaemonsPassOver(t *testing.T) {
	t.Parallel()
	s := keyed(t, t.TempDir())
	duringWrite := 0
	s.Written = func() {
		duringWrite++
		touchedByOlder(t, s, time.Now().Add(time.Hour))
	}
	if err := s.DeadLetter(mustPut(t, s, testEntry(`{"a":1}`)).Name, "400"); err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, testEntry(`{"a":2}`))
	if err := os.WriteFile(filepath.Join(s.tmp(), "left"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	touchedByOlder(t, s, time.Now().Add(time.Hour))
	if duringWrite != 3 {
		t.Errorf("looked at it %d times while it was written, want 3", duringWrite)
	}
	if err := os.WriteFile(filepath.Join(s.in("tmp"), "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := olderTouch(t, s, time.Now().Add(time.Hour)); !slices.Equal(got, []string{"tmp/other"}) {
		t.Errorf("the older rules touch %v, want what is their own", got)
	}
}

func touchedByOlder(t *testing.T, s *Spool, now time.Time) {
	t.Helper()
	if got := olderTouch(t, s, now); len(got) != 0 {
		t.Errorf("an older daemon touches %v", got)
	}
}

// olderTouch are the files of a spool that the drain and the rescue of release b68bbbc take, move or remove.
func olderTouch(t *testing.T, s *Spool, now time.Time) (paths []string) {
	t.Helper()
	for _, dir := range []string{"new", "tmp"} {
		files, err := durable.ReadDir(s.in(dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			info, err := f.Info()
			if err != nil {
				t.Fatal(err)
			}
			drained := dir == "new" && !strings.HasPrefix(f.Name(), ".")
			rescued := dir == "tmp" && !info.IsDir() && now.Sub(info.ModTime()) >= staleTmp
			if drained || rescued {
				paths = append(paths, dir+"/"+f.Name())
			}
		}
	}
	return paths
}

// TestFilesOfEarlierHooks are read as ever, in the order of time among the sealed ones, and are sealed as dead letters.
func TestFilesOfEarlierHooks(t *testing.T) {
	t.Parallel()
	s := keyed(t, t.TempDir())
	first, last := testEntry(`{"n":1}`), testEntry(`{"n":3}`)
	middle := testEntry(`{"n":2,"word":"` + planted + `"}`)
	middle.OccurredAt, last.OccurredAt = testTime.Add(1), testTime.Add(2)
	first, last = mustPut(t, s, first), mustPut(t, s, last)
	middle.Name = entryName(middle)
	if err := os.WriteFile(s.path(middle.Name), append(appendHeader(nil, middle), middle.Body...), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := mustNames(t, s); !slices.Equal(got, []string{first.Name, middle.Name, last.Name}) {
		t.Errorf("the order is %v", got)
	}
	if got, err := s.Read(middle.Name); err != nil || !cmp.Equal(got, middle) {
		t.Errorf("read %+v, %v", got, err)
	}
	if err := s.DeadLetter(middle.Name, "400"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(s.BadDir(), sealedPrefix+middle.Name))
	if err != nil || bytes.Contains(data, []byte(planted)) {
		t.Errorf("the dead letter: %s, %v", data, err)
	}
	if got := mustNames(t, s); len(got) != 2 {
		t.Errorf("in new: %v", got)
	}
}

// TestWithoutAKey keeps who, when and which tool, counts the rest, and says no word of it.
func TestWithoutAKey(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(home string) error{
		"no key was laid": func(home string) error { return os.RemoveAll(filepath.Join(home, "keys")) },
		"the key is cut":  func(home string) error { return os.Truncate(filepath.Join(home, "keys", "present.pub"), 10) },
		"nothing can be sealed to the key": func(home string) error {
			return os.WriteFile(filepath.Join(home, "keys", "present.pub"), []byte(strings.Repeat("0", 64)+"\n"), 0o600)
		},
		"the folder is open to others": func(home string) error {
			return os.Chmod(filepath.Join(home, "keys"), 0o777)
		},
	} {
		home := t.TempDir()
		s := keyed(t, home)
		if err := spoil(home); err != nil {
			t.Fatal(err)
		}
		e := testEntry(`{"hook_event_name":"PostToolUse","session_id":"s1","cwd":"/work","tool_name":"Bash","tool_use_id":"t1","duration_ms":12,` +
			`"tool_input":{"command":"` + planted + `"},"tool_response":{"stdout":"` + planted + `"},"prompt":"` + planted + `"}`)
		e.Ignore = []ignore.Source{{Folder: "/work", Text: planted}}
		got, err := s.Read(mustPut(t, s, e).Name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var members map[string]any
		if err := json.Unmarshal(got.Body, &members); err != nil {
			t.Errorf("%s: %v: %s", name, err, got.Body)
		}
		for key, want := range map[string]any{"session_id": "s1", "cwd": WithheldFolder, "tool_name": "Bash", "tool_use_id": "t1", "hook_event_name": "PostToolUse", "duration_ms": 12.0} {
			if members[key] != want {
				t.Errorf("%s: %s is %v, want %v", name, key, members[key], want)
			}
		}
		text, _ := members["tool_input"].(string)
		if !strings.Contains(text, "bytes withheld") || got.Redactions[Withheld] != 1 || bytes.Contains(got.Body, []byte(planted)) || got.Ignore != nil {
			t.Errorf("%s: kept %s, %v", name, got.Body, got.Redactions)
		}
		if got.Name != entryName(got) {
			t.Errorf("%s: the name is %s, which earlier releases pass over", name, got.Name)
		}
	}
}

// A dead letter that cannot be sealed anew stays as it was sealed: who kept it can open it.
func TestDeadLetterWithoutAKey(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"no key": "", "one that nothing can be sealed to": strings.Repeat("0", 64) + "\n"} {
		home := t.TempDir()
		s := keyed(t, home)
		put := mustPut(t, s, testEntry(`{"prompt":"`+planted+`"}`))
		if err := os.WriteFile(filepath.Join(home, "keys", "present.pub"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.DeadLetter(put.Name, "for the test"); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Retry(); n != 1 || err != nil {
			t.Errorf("%s: Retry = %d, %v", name, n, err)
		}
		if got, err := s.Read(put.Name); err != nil || !cmp.Equal(got, put) {
			t.Errorf("%s: read %+v, %v; want %+v", name, got, err, put)
		}
	}
}

func TestWithoutWords(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		``: `{}`, `no JSON`: `{}`, `[1]`: `{}`, `{}`: `{}`,
		`{"a":1,"b":null,"c":true}`:                                 `{"a":1,"b":null,"c":true}`,
		`{"hunter2":1,"a":2,"/home/bob":3}`:                         `{"a":2}`,
		`{"no, use the other key":true,"last-assistant-message":7}`: `{"last-assistant-message":7}`,
		`{"session_id":"x","prompt":"abc"}`:                         `{"session_id":"x","prompt":"[cmemd: 5 bytes withheld: there was no key]"}`,
		`{"workspace_roots":["/a"]}`:                                `{"workspace_roots":["/withheld"]}`,
		`{"session_id":"x","prompt":"ab`:                            `{}`,
		`{"reason":"hunter2","source":"/home/bob","trigger":"sk-live","timestamp":"2026-11-28 19:02:23"}`: `{"reason":"[cmemd: 9 bytes withheld: there was no key]",` +
			`"source":"[cmemd: 11 bytes withheld: there was no key]","trigger":"[cmemd: 9 bytes withheld: there was no key]","timestamp":"2026-11-28 19:02:23"}`,
		`{"reason":"logout","timestamp":"2026-11-28T19:02:23.07+01:00","tool_name":"Ask me"}`: `{"reason":"logout",` +
			`"timestamp":"2026-11-28T19:02:23.07+01:00","tool_name":"Ask me"}`,
		`{"reason":"no, use the other key"}`: `{"reason":"[cmemd: 23 bytes withheld: there was no key]"}`,
		`{"reason":"no\u0020way"}`:           `{"reason":"[cmemd: 13 bytes withheld: there was no key]"}`,
		`{"trigger":"né"}`:                   `{"trigger":"[cmemd: 5 bytes withheld: there was no key]"}`,
	} {
		if got := string(withoutWords([]byte(in))); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

// TestKeyChangesWhileAHookWrites: what was sealed to the key before is sealed anew before it has its name.
func TestKeyChangesWhileAHookWrites(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := keyed(t, home)
	changes := 0
	s.Written = func() {
		if changes++; changes == 1 {
			if err := s.sealer.keys.Renew(time.Now(), 0); err != nil {
				t.Error(err)
			}
		}
	}
	e := mustPut(t, s, testEntry(`{"a":1}`))
	key, err := s.sealer.keys.Current()
	if err != nil {
		t.Fatal(err)
	}
	if used, err := s.sealedTo(key.ID()); err != nil || !used || changes != 2 {
		t.Errorf("sealed to the new key: %v, %v, written %d times", used, err, changes)
	}
	if got, err := s.Read(e.Name); err != nil || string(got.Body) != `{"a":1}` {
		t.Errorf("read %+v, %v", got, err)
	}
	if left, _ := os.ReadDir(s.tmp()); len(left) != 0 {
		t.Errorf("left in tmp: %v", left)
	}
	s.Written = func() {
		if err := s.sealer.keys.Renew(time.Now(), 0); err != nil {
			t.Error(err)
		}
	}
	if name, err := s.Put(testEntry("{}")); !errors.Is(err, errUnsettled) || name != "" {
		t.Errorf("with a key that changes each time: %q, %v", name, err)
	}
}

// TestKeysGoWhenNothingNeedsThem: a key stays as long as a file in any folder is sealed to it, and a day.
func TestKeysGoWhenNothingNeedsThem(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, folder := range []string{"new", "bad", "tmp", "tmp/sealed"} {
		s := keyed(t, t.TempDir())
		e := mustPut(t, s, testEntry(`{"a":1}`))
		path := filepath.Join(s.in(folder), e.Name)
		if err := os.Rename(s.path(e.Name), path); err != nil {
			t.Fatal(err)
		}
		for _, after := range []time.Duration{25 * time.Hour, 60 * time.Hour, 90 * time.Hour} {
			if _, err := s.RenewKeys(now.Add(after)); err != nil {
				t.Errorf("%s, after %v: %v", folder, after, err)
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.sealer.open(data); err != nil || string(got.Body) != `{"a":1}` {
			t.Errorf("%s: opened %+v, %v", folder, got, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if n, err := s.RenewKeys(now.Add(200 * time.Hour)); n == 0 || err != nil {
			t.Errorf("%s, once it is gone: %d keys were deleted, %v", folder, n, err)
		}
		if _, err := s.sealer.open(data); !errors.Is(err, ErrLostKey) || !errors.Is(err, ErrBadEntry) {
			t.Errorf("%s: opened without its key: %v", folder, err)
		}
	}
}

// TestChangedFiles: of a file that was changed in any byte nothing is taken, and it is named.
func TestChangedFiles(t *testing.T) {
	t.Parallel()
	s := keyed(t, t.TempDir())
	e := mustPut(t, s, testEntry(`{"a":1}`))
	whole, err := os.ReadFile(s.path(e.Name))
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		data := bytes.Clone(whole)
		data[i] ^= 1
		if got, err := s.sealer.open(data); err == nil {
			t.Fatalf("byte %d was changed: %+v", i, got)
		} else if !errors.Is(err, ErrBadEntry) {
			t.Fatalf("byte %d was changed: %v", i, err)
		}
		if got, err := s.sealer.open(whole[:i]); !errors.Is(err, ErrBadEntry) {
			t.Fatalf("cut at byte %d: %+v, %v", i, got, err)
		}
	}
	lost := mustPut(t, s, testEntry(`{"b":2}`))
	if err := os.RemoveAll(filepath.Join(filepath.Dir(s.dir), "keys")); err != nil {
		t.Fatal(err)
	}
	if err := s.DeadLetter(lost.Name, "its key is gone"); err != nil {
		t.Fatal(err)
	}
	if _, closed, err := s.Forget(time.Now(), func(Entry) bool { return false }); err != nil || !slices.Contains(closed, lost.Name) {
		t.Errorf("named %v, %v; want %s among them", closed, err, lost.Name)
	}
}

// TestTwoHomes: what is sealed in one is nothing in another.
func TestTwoHomes(t *testing.T) {
	t.Parallel()
	one, other := keyed(t, t.TempDir()), keyed(t, t.TempDir())
	e := mustPut(t, one, testEntry(`{"a":1}`))
	mustPut(t, other, testEntry(`{"b":1}`))
	if err := os.Rename(one.path(e.Name), other.path(e.Name)); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Read(e.Name); !errors.Is(err, ErrLostKey) {
		t.Errorf("got %v, want ErrLostKey", err)
	}
}

// TestDeadLettersOfAFullSpool leave it.
func TestDeadLettersOfAFullSpool(t *testing.T) {
	t.Parallel()
	s := keyed(t, t.TempDir())
	e := mustPut(t, s, testEntry(`{"a":1}`))
	s.limit = 1
	if err := s.DeadLetter(e.Name, "400"); err != nil || len(mustNames(t, s)) != 0 {
		t.Errorf("got %v, %v in new", err, mustNames(t, s))
	}
}

func TestLayKeyOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	var ids []string
	for range 2 {
		if err := LayKey(home, time.Now()); err != nil {
			t.Fatal(err)
		}
		key, err := Keys(home).Current()
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, key.ID())
	}
	if ids[0] != ids[1] {
		t.Errorf("a key was laid over another: %v", ids)
	}
}

func FuzzOpen(f *testing.F) {
	s := keyed(f, f.TempDir())
	file, _ := s.sealer.pack(testEntry(`{"a":1}`))
	f.Add(bytes.Join(file.parts, nil))
	f.Add([]byte(`{"v":2,"key":"0123456789abcdef","delivery":"019aa2ff-7c5b-7000-8000-000000000001","occurred_at":"2026-11-20T18:00:00Z","bytes":2}` + "\n{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := s.sealer.open(data); err != nil && !errors.Is(err, ErrBadEntry) {
			t.Errorf("got %v", err)
		}
		whole(data)
	})
}

// BenchmarkSealed is what sealing adds to a payload of a kilobyte, its keys read anew as each hook does.
func BenchmarkSealed(b *testing.B) {
	s := keyed(b, b.TempDir())
	e := testEntry(`{"tool_response":"` + strings.Repeat("x", 1000) + `"}`)
	for b.Loop() {
		if f, err := s.sealer.pack(e); err != nil || f.key == "" || !s.sealer.isPresent(f) || f.size() < seal.Overhead {
			b.Fatalf("sealed to %q", f.key)
		}
	}
}

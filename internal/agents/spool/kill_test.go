package spool

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/testkit/crash"
	"github.com/cmemd/cmemd/testkit/race"
)

// A killCase is work on the spool of a home in the middle of which its process is killed.
type killCase struct {
	prepare func(t *testing.T, home string) // before the work; nil: the home is empty
	work    func(home string) error         // in a process of its own, and once more after the restart, unless once is set
	once    bool                            // the work is a hook's: nobody does it again
	waiting []string                        // the bodies that are in new after the restart
	perhaps string                          // another one, if the kill came late enough
	bad     []string                        // those of the dead letters
	clear   bool                            // an earlier release left words in clear, which go with the work
}

const (
	firstBody  = `{"n":"1 ` + planted + `"}`
	secondBody = `{"n":"2 ` + planted + `"}`
	killAfter  = 25 * time.Hour // the age of keys that are renewed
)

func killCases() map[string]killCase {
	return map[string]killCase{
		"lay the first key":                 {work: func(home string) error { return LayKey(home, time.Now()) }},
		"renew the key":                     {prepare: keepTwo, work: renewAt(killAfter), waiting: []string{firstBody, secondBody}},
		"delete keys":                       {prepare: threeKeys, work: renewAt(20 * killAfter), waiting: []string{secondBody}},
		"set a clock back":                  {prepare: keyAhead, work: renewAt(0), waiting: []string{secondBody}},
		"put the first":                     {prepare: onlyKey, work: putSecond, once: true, perhaps: secondBody},
		"put another":                       {prepare: keepFirst, work: putSecond, once: true, waiting: []string{firstBody}, perhaps: secondBody},
		"put without a key":                 {work: putSecond, once: true, perhaps: string(withoutWords([]byte(secondBody)))},
		"rescue":                            {prepare: leaveInTmp, work: rescueLate, waiting: []string{firstBody, secondBody}},
		"dead letter":                       {prepare: keepTwo, work: deadLetterAll, bad: []string{firstBody, secondBody}},
		"dead letter of an earlier release": {prepare: keepOpen, work: deadLetterAll, bad: []string{firstBody}, clear: true},
		"dead letter whose key is lost":     {prepare: keepLost, work: deadLetterAll, bad: []string{"?"}},
		"forget":                            {prepare: inAllFolders, work: forgetFirst, waiting: []string{secondBody}},
	}
}

// TestKilledBetweenSteps kills work on the spool before each of its steps. After the restart nothing is lost and nothing
// doubled, every key that is needed is there, nothing can be read, and nothing unfinished stays.
func TestKilledBetweenSteps(t *testing.T) {
	race.SkipProcesses(t)
	if testing.Short() {
		t.Skip("starts some 100 processes")
	}
	for name, c := range killCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crash.EachStep(t, "spool", func(t *testing.T, home string, kill func(...string) string) {
				if c.prepare != nil {
					c.prepare(t, home)
				}
				step := kill(name, home)
				if !c.clear {
					checkSealed(t, home, step)
				}
				restarted(t, home, c, step)
			})
		})
	}
}

// playSpool is the role of a process that works on a spool.
func playSpool(args []string) int {
	if err := killCases()[args[0]].work(args[1]); err != nil {
		_, _ = os.Stderr.WriteString(err.Error())
		return 1
	}
	return 0
}

// restarted does what a daemon does that starts, and checks what is there then.
func restarted(t *testing.T, home string, c killCase, step string) {
	t.Helper()
	s := New(home)
	hooks, _ := s.sealer.pack(testEntry(secondBody)) // before a daemon starts
	if _, err := s.sealer.open(bytes.Join(hooks.parts, nil)); err != nil {
		t.Errorf("killed before %q: what a hook keeps then: %v", step, err)
	}
	if _, err := s.RenewKeys(time.Now().Add(time.Hour)); err != nil {
		t.Errorf("killed before %q: %v", step, err)
	}
	if _, _, err := s.Rescue(time.Now().Add(time.Hour)); err != nil {
		t.Errorf("killed before %q: %v", step, err)
	}
	if !c.once {
		if err := c.work(home); err != nil {
			t.Errorf("killed before %q: done again: %v", step, err)
		}
	}
	checkSealed(t, home, step)
	want := c.waiting
	if got := bodiesIn(t, s, s.in("new")); c.perhaps != "" && (step == "" || len(got) > len(want)) {
		want = append(want[:len(want):len(want)], c.perhaps)
	}
	for dir, want := range map[string][]string{"new": want, "bad": c.bad} {
		if got := bodiesIn(t, s, s.in(dir)); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("killed before %q: in %s are %q, want %q", step, dir, got, want)
		}
	}
	if entries, _, err := s.DeadLetterUsage(); err != nil || entries != len(c.bad) {
		t.Errorf("killed before %q: %d dead letters, %v", step, entries, err)
	}
	for _, path := range unfinished(t, home) {
		t.Errorf("killed before %q: %s stays", step, path)
	}
	if name, err := s.Put(testEntry(`{"n":3}`)); err != nil || !strings.HasPrefix(name, sealedPrefix) {
		t.Errorf("killed before %q: put then: %q, %v", step, name, err)
	}
}

// bodiesIn are the bodies of the entries in a folder, by name; ? for one that cannot be opened.
func bodiesIn(t *testing.T, s *Spool, dir string) (bodies []string) {
	t.Helper()
	files, err := durable.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), reasonSuffix) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		body := "?"
		if e, err := s.sealer.open(data); err == nil {
			body = string(e.Body)
		}
		bodies = append(bodies, body)
	}
	return bodies
}

// unfinished are the files that are only there while something is being done.
func unfinished(t *testing.T, home string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (strings.Contains(path, "/tmp/sealed/") || strings.HasPrefix(d.Name(), ".new-")) {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// checkSealed looks for words in all files of a home.
func checkSealed(t *testing.T, home, step string) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(planted)) {
			t.Errorf("killed before %q: %s can be read", step, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func bodied(n time.Duration, body string) Entry {
	e := testEntry(body)
	e.OccurredAt = e.OccurredAt.Add(n)
	return e
}

func onlyKey(t *testing.T, home string)   { keyed(t, home) }
func keepFirst(t *testing.T, home string) { mustPut(t, keyed(t, home), bodied(1, firstBody)) }

func keepTwo(t *testing.T, home string) {
	keepFirst(t, home)
	mustPut(t, New(home), bodied(2, secondBody))
}

// threeKeys leaves a key that nothing needs, one that an entry needs, and the present one.
func threeKeys(t *testing.T, home string) {
	s := keyed(t, home)
	for i := range 3 {
		if err := s.sealer.keys.Renew(time.Now().Add(time.Duration(i)*killAfter), 0); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			mustPut(t, s, bodied(2, secondBody))
		}
	}
}

// keyAhead leaves an entry, and a key that is dated in a year.
func keyAhead(t *testing.T, home string) {
	s := New(home)
	if err := s.sealer.keys.Renew(time.Now().Add(365*24*time.Hour), 0); err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, bodied(2, secondBody))
}

// leaveInTmp leaves what killed hooks leave: one whole file, one of an earlier release, and half of one.
func leaveInTmp(t *testing.T, home string) {
	s := keyed(t, home)
	if err := s.makeFolders(); err != nil {
		t.Fatal(err)
	}
	var files [2][]byte
	for i, body := range []string{firstBody, secondBody} {
		f, _ := s.sealer.pack(bodied(time.Duration(i+1), body))
		files[i] = bytes.Join(f.parts, nil)
	}
	for name, data := range map[string][]byte{"sealed/a": files[0], "b": files[1], "sealed/c": files[0][:100]} {
		if err := os.WriteFile(filepath.Join(s.in("tmp"), name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func keepOpen(t *testing.T, home string) {
	s := keyed(t, home)
	e := bodied(1, firstBody)
	if err := errors.Join(s.makeFolders(), os.WriteFile(s.path(entryName(e)), append(appendHeader(nil, e), e.Body...), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func keepLost(t *testing.T, home string) {
	keepFirst(t, home)
	if err := os.RemoveAll(filepath.Join(home, "keys")); err != nil {
		t.Fatal(err)
	}
	keyed(t, home)
}

// inAllFolders leaves the first in new, bad and tmp, and the second in new.
func inAllFolders(t *testing.T, home string) {
	leaveInTmp(t, home)
	s := New(home)
	if err := s.DeadLetter(mustPut(t, s, bodied(3, firstBody)).Name, "400"); err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, bodied(4, firstBody))
}

func renewAt(after time.Duration) func(home string) error {
	return func(home string) error {
		_, err := New(home).RenewKeys(time.Now().Add(after))
		return err
	}
}

func putSecond(home string) error {
	_, err := New(home).Put(bodied(2, secondBody))
	return err
}

func rescueLate(home string) error {
	_, _, err := New(home).Rescue(time.Now().Add(time.Hour))
	return err
}

func deadLetterAll(home string) error {
	s := New(home)
	names, err := s.Names()
	for _, name := range names {
		err = errors.Join(err, s.DeadLetter(name, "400"))
	}
	return err
}

func forgetFirst(home string) error {
	_, _, err := New(home).Forget(time.Now().Add(time.Hour), func(e Entry) bool { return string(e.Body) != secondBody })
	return err
}

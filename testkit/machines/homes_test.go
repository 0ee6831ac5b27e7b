//go:build unix

package machines

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/internal/durable"
)

// TestRestored brings back an old copy of a home that has gone on since: it goes on as a machine of its own, which is said, and has all
// that it had recorded.
func TestRestored(t *testing.T) {
	over(t, func(t *testing.T, over string) {
		w := newWorld(t, over, "desktop", "laptop")
		desktop := w.machines[0]
		desktop.mustSave("The quokka was there before the copy")
		desktop.flush()
		old := filepath.Join(desktop.dir, "old")
		desktop.stop()
		must(t, copyTree(desktop.path, old))
		desktop.start()
		desktop.post(80, 100)
		desktop.mustSave("The numbat came after the copy")
		desktop.flush()
		must(t, within(settleLimit, w.even))
		desktop.stop()
		must(t, errors.Join(os.RemoveAll(desktop.path), os.Rename(old, desktop.path)))
		desktop.start()
		w.underLoad(func() {
			desktop.mustSave("The dingo came after the restoring")
			goesOn(t, desktop)
			time.Sleep(forkedFor)
		})
		desktop.name += "-2"
		w.holds()
		for _, m := range w.machines {
			must(t, m.findsAll("quokka", "numbat", "dingo"))
		}
	})
}

// TestCopied has a copy of a home go on beside it, as on a second machine: it goes on as a machine of its own, which is said.
func TestCopied(t *testing.T) {
	over(t, func(t *testing.T, over string) {
		w := newWorld(t, over, "desktop", "laptop")
		desktop := w.machines[0]
		desktop.mustSave("The quokka was there before the copy")
		desktop.flush()
		desktop.stop()
		second := w.adds(homeOf(t, w.bin, "desktop"))
		second.session, second.joined = "copy-0", true
		must(t, copyTree(desktop.path, second.path))
		desktop.start()
		desktop.mustSave("The numbat came to the first")
		desktop.flush()
		second.start()
		w.machines = append(w.machines, second)
		w.underLoad(func() {
			second.mustSave("The dingo came to the copy")
			goesOn(t, second)
			time.Sleep(forkedFor)
		})
		second.name += "-2"
		w.holds()
		for _, m := range w.machines {
			must(t, m.findsAll("quokka", "numbat", "dingo"))
		}
	})
}

// forkedFor is how long hooks are looked at once a home is told that it is a second one.
const forkedFor = 4 * time.Second

// goesOn holds that status --cluster says that a home was copied and is a machine of its own now.
func goesOn(t *testing.T, m *machine) {
	t.Helper()
	said := fmt.Sprintf("this home was copied from %s or restored from a backup of it, and goes on as a machine of its own from record", m.name)
	err := within(settleLimit, func() error {
		if got := m.saidOfAll(); !strings.Contains(got, said) {
			return fmt.Errorf("nothing is said of a second home:\n%s", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// findsAll says which of some words no search finds.
func (m *machine) findsAll(words ...string) error {
	var missing []string
	for _, word := range words {
		if m.finds(word) < 1 {
			missing = append(missing, word)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s does not find %q", m.name, missing)
	}
	return nil
}

// copyTree copies a home that no daemon has, but for its sockets.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case d.Type().IsRegular():
			return durable.SwapCopy(path, target, 0o600)
		}
		return nil
	})
}

const (
	behindRecords = 5000
	behindForgets = 20

	rightAsked, allAsked = 2 * time.Second, 20 * time.Second // after a machine that slept is on again
	slack                = 2                                 // a gate's machine is busier than a person's
)

// TestAsleep has a machine sleep while 5,000 records and 20 forgets happen: what is forgotten is gone first.
func TestAsleep(t *testing.T) {
	over(t, func(t *testing.T, over string) {
		w := newWorld(t, over, "desktop", "laptop")
		desktop, laptop := w.machines[0], w.machines[1]
		var words []string
		for range behindForgets {
			word := "quokka" + strings.ReplaceAll(uuid.NewString(), "-", "")
			words = append(words, word)
			desktop.mustSave("The secret of the house is " + word)
		}
		must(t, within(settleLimit, w.even))
		must(t, within(settleLimit, func() error { return laptop.findsAll(words...) }))
		laptop.stop()

		before, err := desktop.cluster()
		must(t, err)
		desktop.forgetEach(words)
		desktop.post(behindRecords*5/6, 300) // a turn settles some, and is a record or two
		for after := before; after.Status.Own.Last < before.Status.Own.Last+behindRecords; {
			desktop.post(80, 300)
			after, err = desktop.cluster()
			must(t, err)
		}
		desktop.mustSave("The wombat came last")
		desktop.flush()
		asleep, err := desktop.cluster()
		must(t, err)
		if n := len(asleep.Status.Forgets); n < behindForgets || asleep.Status.Forgets[0].Waiting[0] != "laptop" {
			t.Errorf("while it sleeps: %d are waited for: %+v", n, asleep.Status.Forgets)
		}

		laptop.start()
		began := time.Now()
		var right time.Duration // since when no search found what is forgotten
		must(t, within(settleLimit, func() error {
			for _, word := range words {
				if laptop.finds(word) != 0 {
					right = time.Since(began)
					break
				}
			}
			return errors.Join(laptop.findsAll("wombat"), w.even())
		}))
		all := time.Since(began)
		t.Logf("recall was right after %v (%v asked), all was there after %v (%v asked), %d records behind",
			right.Round(time.Millisecond), rightAsked, all.Round(time.Millisecond), allAsked, asleep.Status.Own.Last-before.Status.Own.Last)
		if right > slack*rightAsked || all > slack*allAsked {
			t.Errorf("recall was right after %v, and all was there after %v", right, all)
		}
		w.balances()
	})
}

// forgetEach has the person forget each of some words, and them alone; several at once, as each waits for machines to confirm it.
func (m *machine) forgetEach(words []string) {
	m.t.Helper()
	var asking sync.WaitGroup
	errs := make([]error, len(words))
	for i, word := range words {
		asking.Go(func() {
			_, errs[i] = m.command(m.bin.Path("person"), m.bin.Path("cmemd"), "--home", m.path, "forget", "--query", word, "--yes")
		})
	}
	asking.Wait()
	must(m.t, errors.Join(errs...))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.saved = nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/eventlog/share/store/jet"
	"github.com/cmemd/cmemd/internal/transient"
	"github.com/cmemd/cmemd/testkit/wait"
)

// admin is a connection by which a test does what no store does.
func admin(t *testing.T, h *hub) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect("", nats.InProcessServer(h.server), nats.Token(tokenOf(t, h)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func tokenOf(t *testing.T, h *hub) string {
	t.Helper()
	all, err := jet.ParseAddresses(h.joining.Address)
	if err != nil {
		t.Fatal(err)
	}
	return all[0].URL.User.Username()
}

// eventually calls do until its error is none that may pass.
func eventually(t *testing.T, do func(context.Context) error) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		err := do(ctx)
		if !transient.Is(err) || ctx.Err() != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestForeignStream: a stream that does not keep what a store promises is refused, whoever made it, and left alone.
func TestForeignStream(t *testing.T) {
	t.Parallel()
	h := startHub(t, filepath.Join(t.TempDir(), "hub"), "127.0.0.1:0")
	js, s := admin(t, h), openJet(t, h.joining.Address)
	defer s.Close()
	made, err := js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: "cm-s", Subjects: []string{"cm.s.>"}, AllowDirect: true, MaxMsgsPerSubject: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, createErr := s.Create(t.Context(), "s/a", nil)
	_, _, getErr := s.Get(t.Context(), "s/a")
	_, listErr := s.List(t.Context(), "s/", "", 0)
	for name, err := range map[string]error{"Create": createErr, "Get": getErr, "List": listErr} {
		if !errors.Is(err, jet.ErrStream) || transient.Is(err) || !strings.Contains(err.Error(), "allow_direct") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if info, err := made.Info(t.Context()); err != nil || info.State.LastSeq != 0 {
		t.Errorf("the stream is at %d, %v", info.State.LastSeq, err)
	}
}

// TestStrangeMessages: what is on a subject that no key has is passed over.
func TestStrangeMessages(t *testing.T) {
	t.Parallel()
	h := startHub(t, filepath.Join(t.TempDir(), "hub"), "127.0.0.1:0")
	js, s := admin(t, h), openJet(t, h.joining.Address)
	defer s.Close()
	rev, err := s.Create(t.Context(), "s/a", nil)
	for _, subject := range []string{"cm.s.A", "cm.s.b c", "cm.s._", "cm.s.ä"} {
		if _, pubErr := js.Publish(t.Context(), subject, []byte("strange")); pubErr != nil {
			t.Logf("%q cannot be published: %v", subject, pubErr)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.List(t.Context(), "", "", 0); err != nil || len(got) != 1 || got[0].Key != "s/a" {
		t.Errorf("listed %v, %v", got, err)
	}
	for e, err := range s.Watch(t.Context(), "s/") {
		if e != (store.Entry{Key: "s/a", Rev: rev}) || err != nil {
			t.Errorf("told of %v, %v", e, err)
		}
		break
	}
}

// TestLostStream: where a stream went, by an administrator or with a disk, its objects are not found, new ones can be made by whoever
// had it open, and no old revision is one of theirs.
func TestLostStream(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hub")
	h := startHub(t, dir, "127.0.0.1:0")
	s := openJet(t, h.joining.Address)
	defer s.Close()
	was := map[store.Rev]bool{}
	lose := []func(){
		func() {
			if err := admin(t, h).DeleteStream(t.Context(), "cm-s"); err != nil {
				t.Fatal(err)
			}
		},
		func() {
			listen := h.joining.Listen
			if err := errors.Join(h.stop(), os.RemoveAll(filepath.Join(dir, "jetstream"))); err != nil {
				t.Fatal(err)
			}
			h = startHub(t, dir, listen)
		},
		func() {},
	}
	for _, lost := range lose {
		var rev store.Rev
		err := eventually(t, func(ctx context.Context) (err error) {
			rev, err = s.Create(ctx, "s/head", nil)
			return err
		})
		if err != nil || was[rev] {
			t.Fatalf("created at %s, which was one of %v: %v", rev, was, err)
		}
		for range 3 {
			was[rev] = true
			if rev, err = s.Replace(t.Context(), "s/head", rev, nil); err != nil || was[rev] {
				t.Fatalf("replaced at %s, which was one of %v: %v", rev, was, err)
			}
		}
		was[rev] = true
		lost()
		if err := eventually(t, func(ctx context.Context) error {
			_, err := s.Replace(ctx, "s/head", "1"+rev, nil)
			return err
		}); !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrMoved) {
			t.Errorf("Replace of what went: %v", err)
		}
	}
}

// TestRestoredHub: whoever watched a hub before a backup was put back learns at once of what is stored there afterwards.
func TestRestoredHub(t *testing.T) {
	t.Parallel()
	dir, backup := filepath.Join(t.TempDir(), "hub"), filepath.Join(t.TempDir(), "backup")
	h := startHub(t, dir, "127.0.0.1:0")
	s := openJet(t, h.joining.Address)
	defer s.Close()
	create := func(key store.Key) {
		t.Helper()
		wait.Until(t, "an object is stored", func() bool {
			_, err := s.Create(t.Context(), key, []byte("x"))
			return err == nil
		})
	}
	heard := make(chan store.Key, 100)
	create("s/now/first")
	go func() {
		for e, err := range s.Watch(t.Context(), "s/now/") {
			if err != nil {
				return
			}
			heard <- e.Key
		}
	}()
	copyWhileOff := func(from, to string) {
		t.Helper()
		if err := errors.Join(h.stop(), os.RemoveAll(to), os.CopyFS(to, os.DirFS(from))); err != nil {
			t.Fatal(err)
		}
		h = startHub(t, dir, h.joining.Listen)
	}
	copyWhileOff(dir, backup)
	for i := range 10 {
		create(store.Key(fmt.Sprint("s/now/lost", i)))
	}
	hear := func() (key store.Key) {
		t.Helper()
		select {
		case key = <-heard:
		case <-time.After(30 * time.Second):
			t.Fatal("nothing was heard of what was stored")
		}
		return key
	}
	for range 11 {
		hear()
	}
	copyWhileOff(backup, dir)
	create("s/now/later")
	if key := hear(); key != "s/now/later" {
		t.Errorf("got %s", key)
	}
}

// TestDeletedBytes: a deleted body is in no file of the hub.
func TestDeletedBytes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hub")
	h := startHub(t, dir, "127.0.0.1:0")
	s := openJet(t, h.joining.Address)
	defer s.Close()
	marker := strings.Repeat("a body that must go ", 10)
	for n := range 20 {
		if _, err := s.Create(t.Context(), store.Key("s/others/"+strconv.Itoa(n)), []byte("what stays")); err != nil {
			t.Fatal(err)
		}
	}
	rev, err := s.Create(t.Context(), "s/gone", []byte(marker))
	if err != nil {
		t.Fatal(err)
	}
	if found := filesWith(t, dir, marker); len(found) == 0 {
		t.Fatal("the body is in no file before it is deleted: this test sees nothing")
	}
	if err := s.Delete(t.Context(), "s/gone", rev); err != nil {
		t.Fatal(err)
	}
	if found := filesWith(t, dir, marker); len(found) > 0 {
		t.Errorf("the body is still in %v", found)
	}
	if _, _, err := s.Get(t.Context(), "s/others/7"); err != nil {
		t.Error(err)
	}
}

func filesWith(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return nil
		}
		var content []byte
		if err == nil {
			content, err = os.ReadFile(path)
		}
		if strings.Contains(string(content), text) {
			found = append(found, path)
		}
		if errors.Is(err, os.ErrNotExist) { // a server that runs renames and removes files
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestGivesUp: a hub whose server gave up keeping objects, or whose disk is about to be full, ends and says what to do.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	h := startHub(t, filepath.Join(t.TempDir(), "hub"), "127.0.0.1:0")
	if err := h.server.DisableJetStream(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := h.wait(ctx); !errors.Is(err, errGaveUp) {
		t.Errorf("without JetStream: %v", err)
	}
	h.minFree = math.MaxUint64
	if err := h.wait(ctx); !errors.Is(err, errFull) {
		t.Errorf("without room: %v", err)
	}
}

// TestNoRoom: a server that has no room says so, and that it may pass; what is there stays.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	id, lock, err := prepare(filepath.Join(t.TempDir(), "hub"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	options := optionsOf(id, "127.0.0.1", 0, filepath.Dir(lock.Name()))
	options.JetStreamMaxStore = 1 << 20
	server, err := serve(options, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	h := &hub{server: server, lock: lock}
	defer func() { _ = h.stop() }()
	s := openJet(t, joiningOf(id, nil, h.addr(), "").Address)
	defer s.Close()
	for n := 0; err == nil && n < 10; n++ {
		_, err = s.Create(t.Context(), store.Key("s/"+strconv.Itoa(n)), make([]byte, 300_000))
	}
	if !errors.Is(err, store.ErrFull) || !transient.Is(err) {
		t.Errorf("the last one: %v", err)
	}
	if body, _, err := s.Get(t.Context(), "s/0"); len(body) != 300_000 || err != nil {
		t.Errorf("the first one: %d bytes, %v", len(body), err)
	}
}

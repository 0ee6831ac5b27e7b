package signin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/api"
)

// clock is a clock that a test moves.
type clock struct {
	mu sync.Mutex // guards at
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// world is a register over a file of its own.
type world struct {
	*Register
	path  string
	clock *clock
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	w := &world{path: filepath.Join(tb.TempDir(), "viewers.json"), clock: &clock{at: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)}}
	w.reopen(tb)
	return w
}

// reopen is a start of the daemon.
func (w *world) reopen(tb testing.TB) {
	tb.Helper()
	var err error
	if w.Register, err = Open(w.path, Config{Now: w.clock.now}); err != nil {
		tb.Fatal(err)
	}
}

// browser is what WebCrypto does for the page.
type browser struct {
	key *ecdsa.PrivateKey
	id  string
}

func newBrowser(tb testing.TB) *browser {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return &browser{key: key}
}

func (b *browser) public(tb testing.TB) []byte {
	tb.Helper()
	raw, err := b.key.PublicKey.Bytes()
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func (b *browser) sign(tb testing.TB, text string) []byte {
	tb.Helper()
	hash := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, b.key, hash[:])
	if err != nil {
		tb.Fatal(err)
	}
	return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
}

// enrolled is a browser that was let in with scope.
func (w *world) enrolled(tb testing.TB, scope api.Scope) (b *browser, code string) {
	tb.Helper()
	b = newBrowser(tb)
	code, _ = w.Link(scope)
	v, err := w.Enrol(code, b.public(tb))
	if err != nil || v.Scope != scope {
		tb.Fatalf("got %+v, %v", v, err)
	}
	b.id = v.ID
	return b, code
}

// signIn signs a tab of b in.
func (w *world) signIn(tb testing.TB, b *browser) (Session, error) {
	tb.Helper()
	nonce, _, err := w.Nonce(b.id)
	if err != nil {
		return Session{}, err
	}
	return w.SignIn(b.id, nonce, b.sign(tb, "cmemd sign-in\n"+nonce))
}

// in reports whether a bearer opens the door.
func (w *world) in(bearer string) bool {
	_, ok := w.Find(bearer)
	return ok
}

// TestABrowserIsLetIn, over a restart too, and its bearer is good for an hour and no longer.
func TestABrowserIsLetIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b, _ := w.enrolled(t, api.ScopeEdit)
	s, err := w.signIn(t, b)
	if err != nil || s.Scope != api.ScopeEdit || s.Viewer != b.id || !w.in(s.Bearer) {
		t.Fatalf("got %+v, %v", s, err)
	}
	w.clock.pass(bearerLifetime - time.Second)
	if !w.in(s.Bearer) {
		t.Error("its hour is not over")
	}
	w.clock.pass(time.Second)
	if w.in(s.Bearer) {
		t.Error("its hour is over")
	}
	w.reopen(t)
	if w.in(s.Bearer) {
		t.Error("a bearer outlived the daemon")
	}
	if again, err := w.signIn(t, b); err != nil || again.Scope != api.ScopeEdit {
		t.Errorf("after a restart: %+v, %v", again, err)
	}
}

// TestTheFile is this user's alone, and holds nothing that lets anybody in.
func TestTheFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b, code := w.enrolled(t, api.ScopeView)
	s, err := w.signIn(t, b)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(w.path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	text, err := os.ReadFile(w.path)
	if err != nil || strings.Contains(string(text), code) || strings.Contains(string(text), s.Bearer) || !strings.Contains(string(text), `"view"`) {
		t.Errorf("got %s, %v", text, err)
	}
}

// TestACodeOpensOnce: a second use drops the browser that the first one let in, and ends what it is at.
func TestACodeOpensOnce(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]time.Duration{"at once": 0, "after its minute": 5 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			b, code := w.enrolled(t, api.ScopeEdit)
			s, err := w.signIn(t, b)
			if err != nil {
				t.Fatal(err)
			}
			w.clock.pass(later)
			if _, err := w.Enrol(code, newBrowser(t).public(t)); !errors.Is(err, ErrUsedTwice) {
				t.Errorf("the second use: %v", err)
			}
			select {
			case <-s.Ended:
			default:
				t.Error("the first tab goes on")
			}
			if _, err := w.signIn(t, b); !errors.Is(err, ErrDropped) || w.in(s.Bearer) {
				t.Errorf("the first browser: %v", err)
			}
			w.reopen(t)
			if got := w.Viewers(); len(got) > 0 {
				t.Errorf("after a restart there are %+v", got)
			}
		})
	}
}

// TestManyLinks hide no second use of a code, and let go of none that a person waits for.
func TestManyLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	thief, code := w.enrolled(t, api.ScopeEdit)
	waits, _ := w.Link(api.ScopeEdit)
	for i := range 4 * maxLinks {
		view, _ := w.Link(api.ScopeView)
		if i%2 > 0 { // half of them are used up, and let nobody in
			if _, err := w.Enrol(view, nil); !errors.Is(err, ErrKey) {
				t.Fatal(err)
			}
		}
	}
	if len(w.links) != maxLinks {
		t.Errorf("%d links are kept", len(w.links))
	}
	if _, err := w.Enrol(waits, newBrowser(t).public(t)); err != nil {
		t.Errorf("a person's link: %v", err)
	}
	if _, err := w.Enrol(code, newBrowser(t).public(t)); !errors.Is(err, ErrUsedTwice) {
		t.Errorf("the second use: %v", err)
	}
	if _, err := w.signIn(t, thief); !errors.Is(err, ErrDropped) {
		t.Errorf("who used it first: %v", err)
	}
}

// TestACodeOpensAtOnceOnce: of many that use one code at the same moment nobody stays in.
func TestACodeOpensAtOnceOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	code, _ := w.Link(api.ScopeEdit)
	var all sync.WaitGroup
	for range 8 {
		key := newBrowser(t).public(t)
		all.Go(func() { _, _ = w.Enrol(code, key) }) // all but one are told no, perhaps all
	}
	all.Wait()
	if got := w.Viewers(); len(got) > 0 {
		t.Errorf("there are %+v", got)
	}
}

func TestWhatOpensNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := newBrowser(t).public(t)
	late, _ := w.Link(api.ScopeEdit)
	w.clock.pass(codeLifetime + time.Second)
	bad, _ := w.Link(api.ScopeEdit)
	worthless, _ := w.Link(api.ScopeEdit)
	if _, err := w.DropAll(); err != nil {
		t.Fatal(err)
	}
	good, _ := w.Link(api.ScopeEdit)
	for name, c := range map[string]struct {
		code string
		key  []byte
		want error
	}{
		"no code": {"", key, ErrCode}, "a guess": {"guess", key, ErrCode}, "a late one": {late, key, ErrCode},
		"one made before all signed out": {worthless, key, ErrCode}, "one made before all signed out, with a bad key": {bad, nil, ErrCode},
		"no key": {good, nil, ErrKey},
	} {
		if _, err := w.Enrol(c.code, c.key); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	off := append([]byte{4}, make([]byte, 64)...)
	code, _ := w.Link(api.ScopeEdit)
	if _, err := w.Enrol(code, off); !errors.Is(err, ErrKey) {
		t.Errorf("a point off the curve: %v", err)
	}
}

func TestSignaturesThatDoNotCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b, _ := w.enrolled(t, api.ScopeEdit)
	other, _ := w.enrolled(t, api.ScopeEdit)
	nonce := func() string {
		text, _, err := w.Nonce(b.id)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	used, late := nonce(), nonce()
	if _, err := w.SignIn(b.id, used, b.sign(t, "cmemd sign-in\n"+used)); err != nil {
		t.Fatal(err)
	}
	w.clock.pass(nonceLifetime)
	n := nonce()
	good := b.sign(t, "cmemd sign-in\n"+n)
	for name, c := range map[string]struct {
		id, nonce string
		signature []byte
		want      error
	}{
		"a used nonce":             {b.id, used, b.sign(t, "cmemd sign-in\n"+used), ErrSignature},
		"a late nonce":             {b.id, late, b.sign(t, "cmemd sign-in\n"+late), ErrSignature},
		"a nonce of its own":       {b.id, "mine", b.sign(t, "cmemd sign-in\nmine"), ErrSignature},
		"another browser's nonce":  {other.id, n, other.sign(t, "cmemd sign-in\n"+n), ErrSignature},
		"another browser's key":    {b.id, nonce(), good, ErrSignature},
		"no signature":             {b.id, nonce(), nil, ErrSignature},
		"zeros":                    {b.id, nonce(), make([]byte, 64), ErrSignature},
		"nobody":                   {"nobody", n, good, ErrViewer},
		"the words without a line": {b.id, nonce(), b.sign(t, n), ErrSignature},
	} {
		if _, err := w.SignIn(c.id, c.nonce, c.signature); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBounds: viewers, tabs, nonces and links are bounded, the oldest go first, and what nobody used for a month is forgotten.
func TestBounds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, _ := w.enrolled(t, api.ScopeView)
	w.clock.pass(time.Minute)
	var tabs []Session
	for range maxSessions + 1 {
		s, err := w.signIn(t, first)
		if err != nil {
			t.Fatal(err)
		}
		tabs = append(tabs, s)
	}
	if w.in(tabs[0].Bearer) || !w.in(tabs[1].Bearer) {
		t.Error("of too many tabs not the oldest went")
	}
	for range MaxViewers {
		w.clock.pass(time.Minute)
		w.enrolled(t, api.ScopeView)
	}
	if got := w.Viewers(); len(got) != MaxViewers || w.in(tabs[1].Bearer) {
		t.Errorf("there are %d viewers; the one that went is still in: %t", len(got), w.in(tabs[1].Bearer))
	}
	stale, _, _ := w.Nonce(w.Viewers()[0].ID)
	for range maxNonces {
		if _, _, err := w.Nonce(w.Viewers()[0].ID); err != nil {
			t.Fatal(err)
		}
	}
	if v := w.find(w.Viewers()[0].ID); len(v.nonces) != maxNonces || v.nonces[0].text == stale {
		t.Errorf("%d nonces are kept", len(v.nonces))
	}
	for range 2 * maxLinks {
		w.Link(api.ScopeView)
	}
	if len(w.links) > maxLinks {
		t.Errorf("%d links are kept", len(w.links))
	}
	w.clock.pass(unusedFor + time.Hour)
	if got := w.Viewers(); len(got) > 0 {
		t.Errorf("unused for a month: %d", len(got))
	}
}

// TestViewersThatViewGoFirst: none of them takes the place of a person's browser, which only the next one of a person's does.
func TestViewersThatViewGoFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var theirs []*browser
	enrol := func(scope api.Scope) *browser {
		w.clock.pass(time.Minute)
		b, _ := w.enrolled(t, scope)
		return b
	}
	theirs = append(theirs, enrol(api.ScopeEdit))
	for range 2 * MaxViewers {
		enrol(api.ScopeView)
	}
	for len(theirs) < MaxViewers {
		theirs = append(theirs, enrol(api.ScopeEdit))
	}
	code, _ := w.Link(api.ScopeView)
	if v, err := w.Enrol(code, newBrowser(t).public(t)); !errors.Is(err, ErrFull) {
		t.Errorf("one that views beside %d that edit: %+v, %v", MaxViewers, v, err)
	}
	w.reopen(t)
	for i, b := range theirs {
		if _, err := w.signIn(t, b); err != nil {
			t.Errorf("a person's browser %d: %v", i, err)
		}
	}
	enrol(api.ScopeEdit)
	if got := w.Viewers(); len(got) != MaxViewers {
		t.Errorf("there are %d", len(got))
	}
	if _, err := w.signIn(t, theirs[0]); !errors.Is(err, ErrViewer) {
		t.Errorf("the one that was used longest ago: %v", err)
	}
}

// TestTheSameKey stays one viewer: a link to view takes nothing from it, and one to edit lets it edit.
func TestTheSameKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, _ := w.enrolled(t, api.ScopeView)
	before, err := w.signIn(t, first)
	if err != nil {
		t.Fatal(err)
	}
	nonce, _, err := w.Nonce(first.id)
	if err != nil {
		t.Fatal(err)
	}
	var code string
	for _, scope := range []api.Scope{api.ScopeEdit, api.ScopeView} {
		code, _ = w.Link(scope)
		v, err := w.Enrol(code, first.public(t))
		if err != nil || v.ID != first.id || v.Scope != api.ScopeEdit {
			t.Errorf("a link to %s: %+v, %v", scope, v, err)
		}
	}
	if w.in(before.Bearer) {
		t.Error("a tab goes on with what it might before")
	}
	if s, err := w.SignIn(first.id, nonce, first.sign(t, "cmemd sign-in\n"+nonce)); err != nil || s.Scope != api.ScopeEdit {
		t.Errorf("a tab that was signing in: %+v, %v", s, err)
	}
	w.reopen(t)
	if got := w.Viewers(); len(got) != 1 || got[0].Scope != api.ScopeEdit {
		t.Errorf("after a restart there are %+v", got)
	}
}

// TestUseIsKept: a viewer that is used stays, over restarts.
func TestUseIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b, _ := w.enrolled(t, api.ScopeEdit)
	for range 3 {
		w.clock.pass(20 * 24 * time.Hour)
		w.reopen(t)
		if _, err := w.signIn(t, b); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAFileThatIsNoFile lets nobody in, says so, and is replaced by the next browser.
func TestAFileThatIsNoFile(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "no JSON": "{", "another scope": `{"viewers":[{"id":"x","key":"","scope":"socket"}]}`,
		"no key": `{"viewers":[{"id":"x","key":"AAAA","scope":"edit"}]}`, "too long": strings.Repeat(" ", maxFile+1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "viewers.json")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := Open(path, Config{})
			if err == nil || len(r.Viewers()) != 0 {
				t.Fatalf("got %v and %d viewers", err, len(r.Viewers()))
			}
			w := &world{Register: r, path: path, clock: &clock{at: time.Now()}}
			w.enrolled(t, api.ScopeView)
			w.reopen(t)
			if len(w.Viewers()) != 1 {
				t.Error("the next one was not kept")
			}
		})
	}
}

// TestAFileThatCannotBeWritten lets nobody in; who is dropped is out all the same, and the error says that the file names it still.
func TestAFileThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b, _ := w.enrolled(t, api.ScopeEdit)
	s, err := w.signIn(t, b)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(w.path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	code, _ := w.Link(api.ScopeEdit)
	if v, err := w.Enrol(code, newBrowser(t).public(t)); err == nil {
		t.Errorf("let in: %+v", v)
	}
	if err := w.Drop(b.id); err == nil || errors.Is(err, ErrViewer) || w.in(s.Bearer) {
		t.Errorf("dropped with %v, in: %t", err, w.in(s.Bearer))
	}
}

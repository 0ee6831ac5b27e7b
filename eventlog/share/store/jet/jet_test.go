package jet

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/internal/transient"
)

// The suite runs over a server in cmd/cmemd-hub, which alone links one.

func TestAddresses(t *testing.T) {
	t.Parallel()
	pin := strings.Repeat("0f", 32)
	for _, text := range []string{
		"nats://desk:4222", "tls://hub.example.org", "nats://TOKEN@192.168.1.5:4222?pin=" + pin, "nats://TOKEN@[::1]:4222?pin=" + pin,
		"nats://user:word@desk:4222", "nats://T@a:1?pin=" + pin + ",nats://T@b:2?pin=" + pin,
	} {
		all, err := ParseAddresses(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var again []string
		for _, a := range all {
			again = append(again, a.String())
		}
		if got := strings.Join(again, ","); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
	for text, why := range map[string]string{
		"":                                             "neither nats:// nor tls://",
		"desk:4222":                                    "neither nats:// nor tls://",
		"http://SECRET@desk:4222":                      "neither nats:// nor tls://",
		"nats://SECRET@":                               "there is no host",
		"nats://SECRET@:4222":                          "there is no host",
		"nats://SECRET@desk:port":                      "something cannot be read",
		"nats://SECRET@desk:1/path":                    "something follows the port",
		"nats://SECRET@desk:1?pin=12":                  "the pin is not 64 digits of hex",
		"nats://SECRET@desk:1?pin=":                    "the pin is not 64 digits of hex",
		"nats://SECRET@desk:1?pin=xy":                  "the pin is not 64 digits of hex",
		"nats://SECRET@desk:1?pins=" + pin:             "other than one pin",
		"nats://SECRET@desk:1?pin=" + pin + "&more=1":  "other than one pin",
		"nats://SECRET@desk:1,nats://b:1?pin=" + pin:   "all of them have a pin, or none",
		"nats://SECRET@desk:1?pin=" + pin + ",tls://b": "all of them have a pin, or none",
		"nats://desk:1,,":                              "in address 2 the beginning",
	} {
		_, err := ParseAddresses(text)
		if !errors.Is(err, ErrAddress) || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", text, err)
		}
		if _, openErr := Open(text, Config{}); !errors.Is(openErr, ErrAddress) {
			t.Errorf("Open %s: %v", text, openErr)
		}
	}
}

func FuzzAddresses(f *testing.F) {
	f.Add("nats://TOKEN@192.168.1.5:4222?pin=" + strings.Repeat("0f", 32))
	f.Add("nats://a,tls://b")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ParseAddresses(text)
		if err != nil {
			return
		}
		for _, a := range all {
			again, err := ParseAddresses(a.String())
			if err != nil || len(again) != 1 || again[0].String() != a.String() || hex.EncodeToString(again[0].Pin) != hex.EncodeToString(a.Pin) {
				t.Errorf("%q was read as %q, and that as %v, %v", text, a, again, err)
			}
		}
	})
}

// TestSubjects: keys and subjects are one to one, and a prefix has those of the keys that begin with it.
func TestSubjects(t *testing.T) {
	t.Parallel()
	if got := subjectOf("s/log/7q/s/00ff.1"); got != "cm.s.log.7q.s.00ff_1" {
		t.Errorf("the subject is %s", got)
	}
	part := rapid.StringMatching(`[a-z0-9]([a-z0-9.-]{0,5}[a-z0-9])?`)
	rapid.Check(t, func(rt *rapid.T) {
		parts := append([]string{rapid.StringMatching(`[a-z0-9]{1,6}`).Draw(rt, "space")}, rapid.SliceOfN(part, 1, 4).Draw(rt, "parts")...)
		key := store.Key(strings.Join(parts, "/"))
		back, ok := keyOf(subjectOf(key))
		if !ok || back != key || strings.ContainsAny(subjectOf(key), "*> /") {
			rt.Fatalf("%s became %s, and that %s", key, subjectOf(key), back)
		}
		n := rapid.IntRange(1, len(parts)-1).Draw(rt, "n")
		filter := filterOf(strings.Join(parts[:n], "/") + "/")
		if !strings.HasPrefix(subjectOf(key), strings.TrimSuffix(filter, ">")) || strings.Count(filter, ".") != n+1 {
			rt.Fatalf("%s is not among %s", subjectOf(key), filter)
		}
		if space, ok := spaceOf(streamOf(parts[0])); !ok || space != parts[0] {
			rt.Fatalf("the space %s became %s", parts[0], space)
		}
	})
	for _, subject := range []string{"", "cm.", "cm.s", "cm.s.", "cm.s..a", "cm.s._a", "cm.s.A", "cm.s.a b", "other.s.a", "cm.s.a/b.c "} {
		if key, ok := keyOf(subject); ok {
			t.Errorf("%q is the key %q", subject, key)
		}
	}
	for _, stream := range []string{"cm-", "s", "cm-a-b", "cm-A", "KV_cm-s"} {
		if space, ok := spaceOf(stream); ok {
			t.Errorf("%q is of the space %q", stream, space)
		}
	}
}

// TestCheck: what would break a promise of a store is told.
func TestCheck(t *testing.T) {
	t.Parallel()
	j := &Jet{}
	if err := check(j.configOf("s")); err != nil {
		t.Errorf("as it is made: %v", err)
	}
	for why, change := range map[string]func(*jetstream.StreamConfig){
		"other subjects":                   func(c *jetstream.StreamConfig) { c.Subjects = append(c.Subjects, "more") },
		"more than one message a subject":  func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = -1 },
		"servers answer that may be":       func(c *jetstream.StreamConfig) { c.AllowDirect = true },
		"drops messages by itself":         func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour },
		"it drops messages":                func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld },
		"lets nothing be deleted":          func(c *jetstream.StreamConfig) { c.DenyDelete = true },
		"messages in memory":               func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage },
		"it takes messages from elsewhere": func(c *jetstream.StreamConfig) { c.Sources = []*jetstream.StreamSource{{Name: "x"}} },
	} {
		c := j.configOf("s")
		change(&c)
		if err := check(c); !errors.Is(err, ErrStream) || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "cm-s") {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// TestPinned: a certificate is known by its fingerprint, and another one is told of and refused.
func TestPinned(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	right, wrong := Fingerprint(server.Certificate()), bytes.Repeat([]byte{1}, 32)
	for name, tc := range map[string]struct {
		pins [][]byte
		want error
	}{
		"the one":     {[][]byte{right}, nil},
		"one of two":  {[][]byte{wrong, right}, nil},
		"another one": {[][]byte{wrong}, errPin},
	} {
		var addresses []Address
		for _, pin := range tc.pins {
			addresses = append(addresses, Address{Pin: pin})
		}
		var told error
		conn, err := tls.Dial("tcp", server.Listener.Addr().String(), pinned(addresses, func(err error) { told = err }))
		if err == nil {
			_ = conn.Close()
		}
		if !errors.Is(err, tc.want) || !errors.Is(told, tc.want) {
			t.Errorf("%s: %v, told of %v", name, err, told)
		}
	}
}

// TestNobodyThere: without a server a store opens, and each call says at once that it may pass.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	j, err := Open("nats://SECRET@127.0.0.1:1", Config{})
	if err != nil {
		t.Fatal(err)
	}
	var s store.Store = j
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, _, getErr := s.Get(ctx, "s/a")
	_, createErr := s.Create(ctx, "s/a", nil)
	_, replaceErr := s.Replace(ctx, "s/a", "1", nil)
	_, listErr := s.List(ctx, "", "", 0)
	for name, err := range map[string]error{
		"Get": getErr, "Create": createErr, "Replace": replaceErr, "List": listErr, "Delete": s.Delete(ctx, "s/a", "1"),
	} {
		if !transient.Is(err) || ctx.Err() != nil ||
			!strings.Contains(err.Error(), "no connection to the server") || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", name, err)
		}
	}
	short, end := context.WithTimeout(ctx, 10*time.Millisecond)
	defer end()
	for e, err := range s.Watch(short, "s/") {
		t.Errorf("a watch told of %v, %v", e, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, _, err := s.Get(ctx, "s/a"); !errors.Is(err, store.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

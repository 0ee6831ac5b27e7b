package events_test

import (
	"encoding/json"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
)

// TestSessionIDIsForEver pins the derivation: these ids are stream names in every log.
func TestSessionIDIsForEver(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ agent, native, want string }{
		{"claude-code", "00000000-0000-4000-8000-000000000001", "b910d664-4b77-52f5-a7fc-d219b600b295"},
		{"codex", "00000000-0000-4000-8000-000000000001", "202ff110-69f9-560c-ab63-e803ac4db22c"},
		{"", "", "602e6d3d-101b-5042-ad54-0638087704da"},
	} {
		if got := events.SessionIDOf(tc.agent, tc.native).String(); got != tc.want {
			t.Errorf("SessionIDOf(%q, %q) = %s, want %s", tc.agent, tc.native, got, tc.want)
		}
	}
	if events.SessionIDOf("a", "bc") == events.SessionIDOf("ab", "c") {
		t.Error("agent and native id run into each other")
	}
}

func TestKeyIsForEver(t *testing.T) {
	t.Parallel()
	if got, want := events.KeyOf("session", "toolu_01").String(), "8e0df1a6a811c145aed782f61c86f3f8"; got != want {
		t.Errorf("KeyOf = %s, want %s", got, want)
	}
	distinct := [][]string{{}, {""}, {"", ""}, {"ab", "c"}, {"a", "bc"}, {"abc"}, {"abc", ""}, {"c", "ab"}}
	seen := map[events.Key][]string{}
	for _, parts := range distinct {
		k := events.KeyOf(parts...)
		if other, taken := seen[k]; taken || k.IsZero() {
			t.Errorf("KeyOf(%q) = KeyOf(%q) = %s", parts, other, k)
		}
		seen[k] = parts
	}
}

func TestSessionIDRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := events.SessionIDOf(rapid.String().Draw(t, "agent"), rapid.String().Draw(t, "native"))
		if got, err := events.ParseSessionID(id.String()); got != id || err != nil {
			t.Fatalf("ParseSessionID(%s) = %s, %v", id, got, err)
		}
		if got, ok := id.Stream().Session(); got != id || !ok {
			t.Fatalf("%s is the stream of %s, %t", id.Stream(), got, ok)
		}
		if name, ok := id.Stream().Provider(); ok {
			t.Fatalf("%s is the stream of provider %q", id.Stream(), name)
		}
		jsonRoundTrip(t, id)
	})
}

func TestKeyRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := events.KeyOf(rapid.SliceOf(rapid.String()).Draw(t, "parts")...)
		if len(k.String()) != 32 {
			t.Fatalf("String = %q, want 32 digits", k)
		}
		jsonRoundTrip(t, k)
		jsonRoundTrip(t, events.Key{})
		jsonRoundTrip(t, events.Hash(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "hash")))
	})
}

func jsonRoundTrip[T comparable](t *rapid.T, want T) {
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got T
	if err := json.Unmarshal(b, &got); err != nil || got != want {
		t.Fatalf("%s reads back as %v, %v; want %v", b, got, err, want)
	}
}

func TestTextThatIsNoID(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "x", "00000000-0000-4000-8000-00000000000", "session/00000000-0000-4000-8000-000000000001"} {
		if id, err := events.ParseSessionID(s); !errors.Is(err, events.ErrSessionID) || !id.IsZero() {
			t.Errorf("ParseSessionID(%q) = %s, %v", s, id, err)
		}
		var id events.SessionID
		if err := id.UnmarshalText([]byte(s)); !errors.Is(err, events.ErrSessionID) {
			t.Errorf("UnmarshalText(%q) says %v", s, err)
		}
	}
	for _, s := range []string{"1", "zz000000000000000000000000000000", "000000000000000000000000000000000"} {
		var k events.Key
		if err := k.UnmarshalText([]byte(s)); err == nil {
			t.Errorf("Key.UnmarshalText(%q) = %s", s, k)
		}
		var h events.Hash
		if err := h.UnmarshalText([]byte(s)); err == nil {
			t.Errorf("Hash.UnmarshalText(%q) = %s", s, h)
		}
	}
}

func TestStreams(t *testing.T) {
	t.Parallel()
	const id = "0199a2b3-4c5d-7e6f-8011-223344556677"
	for _, tc := range []struct {
		stream   events.StreamID
		session  bool
		provider string
	}{
		{events.Daemon, false, ""},
		{events.ProviderStream("anthropic"), false, "anthropic"},
		{events.ProviderStream("a/b"), false, "a/b"},
		{"session/" + id, true, ""},
		{"session/0199A2B3-4C5D-7E6F-8011-223344556677", false, ""},
		{"session/{" + id + "}", false, ""},
		{"session/urn:uuid:" + id, false, ""},
		{"session/0199a2b34c5d7e6f8011223344556677", false, ""},
		{"session/" + id + " ", false, ""},
		{"session/", false, ""},
		{"sessions/" + id, false, ""},
		{id, false, ""},
	} {
		got, ok := tc.stream.Session()
		if ok != tc.session || ok && got.Stream() != tc.stream || !ok && !got.IsZero() {
			t.Errorf("%s: Session = %s, %t, want %t", tc.stream, got, ok, tc.session)
		}
		if name, ok := tc.stream.Provider(); ok != (tc.provider != "") || ok && name != tc.provider {
			t.Errorf("%s: Provider = %q, %t, want %q", tc.stream, name, ok, tc.provider)
		}
	}
}

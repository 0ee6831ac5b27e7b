package seal

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func TestSealAndOpen(t *testing.T) {
	t.Parallel()
	key := mustKey(t)
	rapid.Check(t, func(t *rapid.T) {
		header, text := rapid.SliceOf(rapid.Byte()).Draw(t, "header"), rapid.SliceOf(rapid.Byte()).Draw(t, "text")
		sealed, err := key.Public().Seal(header, text)
		if err != nil {
			t.Fatal(err)
		}
		if len(sealed) != len(text)+Overhead {
			t.Errorf("%d bytes make %d sealed, want %d more", len(text), len(sealed), Overhead)
		}
		got, err := key.Open(header, sealed)
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("opened %x, %v; want %x", got, err, text)
		}
		at := rapid.IntRange(0, len(sealed)-1).Draw(t, "changed byte")
		changed := bytes.Clone(sealed)
		changed[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		refuse(t, key, header, changed)
		refuse(t, key, header, sealed[:at])
		refuse(t, key, append(bytes.Clone(header), 0), sealed)
	})
}

func TestSealedToAnother(t *testing.T) {
	t.Parallel()
	key, other := mustKey(t), mustKey(t)
	sealed, err := key.Public().Seal(nil, []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	refuse(t, other, nil, sealed)
	again, err := key.Public().Seal(nil, []byte("text"))
	if err != nil || bytes.Equal(again, sealed) {
		t.Errorf("sealed twice to the same bytes (%v)", err)
	}
}

func TestKeysRoundTrip(t *testing.T) {
	t.Parallel()
	key := mustKey(t)
	public, err := ParsePublicKey(key.Public().Bytes())
	if err != nil || public.ID() != key.Public().ID() || len(public.ID()) != 16 {
		t.Errorf("got %q, %v; want %q", public.ID(), err, key.Public().ID())
	}
	for _, b := range [][]byte{nil, make([]byte, 31), make([]byte, 33)} {
		if _, err := ParsePublicKey(b); !errors.Is(err, ErrBadKey) {
			t.Errorf("%d bytes: got %v", len(b), err)
		}
	}
}

// TestLowOrderKeys are points to which every text would be sealed alike; nothing is.
func TestLowOrderKeys(t *testing.T) {
	t.Parallel()
	for _, first := range []byte{0, 1} {
		public, err := ParsePublicKey(append([]byte{first}, make([]byte, 31)...))
		if err != nil {
			continue
		}
		if sealed, err := public.Seal(nil, []byte("text")); err == nil {
			t.Errorf("sealed to the point %d: %x", first, sealed)
		}
	}
}

func FuzzOpen(f *testing.F) {
	key := mustKey(f)
	sealed, err := key.Public().Seal([]byte("header"), []byte("text"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("header"), sealed)
	f.Add([]byte{}, sealed[:40])
	f.Fuzz(func(t *testing.T, header, sealed []byte) {
		text, err := key.Open(header, sealed)
		if err == nil && string(text) != "text" {
			t.Errorf("opened %q", text)
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	key := mustKey(b)
	for _, size := range []int{4 << 10, 64 << 10, 1 << 20} {
		text := make([]byte, size)
		b.Run(byteSize(size), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, err := key.Public().Seal([]byte("header"), text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func byteSize(n int) string {
	if n >= 1<<20 {
		return "1MiB"
	}
	return map[int]string{4 << 10: "4KiB", 64 << 10: "64KiB"}[n]
}

func refuse(t rapid.TB, key PrivateKey, header, sealed []byte) {
	t.Helper()
	if text, err := key.Open(header, sealed); !errors.Is(err, ErrOpen) {
		t.Errorf("opened %q, %v; want ErrOpen", text, err)
	}
}

func mustKey(tb testing.TB) PrivateKey {
	tb.Helper()
	key, err := NewPrivateKey()
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

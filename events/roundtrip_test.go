package events_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
)

var anyTime = rapid.Custom(func(t *rapid.T) time.Time {
	return time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(t, "seconds"), rapid.Int64Range(0, 999999999).Draw(t, "nanos")).UTC()
})

// headerTime is what Unix nanoseconds hold: 1678 to 2262.
var headerTime = rapid.Custom(func(t *rapid.T) time.Time {
	return time.Unix(0, rapid.Int64().Draw(t, "unix nanos")).UTC()
})

func isNumber(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// fill sets every field below v to something random; empty slices and maps are nil, as decoding leaves them.
func fill(t *rapid.T, v reflect.Value, name string) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(anyTime.Draw(t, name)))
		return
	}
	if v.Type() == reflect.TypeFor[events.Output]() {
		var text string
		fill(t, reflect.ValueOf(&text).Elem(), name)
		v.Set(reflect.ValueOf(events.NewOutput(text)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(string(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, name)))
		if rapid.IntRange(0, 9).Draw(t, name+" long") == 0 {
			v.SetString(strings.Repeat(v.String(), 100))
		}
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, name))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, name))
	case reflect.Float64:
		v.SetFloat(rapid.Float64().Filter(isNumber).Draw(t, name))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, name))
	case reflect.Array:
		reflect.Copy(v, reflect.ValueOf(rapid.SliceOfN(rapid.Byte(), v.Len(), v.Len()).Draw(t, name)))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), v.Type().Field(i).Name)
		}
	case reflect.Slice:
		for range rapid.IntRange(0, 3).Draw(t, name) {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			fill(t, v.Index(v.Len()-1), name)
		}
	case reflect.Map:
		for range rapid.IntRange(0, 3).Draw(t, name) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(t, key, name+" key")
			fill(t, value, name)
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			v.SetMapIndex(key, value)
		}
	default:
		t.Fatalf("%s: no way to fill a %s", name, v.Type())
	}
}

var anyEvent = rapid.Custom(func(t *rapid.T) events.Event {
	of := rapid.SampledFrom(samples()).Draw(t, "kind")
	v := reflect.New(reflect.TypeOf(of)).Elem()
	fill(t, v, v.Type().Name())
	return v.Interface().(events.Event)
})

var anyStream = rapid.Custom(func(t *rapid.T) events.StreamID {
	switch rapid.IntRange(0, 3).Draw(t, "stream") {
	case 0:
		return events.Daemon
	case 1:
		return events.ProviderStream(rapid.StringN(0, 40, 240).Draw(t, "provider"))
	case 2:
		return events.StreamID("session/" + rapid.StringMatching(`[0-9A-Fa-f{}:-]{0,40}`).Draw(t, "no session"))
	}
	return events.SessionID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "session")).Stream()
})

var anyDraft = rapid.Custom(func(t *rapid.T) events.Draft {
	id := rapid.SliceOfN(rapid.Byte(), 16, 16)
	return events.Draft{
		ID: events.ID(id.Draw(t, "id")), Key: events.Key(id.Draw(t, "key")), OccurredAt: headerTime.Draw(t, "occurred"),
		Causation: events.ID(id.Draw(t, "causation")), Correlation: events.ID(id.Draw(t, "correlation")),
		Unobserved: rapid.Bool().Draw(t, "unobserved"), Event: anyEvent.Draw(t, "event"),
	}
})

var anySalt = rapid.Custom(func(t *rapid.T) events.Salt {
	return events.Salt(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "salt"))
})

// place seals a random draft at a random place and returns it with the chain it follows.
func place(t *rapid.T, codec *events.Codec) (d events.Draft, prev events.Hash, r events.Record) {
	d = anyDraft.Draw(t, "draft")
	sealed, err := codec.Seal(d, anySalt.Draw(t, "salt"))
	if err != nil {
		t.Fatal(err)
	}
	prev = events.Hash(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "chain"))
	r = codec.Place(sealed, events.Position(rapid.Uint64().Draw(t, "position")), anyStream.Draw(t, "stream"),
		events.Version(rapid.Uint64().Draw(t, "version")), events.Position(rapid.Uint64().Draw(t, "previous")), prev,
		headerTime.Draw(t, "recorded"))
	return d, prev, r
}

func store(t interface{ Fatal(...any) }, r events.Record) []byte {
	b, err := r.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRecordRoundTrip(t *testing.T) {
	t.Parallel()
	codec := events.NewCodec()
	rapid.Check(t, func(t *rapid.T) {
		draft, prev, placed := place(t, codec)
		b := store(t, placed)
		got, err := codec.Record(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(placed.Header, got.Header); diff != "" {
			t.Fatalf("header (-placed +read):\n%s", diff)
		}
		if got.Chain != placed.Chain || events.NextChain(prev, got.Header) != got.Chain {
			t.Fatal("the chain that was read does not follow the one before")
		}
		if err := errors.Join(got.Check(), placed.Check()); err != nil {
			t.Fatal(err)
		}
		e, err := got.Event()
		if diff := cmp.Diff(draft.Event, e); err != nil || diff != "" {
			t.Fatalf("event: %v (-sealed +read):\n%s", err, diff)
		}
		if again := store(t, got); !bytes.Equal(b, again) {
			t.Fatalf("stored again it differs:\n%x\n%x", b, again)
		}
	})
}

// seen reports whether a reader who knows the chain before it notices that b is not a record as it was written.
func seen(codec *events.Codec, b []byte, prev events.Hash) bool {
	r, err := codec.Record(b)
	return err != nil || r.Check() != nil || events.NextChain(prev, r.Header) != r.Chain
}

// TestFlippedBitIsSeen: one wrong bit is noticed wherever it is. Only a compressed frame has bits without a meaning;
// there the content must be the same, to the byte.
func TestFlippedBitIsSeen(t *testing.T) {
	t.Parallel()
	codec := events.NewCodec()
	rapid.Check(t, func(t *rapid.T) {
		draft, prev, placed := place(t, codec)
		b := store(t, placed)
		if seen(codec, b, prev) {
			t.Fatal("an untouched record counts as damaged")
		}
		at := rapid.IntRange(0, 8*len(b)-1).Draw(t, "bit")
		b[at/8] ^= 1 << (at % 8)
		if seen(codec, b, prev) {
			return
		}
		r, _ := codec.Record(b)
		e, err := r.Event()
		if diff := cmp.Diff(draft.Event, e); b[1]&1 == 0 || err != nil || diff != "" {
			t.Fatalf("bit %d of %d flipped unseen: %v\n%s", at, 8*len(b), err, diff)
		}
	})
}

func TestEveryHeaderBitIsSeen(t *testing.T) {
	t.Parallel()
	codec := events.NewCodec()
	for _, e := range samples() {
		prev, r := sealed(t, codec, events.Draft{ID: sampleID(1), OccurredAt: sampleTime(1), Event: e}, events.Daemon)
		b := store(t, r)
		for bit := range 8 * len(b) {
			b[bit/8] ^= 1 << (bit % 8)
			if !seen(codec, b, prev) {
				t.Errorf("%s: bit %d of byte %d flipped unseen", events.KindOf(e), bit%8, bit/8)
			}
			b[bit/8] ^= 1 << (bit % 8)
		}
	}
}

// sealed places d at position 5, version 2 of stream, after a chain it returns.
func sealed(t testing.TB, codec *events.Codec, d events.Draft, stream events.StreamID) (prev events.Hash, r events.Record) {
	t.Helper()
	s, err := codec.Seal(d, events.Salt{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	prev = events.Hash{9, 9}
	return prev, codec.Place(s, 5, stream, 2, 4, prev, sampleTime(2))
}

func TestErasedRecordStillVerifies(t *testing.T) {
	t.Parallel()
	codec := events.NewCodec()
	for _, e := range samples() {
		prev, r := sealed(t, codec, events.Draft{ID: sampleID(1), Key: events.KeyOf("k"), OccurredAt: sampleTime(1), Event: e}, events.Daemon)
		whole := store(t, r)
		b := store(t, r.Erase())
		got, err := codec.Record(b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := got.Event(); !errors.Is(err, events.ErrErased) {
			t.Errorf("%s: Event says %v, want %v", got.Kind, err, events.ErrErased)
		}
		if err := got.Check(); err != nil || !got.Erased {
			t.Errorf("%s: Check says %v, erased %t", got.Kind, err, got.Erased)
		}
		if events.NextChain(prev, got.Header) != r.Chain || got.Chain != r.Chain {
			t.Errorf("%s: the chain changed when the payload went", got.Kind)
		}
		if diff := cmp.Diff(r.Header, got.Header); diff != "" {
			t.Errorf("%s: header changed:\n%s", got.Kind, diff)
		}
		if payload := whole[len(b):]; bytes.Contains(b, payload) || len(whole) <= len(b) {
			t.Errorf("%s: the payload is still there", got.Kind)
		}
		if again := store(t, got); !bytes.Equal(b, again) {
			t.Errorf("%s: stored again it differs", got.Kind)
		}
	}
}

func TestSaltHidesEqualPayloads(t *testing.T) {
	t.Parallel()
	codec := events.NewCodec()
	hash := func(salt events.Salt) events.Hash {
		s, err := codec.Seal(events.Draft{Event: events.SessionClosed{Cause: "end"}}, salt)
		if err != nil {
			t.Fatal(err)
		}
		return codec.Place(s, 1, events.Daemon, 1, 0, events.Hash{}, sampleTime(0)).PayloadHash
	}
	first, again, other := hash(events.Salt{1}), hash(events.Salt{1}), hash(events.Salt{2})
	if first == other || first != again {
		t.Error("the payload hash must depend on payload and salt, and on nothing else")
	}
}

func TestNewerThanThisProgram(t *testing.T) {
	t.Parallel()
	codec := events.NewCodec()
	e := events.SessionClosed{Cause: "end"}
	payload, schema, err := codec.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		kind   events.Kind
		schema uint16
	}{
		{"a kind of tomorrow", "dream_recalled", 1},
		{"no kind", "", 1},
		{"a newer schema", events.KindSessionClosed, schema + 1},
		{"the highest schema", events.KindSessionClosed, math.MaxUint16},
		{"no schema", events.KindSessionClosed, 0},
	} {
		if _, err := codec.Decode(tc.kind, tc.schema, payload); !errors.Is(err, events.ErrUnknownKind) {
			t.Errorf("%s: Decode says %v, want %v", tc.name, err, events.ErrUnknownKind)
		}
		_, r := sealed(t, codec, events.Draft{Event: e}, events.Daemon)
		r.Kind, r.Schema = tc.kind, tc.schema
		got, err := codec.Record(store(t, r))
		if err != nil {
			t.Errorf("%s: the record must be readable: %v", tc.name, err)
			continue
		}
		if _, err := got.Event(); !errors.Is(err, events.ErrUnknownKind) {
			t.Errorf("%s: Event says %v, want %v", tc.name, err, events.ErrUnknownKind)
		}
		if err := got.Check(); err != nil {
			t.Errorf("%s: its payload must still verify: %v", tc.name, err)
		}
	}
	_, r := sealed(t, codec, events.Draft{Event: e}, events.Daemon)
	b := store(t, r)
	b[0]++
	if _, err := codec.Record(b); !errors.Is(err, events.ErrUnknownKind) {
		t.Errorf("a newer layout: Record says %v, want %v", err, events.ErrUnknownKind)
	}
}

func TestWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	codec := events.NewCodec()
	for _, tc := range []struct {
		name  string
		event events.Event
		want  error
	}{
		{"a text just under the limit", events.ToolUsed{Output: strings.Repeat("x", events.MaxPayload-100)}, nil},
		{"a text over the limit", events.ToolUsed{Output: strings.Repeat("x", events.MaxPayload)}, events.ErrTooLarge},
		{"many positions", events.InputsDropped{Inputs: make([]events.Position, 131072)}, nil},
		{"more positions than decode", events.InputsDropped{Inputs: make([]events.Position, 131073)}, events.ErrTooLarge},
	} {
		s, err := codec.Seal(events.Draft{Event: tc.event}, events.Salt{})
		if !errors.Is(err, tc.want) {
			t.Errorf("%s: Seal says %v, want %v", tc.name, err, tc.want)
		}
		if err != nil {
			continue
		}
		r, err := codec.Record(store(t, codec.Place(s, 1, events.Daemon, 1, 0, events.Hash{}, sampleTime(0))))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.Event(); err != nil || !reflect.DeepEqual(got, tc.event) {
			t.Errorf("%s: sealed, and then read with %v", tc.name, err)
		}
	}
	if _, err := codec.Decode(events.KindToolUsed, 1, make([]byte, events.MaxPayload+1)); !errors.Is(err, events.ErrTooLarge) {
		t.Errorf("Decode of too much says %v, want %v", err, events.ErrTooLarge)
	}
	_, r := sealed(t, codec, events.Draft{Event: events.SessionClosed{}}, events.StreamID(strings.Repeat("s", events.MaxStream+1)))
	if _, err := r.AppendBinary(nil); err == nil {
		t.Error("a stream name that the header cannot hold is stored")
	}
}

func TestTimesLoseOnlyTheirZone(t *testing.T) {
	t.Parallel()
	codec := events.NewCodec()
	east := time.FixedZone("east", 3*3600)
	until := time.Date(2026, 11, 20, 19, 0, 0, 1, east)
	_, r := sealed(t, codec, events.Draft{OccurredAt: until, Event: events.ProviderPaused{Until: until}}, events.Daemon)
	if !r.OccurredAt.Equal(until) || r.OccurredAt.Location() != time.UTC {
		t.Errorf("occurred at %v, want %v in UTC", r.OccurredAt, until)
	}
	e, err := r.Event()
	if got := e.(events.ProviderPaused).Until; err != nil || !got.Equal(until) || got.Location() != time.UTC {
		t.Errorf("until %v, %v, want %v in UTC", got, err, until)
	}
}

func TestOneCodecServesAll(t *testing.T) {
	t.Parallel()
	codec := events.NewCodec()
	long := events.ToolUsed{Output: strings.Repeat("the limit is 8192 bytes; ", 200)}
	_, r := sealed(t, codec, events.Draft{Event: long}, events.Daemon)
	b := store(t, r)
	if len(b) > 1000 {
		t.Fatalf("%d bytes: the sample is not compressed", len(b))
	}
	errs := make(chan error, 8)
	for range cap(errs) {
		go func() { errs <- readMany(codec, b, long) }()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func readMany(codec *events.Codec, b []byte, want events.Event) error {
	for range 100 {
		r, err := codec.Record(b)
		if err != nil {
			return err
		}
		e, err := r.Event()
		if err != nil {
			return err
		}
		if diff := cmp.Diff(want, e); diff != "" {
			return errors.New(diff)
		}
		if _, err := codec.Seal(events.Draft{Event: e}, events.Salt{}); err != nil {
			return err
		}
	}
	return nil
}

package events_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
)

// source is what the package's own files say about its kinds.
type source struct {
	kinds   map[string]string // constant without "Kind" -> value
	methods map[string]string // struct -> the constant its kind method returns, without "Kind"
}

func readSource(t *testing.T) source {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no source here: %v", err)
	}
	s := source{kinds: map[string]string{}, methods: map[string]string{}}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, s.visit)
	}
	return s
}

func (s source) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ValueSpec:
		if typ, ok := n.Type.(*ast.Ident); ok && typ.Name == "Kind" {
			value, err := strconv.Unquote(n.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				panic(err)
			}
			s.kinds[strings.TrimPrefix(n.Names[0].Name, "Kind")] = value
		}
	case *ast.FuncDecl:
		if n.Name.Name == "kind" && n.Recv != nil {
			ret := n.Body.List[0].(*ast.ReturnStmt)
			s.methods[n.Recv.List[0].Type.(*ast.Ident).Name] = strings.TrimPrefix(ret.Results[0].(*ast.Ident).Name, "Kind")
		}
	}
	return true
}

func TestEveryKindHasAStructASampleAndADecoder(t *testing.T) {
	t.Parallel()
	src, codec := readSource(t), events.NewCodec()
	if len(src.kinds) < 29 {
		t.Fatalf("found %d kinds in the source, want at least the 29 of the first release", len(src.kinds))
	}
	byName := map[string]events.Event{}
	for _, e := range samples() {
		byName[reflect.TypeOf(e).Name()] = e
	}
	if len(byName) != len(src.kinds) || len(src.methods) != len(src.kinds) {
		t.Errorf("%d kinds, %d structs with one, %d samples: want as many of each", len(src.kinds), len(src.methods), len(byName))
	}
	for name, kind := range src.kinds {
		if src.methods[name] != name {
			t.Errorf("%s.kind returns Kind%s, want Kind%s", name, src.methods[name], name)
		}
		e, ok := byName[name]
		if !ok {
			t.Errorf("no sample of %s", name)
			continue
		}
		if got := events.KindOf(e); string(got) != kind {
			t.Errorf("KindOf(%s) = %q, want %q", name, got, kind)
		}
		payload, schema, err := codec.Encode(e)
		if err != nil || schema == 0 {
			t.Fatalf("Encode(%s) = schema %d, %v", name, schema, err)
		}
		got, err := codec.Decode(events.Kind(kind), schema, payload)
		if diff := cmp.Diff(e, got); err != nil || diff != "" {
			t.Errorf("Decode(%s): %v\n%s", name, err, diff)
		}
	}
}

func TestSamplesSetEveryField(t *testing.T) {
	t.Parallel()
	for _, e := range samples() {
		for _, path := range zeroFields(reflect.ValueOf(e), reflect.TypeOf(e).Name()) {
			t.Errorf("%s is zero in the sample: its form would not be on record", path)
		}
	}
	if got := zeroFields(reflect.ValueOf(events.ClaimChecked{Subject: sampleID(1)}), "c"); len(got) != 4 {
		t.Errorf("zeroFields finds %v in an empty claim, want its four fields", got)
	}
}

func zeroFields(v reflect.Value, path string) (zero []string) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]() || v.Type() == reflect.TypeFor[events.Output]() || v.Kind() != reflect.Struct && v.Kind() != reflect.Slice:
		if v.IsZero() || v.Kind() == reflect.Map && v.Len() == 0 {
			return []string{path}
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			zero = append(zero, zeroFields(v.Field(i), path+"."+v.Type().Field(i).Name)...)
		}
	case v.Len() == 0:
		return []string{path}
	default:
		for i := range v.Len() {
			zero = append(zero, zeroFields(v.Index(i), path+"[]")...)
		}
	}
	return zero
}

// TestFieldNumbers holds what a golden file cannot: that no two fields share a number or a JSON name, and that empty
// fields take no room.
func TestFieldNumbers(t *testing.T) {
	t.Parallel()
	for _, e := range samples() {
		checkNumbers(t, reflect.TypeOf(e))
	}
	checkNumbers(t, reflect.TypeFor[events.Claim]())
	checkNumbers(t, reflect.TypeFor[events.Limits]())
	checkNumbers(t, reflect.TypeFor[events.Counted]())
	checkNumbers(t, reflect.TypeFor[events.Usage]())
}

func checkNumbers(t *testing.T, typ reflect.Type) {
	t.Helper()
	numbers, names := map[string]string{}, map[string]string{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		tag := strings.Split(f.Tag.Get("cbor"), ",")
		if len(tag) != 3 || tag[1] != "keyasint" || !strings.HasPrefix(tag[2], "omit") {
			t.Errorf("%s.%s: cbor tag %q, want number,keyasint,omitempty or omitzero", typ.Name(), f.Name, f.Tag.Get("cbor"))
			continue
		}
		if n, err := strconv.Atoi(tag[0]); err != nil || n < 1 {
			t.Errorf("%s.%s: number %q", typ.Name(), f.Name, tag[0])
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if other, taken := numbers[tag[0]]; taken {
			t.Errorf("%s: %s and %s share number %s", typ.Name(), other, f.Name, tag[0])
		}
		if other, taken := names[name]; taken || name == "" {
			t.Errorf("%s: %s and %s share the JSON name %q", typ.Name(), other, f.Name, name)
		}
		numbers[tag[0]], names[name] = f.Name, f.Name
	}
}

func TestInputs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		kind  events.Kind
		input bool
	}{
		{events.KindToolUsed, true},
		{events.KindContextCompacted, true},
		{events.KindAgentStopped, true},
		{events.KindAgentSaid, false},
		{events.KindPreferenceStated, false},
		{events.KindPromptSubmitted, false},
		{events.KindObservationParsed, false},
	} {
		if got := events.IsInput(tc.kind); got != tc.input {
			t.Errorf("IsInput(%s) = %t", tc.kind, got)
		}
		seen := events.Header{Kind: tc.kind}
		if seen.IsInput() != tc.input || (events.Header{Kind: tc.kind, Unobserved: true}).IsInput() {
			t.Errorf("Header.Input of %s does not follow IsInput and Unobserved", tc.kind)
		}
	}
}

func TestFailureClassesBlameOneAtMost(t *testing.T) {
	t.Parallel()
	provider := []events.FailureClass{
		events.FailLimit, events.FailAuth, events.FailBilling, events.FailOverload, events.FailServer,
		events.FailTransport, events.FailTimeout, events.FailSetup, events.FailUnknown,
	}
	turn := []events.FailureClass{events.FailRefused, events.FailOverflow, events.FailTruncated}
	for _, c := range provider {
		if !c.BlamesProvider() || c.BlamesTurn() {
			t.Errorf("%s: provider %t, turn %t", c, c.BlamesProvider(), c.BlamesTurn())
		}
	}
	for _, c := range turn {
		if c.BlamesProvider() || !c.BlamesTurn() {
			t.Errorf("%s: provider %t, turn %t", c, c.BlamesProvider(), c.BlamesTurn())
		}
	}
	for _, c := range []events.FailureClass{events.FailCrash, events.FailInterrupted, ""} {
		if c.BlamesProvider() || c.BlamesTurn() {
			t.Errorf("%q blames somebody", c)
		}
	}
}

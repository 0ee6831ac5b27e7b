package observer

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// minimal is the smallest mode; its lines are counted in the tests below.
const minimal = `name = "Law"
role = "You keep the memory of a case."
record = "What the court held."
skip = "What it did not."
summary = "Where the case stands."
[[types]]
id = "holding"
label = "Holding"
description = "what was decided"
[[concepts]]
id = "doctrine"
label = "Doctrine"
description = "the rule behind it"
`

func folder(files map[string]string) fs.FS {
	dir := fstest.MapFS{}
	for name, text := range files {
		dir[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return dir
}

func TestLoadModeReadsAFolder(t *testing.T) {
	t.Parallel()
	got, err := LoadMode(folder(map[string]string{"law-study.toml": minimal}), "law-study")
	if err != nil {
		t.Fatal(err)
	}
	want := Mode{
		ID: "law-study", Name: "Law", Role: "You keep the memory of a case.", Record: "What the court held.", Skip: "What it did not.",
		Summary:  "Where the case stands.",
		Types:    []Term{{"holding", "Holding", "what was decided"}},
		Concepts: []Term{{"doctrine", "Doctrine", "the rule behind it"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAModeThatExtendsReplacesItsKeys(t *testing.T) {
	t.Parallel()
	dir := folder(map[string]string{
		"code-de.toml":       "extends = \"code\"\nlanguage = \"German\"\n",
		"code-de-chill.toml": "extends = \"code-de\"\nname = \"Kumpel\"\ntone = \"Relaxed.\"\n",
		"code.toml":          "extends = \"code\"\ntone = \"\"\n",
		"own-types.toml":     "extends = \"code\"\nexamples = []\n[[types]]\nid = \"x\"\nlabel = \"X\"\ndescription = \"y\"\n",
	})
	code := CodeMode()
	for _, tc := range []struct {
		name string
		want func(m *Mode)
	}{
		{"code-de", func(m *Mode) { m.Language, m.Tone = "German", "" }}, // over the folder's own code
		{"code-de-chill", func(m *Mode) { m.Language, m.Name, m.Tone = "German", "Kumpel", "Relaxed." }},
		{"code", func(m *Mode) { m.Tone = "" }},
		{"own-types", func(m *Mode) { m.Types, m.Examples, m.Tone = []Term{{"x", "X", "y"}}, nil, "" }},
	} {
		want := code
		want.ID = tc.name
		tc.want(&want)
		got, err := LoadMode(dir, tc.name)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestModesListsBothPlaces(t *testing.T) {
	t.Parallel()
	dir := folder(map[string]string{"law.toml": minimal, "code.toml": "", "Notes.toml": "", "notes.txt": "", "sub/x.toml": ""})
	got, err := Modes(dir)
	if diff := cmp.Diff([]string{"code", "law", "research", "writing"}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := Modes(noFolder{}); err != nil || len(got) != 3 {
		t.Errorf("a folder that does not exist: %q, %v", got, err)
	}
}

type noFolder struct{}

func (noFolder) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func TestUnknownModes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"law", "", "Code", "../code", "code.toml", "a--b", "-a", "a-", "a_b", "9a", "a b", strings.Repeat("a", 65)} {
		_, err := LoadMode(folder(nil), name)
		if !errors.Is(err, ErrNoMode) {
			t.Errorf("%q: %v, want %v", name, err, ErrNoMode)
		}
	}
	_, err := LoadMode(folder(map[string]string{"own.toml": minimal}), "law")
	if want := `observer: no such mode as "law": there are code, own, research, writing`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// Each fault is told with file, line, key, and what may stand there.
func TestFaultsOfModes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 4001)
	for _, tc := range []struct{ name, text, want string }{
		{"unknown key", "extends = \"code\"\n\nrol = \"x\"\n",
			"m.toml:3: rol: there is no such key; there are extends, name, role, record, skip, tone, summary, language, types, concepts, examples"},
		{"unknown key of a type", minimal + "[[types]]\nid = \"a\"\nlabel = \"A\"\ndescription = \"b\"\nemoji = \"x\"\n",
			"m.toml:18: types.emoji: there is no such key; there are id, label, description"},
		{"unknown key of an example", "extends = \"code\"\n[[examples]]\nseen = \"x\"\n[[examples.observations]]\ntitel = \"x\"\n",
			"m.toml:5: examples.observations.titel: there is no such key; there are type, title, subtitle, narrative, facts, concepts, files_read, files_modified"},
		{"not TOML", "name = \"x\"\nrole = \n", "m.toml:2: "},
		{"twice", "name = \"x\"\nname = \"y\"\n", "m.toml:2: "},
		{"another kind", "extends = \"code\"\ntypes = \"bugfix\"\n", "m.toml:2: types: "},
		{"missing", strings.Replace(minimal, "role = \"You keep the memory of a case.\"\n", "", 1), "m.toml:1: role: it is missing: want 1 to 4000 characters"},
		{"blank", "extends = \"code\"\nskip = \" \"\n", "m.toml:2: skip: it is missing: want 1 to 4000 characters"},
		{"too long", "extends = \"code\"\ntone = \"" + long + "\"\n", "m.toml:2: tone: 4001 characters: want at most 4000"},
		{"control characters", "extends = \"code\"\ntone = \"a\\u0007b\"\n", "m.toml:2: tone: it has control characters"},
		{"a tag", "extends = \"code\"\nskip = 'else answer <skip_summary/>'\n", "m.toml:2: skip: it shows a tag of the output"},
		{"name of two lines", "extends = \"code\"\nname = \"a\\nb\"\n", "m.toml:2: name: \"a\\nb\": want one line of 1 to 200 characters"},
		{"language", "extends = \"code\"\nlanguage = \"de; ignore all\"\n", "m.toml:2: language: \"de; ignore all\": want the name of a language"},
		{"no types", "extends = \"code\"\ntypes = []\nexamples = []\n", "m.toml:2: types: 0 of them: want 1 to 32"},
		{"id", strings.Replace(minimal, "holding", "Holding!", 1), "m.toml:7: types[0].id: \"Holding!\": want lowercase words"},
		{"reserved", strings.Replace(minimal, "holding", "unknown", 1), "m.toml:7: types[0].id: \"unknown\" is what is stored where a type is none of the mode's"},
		{"id twice", minimal + "[[concepts]]\nid = \"doctrine\"\nlabel = \"D\"\ndescription = \"d\"\n",
			"m.toml:15: concepts[1].id: \"doctrine\" stands there twice: want each once"},
		{"no label", strings.Replace(minimal, "label = \"Holding\"\n", "", 1), "m.toml:6: types[0].label: \"\": want one line"},
		{"example without answer", "extends = \"code\"\n[[examples]]\nseen = \"x\"\n", "m.toml:2: examples[0]: 0 answers: want exactly one of observations, summary and skip"},
		{"example with two", "extends = \"code\"\n[[examples]]\nseen = \"x\"\nskip = \"y\"\n[examples.summary]\nrequest = \"z\"\n", "m.toml:2: examples[0]: 2 answers"},
		{"example of another type", "extends = \"code\"\n[[examples]]\nseen = \"x\"\n[[examples.observations]]\ntype = \"bug\"\ntitle = \"y\"\n",
			"m.toml:5: examples[0].observations[0].type: \"bug\": want one of bugfix, feature"},
		{"example of another concept", "extends = \"code\"\n[[examples]]\nseen = \"x\"\n[[examples.observations]]\ntype = \"bugfix\"\ntitle = \"y\"\nconcepts = [\"z\"]\n",
			"m.toml:7: examples[0].observations[0].concepts: \"z\" is none of the mode's concepts"},
		{"example that says nothing", "extends = \"code\"\n[[examples]]\nseen = \"x\"\n[[examples.observations]]\ntype = \"bugfix\"\n",
			"m.toml:4: examples[0].observations[0]: it says nothing"},
		{"example of a summary of notes", "extends = \"code\"\n[[examples]]\nseen = \"x\"\n[examples.summary]\nnotes = \"z\"\n", "m.toml:4: examples[0].summary: it says nothing"},
		{"skip with a quote", "extends = \"code\"\n[[examples]]\nseen = \"x\"\nskip = 'a \"b\"'\n", "m.toml:4: examples[0].skip: \"a \\\"b\\\"\": want one line"},
		{"parent unknown", "tone = \"x\"\nextends = \"cod\"\n", "m.toml:2: extends: observer: no such mode as \"cod\": there are code, m, n, research, writing"},
		{"circle", "extends = \"n\"\n", "extends: the chain is longer than 8 modes, or a circle"},
		{"inherited fault", "extends = \"code\"\n[[types]]\nid = \"a\"\nlabel = \"A\"\ndescription = \"b\"\n", "code.toml:"},
		{"too large", "# " + strings.Repeat("x", 64<<10), "mode m.toml has 65538 bytes: at most 65536"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m, err := LoadMode(folder(map[string]string{"m.toml": tc.text, "n.toml": "extends = \"m\"\n"}), "m")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
			if m.ID != "" {
				t.Errorf("a mode came with the error: %+v", m)
			}
		})
	}
}

func TestAllFaultsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	_, err := LoadMode(folder(map[string]string{"m.toml": "extends = \"code\"\nrole = \"\"\nskip = \"\"\n"}), "m")
	if err == nil || strings.Count(err.Error(), "observer: mode m.toml:") != 2 {
		t.Errorf("two faults are told as: %v", err)
	}
}

func TestCheckLanguage(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "German", "Brazilian Portuguese", "français", "日本語", "हिन्दी", "Chinese (simplified)"} {
		if err := CheckLanguage(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{"German.", "a\nb", "<x>", strings.Repeat("a", 41), "en_US"} {
		if CheckLanguage(s) == nil {
			t.Errorf("%q is taken for a language", s)
		}
	}
}

// FuzzLoadMode: whatever a file holds, it is a mode that can be used, or an error that names the file.
func FuzzLoadMode(f *testing.F) {
	for _, name := range []string{"code", "research", "writing"} {
		text, err := fs.ReadFile(modeFiles, "modes/"+name+modeExt)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(minimal)
	f.Add("extends = \"code\"\nexamples = [{seen = \"x\", observations = [{title = \"y\"}]}]\n")
	f.Add("[types]\nid = 1\n[types.x]\n[[examples.observations]]\n[[examples]]\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := LoadMode(folder(map[string]string{"m.toml": text}), "m")
		if err != nil && !strings.Contains(err.Error(), "m.toml") && !strings.Contains(err.Error(), "code.toml") {
			t.Errorf("the error names no file: %v", err)
		}
		if err == nil && (m.Role == "" || len(m.Types) == 0 || len(m.Concepts) == 0 || hasRoot(fmt.Sprint(m.Role, m.Record, m.Skip))) {
			t.Errorf("a mode that cannot be used: %+v", m)
		}
	})
}

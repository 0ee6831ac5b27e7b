package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/blevesearch/bleve/v2/search"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/order"
	"github.com/cmemd/cmemd/internal/setting"
)

// FileName is the name of the settings in a home.
const FileName = "config.toml"

// maxConfig bounds the file: all keys with long comments are a few kilobytes.
const maxConfig = 1 << 20

// FromDefault is the source of a setting that nobody set.
const FromDefault = "default"

// Loaded is the settings in force and where each comes from.
type Loaded struct {
	Config
	From     map[string]string // by key: FromDefault, "config.toml:3", or the variable's name
	Home     string            // that they were read for
	Environ  []string          // of what they have run: what of the environment counts
	Programs relay.Programs    // that they have run; the zero value: those that Environ leads to

	leftOut []string // names of the environment's other variables
}

// Values returns the settings in force as they would be written, by key, but for secrets: they are masked.
func (l *Loaded) Values() map[string]string {
	out := map[string]string{}
	for _, s := range l.Settings() {
		out[s.Key] = s.Get()
	}
	return out
}

// A settingError is a setting that cannot be used.
type settingError struct {
	Where      string // "config.toml:3", or "environment"
	Key        string // as it was written there
	Value      string // as it was written there; unused if the key is unknown
	Limits     string // what the value may be; empty: the key is unknown
	Suggestion string // the known key, or the known value, that is most like what is not known; empty: none is
}

func (e *settingError) Error() string {
	switch {
	case e.Limits != "":
		text := fmt.Sprintf("%s: %s = %s is not allowed: it may be %s", e.Where, terminal.VisibleLine(e.Key), terminal.VisibleLine(e.Value), e.Limits)
		if e.Suggestion != "" {
			text += "; did you mean " + e.Suggestion + "?"
		}
		return text
	case e.Suggestion != "":
		return fmt.Sprintf("%s: unknown key %s: did you mean %s?", e.Where, terminal.VisibleLine(e.Key), e.Suggestion)
	}
	return fmt.Sprintf("%s: unknown key %s: `cmemd config show --all` lists the keys there are; a newer cmemd may know more", e.Where, terminal.VisibleLine(e.Key))
}

// Load reads the settings of a home as a daemon that is started has them: the defaults, and over them its file. Of the environment
// counts what such a daemon is given. A home without a file has no settings of its own. The error joins one *settingError for each
// that cannot be used, what does not go together, or is the file's; beside it come the settings that can be used.
func Load(home string, environ []string) (*Loaded, error) {
	data, err := readSettingsFile(home)
	return ReadSettings(home, environ, data, err)
}

// LoadWithVariables is Load for a daemon that a person runs by hand, and for tests: over the file stand the variables of the
// environment that are called like settings, and all of it counts.
func LoadWithVariables(home string, environ []string) (*Loaded, error) {
	data, err := readSettingsFile(home)
	l, err := readLines(home, data, err, envLines(environ))
	l.Environ = environ
	_, l.leftOut = relay.DaemonEnv(environ, relay.Programs{}, nil)
	return l, err
}

// ReadSettings is Load with what the file holds, and the error of reading it.
func ReadSettings(home string, environ []string, data []byte, err error) (*Loaded, error) {
	l, err := readLines(home, data, err, nil)
	l.takeEnvironment(environ)
	return l, err
}

// readLines reads settings from what the file of a home holds, and over that from other lines.
func readLines(home string, data []byte, err error, over []configLine) (*Loaded, error) {
	l := Standard()
	l.Home = home
	lines, parseErr := parseTOML(data)
	if parseErr != nil {
		err = fmt.Errorf("%s:%w", FileName, parseErr)
	}
	bad := []error{err}
	for _, line := range append(lines, over...) {
		bad = append(bad, l.apply(line))
	}
	return l, errors.Join(append(bad, l.checkTogether())...)
}

// Standard returns the settings of a home in which nobody set any.
func Standard() *Loaded {
	l := &Loaded{From: map[string]string{}}
	for _, s := range l.Settings() {
		s.Set(s.Standard)
		l.From[s.Key] = FromDefault
	}
	return l
}

func readSettingsFile(home string) ([]byte, error) {
	return readFile(filepath.Join(home, FileName), "settings", maxConfig)
}

// readFile reads what a person wrote into a home, which what calls, of at most that many bytes; there need be none, but a link has to lead
// to one.
func readFile(path, what string, maxBytes int64) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if link, err := os.Lstat(path); err == nil && link.Mode()&fs.ModeSymlink != 0 { // what it led to may say what is not to be recorded
			return nil, terminal.Advise(fmt.Errorf("%s is a link that leads nowhere", path), "let it lead to the %s, or remove it", what)
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Size() > maxBytes || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file of %s: it must be a regular file of at most %s", path, what, setting.FormatBytes(maxBytes))
	}
	data, err := os.ReadFile(path)
	return bytes.TrimPrefix(data, []byte(ByteOrderMark)), err
}

// ByteOrderMark is what some editors begin a file with; it says nothing, and TOML does not know it.
const ByteOrderMark = "\ufeff"

// A configLine is one key with its value, wherever it was written.
type configLine struct {
	where, key, name, value string // key: of the table; name: as it was written there
	kind                    setting.Kind
	untyped                 bool // the value is text that may stand for any kind
}

// apply sets what line says, or returns a *settingError.
func (l *Loaded) apply(line configLine) error {
	all := l.Settings()
	i := slices.IndexFunc(all, func(s Setting) bool { return s.Key == line.key })
	if i < 0 {
		return &settingError{Where: line.where, Key: line.name, Suggestion: nearestKey(all, line)}
	}
	s := all[i]
	if !line.fits(s.Kind) || !s.Set(line.value) {
		bad := &settingError{Where: line.where, Key: line.name, Value: line.shown(), Limits: written(s.Facts)}
		if s.Secret {
			bad.Value = "what stands there"
		}
		if line.fits(s.Kind) {
			bad.Suggestion = nearestWord(s.Facts, line.value)
		}
		return bad
	}
	l.From[s.Key] = line.where
	if line.untyped {
		l.From[s.Key] = line.name
	}
	return nil
}

// fits reports whether the value was written as a setting of kind k wants it.
func (line configLine) fits(k setting.Kind) bool {
	text, number := line.kind == setting.KindText, line.kind == setting.KindNumber
	switch k {
	case setting.KindDuration, setting.KindList:
		return line.untyped || line.kind == k || text
	case setting.KindBytes, setting.KindMoney:
		return line.untyped || line.kind == k || text || number
	}
	return line.untyped || line.kind == k
}

func (line configLine) shown() string {
	switch {
	case line.kind == setting.KindText || line.untyped:
		return fmt.Sprintf("%q", line.value)
	case line.kind == setting.KindList:
		return "a list"
	}
	return line.value
}

// written says what a value may be, and how it is written where that is not plain.
func written(s setting.Facts) string {
	switch s.Kind {
	case setting.KindNumber:
		return "a whole number, " + s.Limits
	case setting.KindDuration:
		return fmt.Sprintf("a duration such as %q, %s", s.Standard, s.Limits)
	case setting.KindBytes:
		return fmt.Sprintf("a number of bytes such as %q, %s", s.Standard, s.Limits)
	case setting.KindMoney:
		return "an amount with at most two decimals, " + s.Limits
	}
	return s.Limits
}

// envSwitches are the variables that are no settings: they say where the home is, what a hook may do, and what a daemon is not given.
func envSwitches() []string {
	return []string{"CMEMD_HOME", "CMEMD_OBSERVER", "CMEMD_DISABLE", "CMEMD_NO_START", relay.LeftOutVar}
}

// envLines returns the settings of an environment, sorted by name.
func envLines(environ []string) []configLine {
	var lines []configLine
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, setting.EnvPrefix) || slices.Contains(envSwitches(), name) {
			continue
		}
		key := strings.ToLower(strings.TrimPrefix(name, setting.EnvPrefix))
		lines = append(lines, configLine{where: "environment", key: key, name: name, value: value, kind: setting.KindText, untyped: true})
	}
	order.By(lines, func(a, b configLine) int { return strings.Compare(a.name, b.name) })
	return lines
}

// nearestKey is the known key that line most likely means, spelled as it would be there; empty if none is like it. Who has
// a secret in the hand is told of no key that would be shown.
func nearestKey(all []Setting, line configLine) string {
	var keys []string
	for _, s := range all {
		if !namesSecret(line.key) || namesSecret(s.Key) {
			keys = append(keys, s.Key)
		}
	}
	best := nearest(strings.ToLower(line.key), keys)
	if best != "" && line.untyped {
		return setting.EnvPrefix + strings.ToUpper(best)
	}
	return best
}

// nearestWord is the word that was most likely meant by a value that is none of those that s may be; empty: nobody knows.
func nearestWord(s setting.Facts, value string) string {
	parts := []string{value}
	if s.Kind == setting.KindList {
		parts = setting.SplitList(value)
	}
	for _, part := range parts {
		if !slices.Contains(s.Words, part) {
			return nearest(part, s.Words)
		}
	}
	return ""
}

// nearest is the first of the words that are most like text; empty if none is like it.
func nearest(text string, words []string) string {
	best, least := "", 1+max(2, len(text)/3)
	for _, w := range words {
		if d := search.LevenshteinDistance(text, w); d < least {
			best, least = w, d
		}
	}
	return best
}

// Getenv returns a variable of Environ.
func (l *Loaded) Getenv(name string) (value string) {
	for _, kv := range l.Environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// namesSecret reports whether somebody who sets such a key has a secret in the hand.
func namesSecret(key string) bool {
	return !strings.HasPrefix(key, "budget_") && slices.ContainsFunc([]string{"key", "token", "secret", "password"}, func(w string) bool { return strings.Contains(strings.ToLower(key), w) })
}

package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/anthropic"
	"github.com/cmemd/cmemd/internal/observer/claudecli"
	"github.com/cmemd/cmemd/internal/observer/extractive"
	"github.com/cmemd/cmemd/internal/observer/gemini"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/internal/observer/openai"
	"github.com/cmemd/cmemd/internal/observer/playback"
)

// ProviderNames lists what the setting provider may be, the default first.
func ProviderNames() []string {
	return []string{extractive.Name, playback.Name, claudecli.Name, anthropic.Name, openai.Name, gemini.Name}
}

// Models is what is set of the providers that ask a language model.
type Models struct {
	ClaudeModel string
	ClaudePath  string
	Anthropic   serviceConfig
	OpenAI      serviceConfig
	Gemini      serviceConfig

	OutputForm      string
	Thinking        string
	Mode            string
	Language        string
	MaxOutputTokens int
	ObserverRetries int
}

// serviceConfig is what is set of one service that is asked over HTTP.
type serviceConfig struct {
	Model      string
	URL        string
	KeyEnv     string
	KeyFile    string
	KeyCommand string
}

// Service returns the settings of the service called name, as pointers into c; nil if it is none.
func (c *Config) Service(name string) *serviceConfig {
	switch name {
	case anthropic.Name:
		return &c.Anthropic
	case openai.Name:
		return &c.OpenAI
	case gemini.Name:
		return &c.Gemini
	case EmbeddingsName:
		return &c.Embeddings.Endpoint
	}
	return nil
}

// The forms in which a model may be asked to answer.
const (
	formAuto       = "auto"
	FormXML        = "xml"
	FormStructured = "structured"
)

// What a model may be told of how much to think before it answers.
const (
	ThinkingLeast = "least"
	thinkingOwn   = "own"
)

// modelSettings is the part of the table that says how models are asked.
func modelSettings() []Setting {
	all := []Setting{
		wordsKey("claude_cli_model", "claude-haiku-5-5", modelLimits, "the model that claude-cli asks", isModel,
			func(c *Config) *string { return &c.ClaudeModel }),
		pathKey("claude_cli_path", "the program of claude-cli; empty: claude on PATH, or where its installers put it",
			func(c *Config) *string { return &c.ClaudePath }),
	}
	all = append(all, serviceSettings(anthropic.Name, "https://api.anthropic.com", "ANTHROPIC_API_KEY")...)
	all = append(all, serviceSettings(openai.Name, "https://api.openai.com/v1", "OPENAI_API_KEY")...)
	all = append(all, serviceSettings(gemini.Name, "https://generativelanguage.googleapis.com", "GEMINI_API_KEY")...)
	return append(all,
		wordKey("output_form", formAuto, []string{formAuto, FormXML, FormStructured}, "of a model's answers; auto: structured where the service takes it",
			func(c *Config) *string { return &c.OutputForm }),
		wordKey("thinking", ThinkingLeast, []string{ThinkingLeast, thinkingOwn},
			"of a model before it answers, which is paid as output: as little as it can, or as it likes; claude-cli always asks for little",
			func(c *Config) *string { return &c.Thinking }),
		wordsKey("mode", observer.CodeMode().ID, "the name of a mode: see `cmemd observer modes`", "what a model records, and in which words", isModeWord,
			func(c *Config) *string { return &c.Mode }),
		wordsKey("language", "", "the name of a language, or empty: the mode's", "that a model writes in", isLanguage,
			func(c *Config) *string { return &c.Language }),
		numberKey("max_output_tokens", 8192, 256, 131072, "of one answer of a model",
			func(c *Config) *int { return &c.MaxOutputTokens }),
		numberKey("observer_retries", 2, 0, 2, "of one turn where a service was busy or not reached; claude-cli retries by itself",
			func(c *Config) *int { return &c.ObserverRetries }),
	)
}

// serviceSettings are the keys of one service.
func serviceSettings(name, address, variable string) []Setting {
	at := func(field func(*serviceConfig) *string) func(*Config) *string {
		return func(c *Config) *string { return field(c.Service(name)) }
	}
	none := "empty: none is sent"
	if name == openai.Name {
		none = "empty: none is sent, nor to a loopback address unless this is set"
	}
	return []Setting{
		wordsKey(name+"_model", "", modelLimits, "the model that is asked; needed with provider = "+name, isModel,
			at(func(s *serviceConfig) *string { return &s.Model })),
		secret(wordsKey(name+"_url", address, "an http or https URL without a user and a query", "where the service is asked", isBaseURL,
			at(func(s *serviceConfig) *string { return &s.URL })), unmasked),
		secret(wordsKey(name+"_key_env", variable, "the name of a variable in capitals that is not cmemd's, or empty",
			"the variable that holds the key; "+none, isVariable, at(func(s *serviceConfig) *string { return &s.KeyEnv })), unmasked),
		secret(pathKey(name+"_key_file", "a file (0600) with the key in its first line",
			at(func(s *serviceConfig) *string { return &s.KeyFile })), unmasked),
		secret(wordsKey(name+"_key_command", "", "a program with arguments, quoted where they have blanks, or empty",
			"a program that prints the key; only its name is ever shown", isCommand, at(func(s *serviceConfig) *string { return &s.KeyCommand })), programOnly),
	}
}

const modelLimits = "the name of a model, or empty"

// wordsKey is a setting whose values are told by ok, not by a list.
func wordsKey(key, standard, limits, doc string, ok func(string) bool, at func(*Config) *string) Setting {
	return Setting{
		Key: key, Kind: kindText, Standard: standard, Limits: limits, Doc: doc, open: true,
		Set: func(c *Config, text string) bool { *at(c) = text; return ok(text) },
		Get: func(c *Config) string { return *at(c) },
	}
}

// secret is s, of which no value is repeated in an error, as somebody may have put a key there, and which is shown as mask
// has it.
func secret(s Setting, mask func(string) string) Setting {
	get := s.Get
	s.secret = true
	s.Get = func(c *Config) string { return mask(get(c)) }
	return s
}

func unmasked(value string) string { return value }

// programOnly is a command without its arguments, which may hold secrets of their own.
func programOnly(command string) string {
	args, err := splitCommand(command)
	if err != nil || len(args) == 0 {
		return ""
	}
	if len(args) == 1 {
		return quoteWord(args[0])
	}
	return quoteWord(args[0]) + " ..."
}

func quoteWord(word string) string {
	switch {
	case strings.Contains(word, `"`):
		return "'" + word + "'"
	case strings.ContainsAny(word, " '"):
		return `"` + word + `"`
	}
	return word
}

// isModel takes what every service could call a model.
func isModel(text string) bool {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	return len(text) <= 200 && !strings.HasPrefix(text, "-") && !strings.ContainsFunc(text, odd)
}

// isModeWord takes what may be the name of a mode; whether there is one is seen when all settings are known.
func isModeWord(text string) bool {
	odd := func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }
	return text != "" && len(text) <= 64 && !strings.ContainsFunc(text, odd)
}

func isLanguage(text string) bool { return observer.CheckLanguage(text) == nil }

func isBaseURL(text string) bool {
	return text != "" && !strings.ContainsFunc(text, unicode.IsControl) && model.Endpoint{URL: text}.Check() == nil
}

// isVariable takes names in capitals alone: keys have small letters or dashes, so that one in the wrong place is seen.
func isVariable(text string) bool {
	odd := func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') && (r < '0' || r > '9') }
	starts := text == "" || text[0] < '0' || text[0] > '9'
	return starts && len(text) <= 100 && !strings.ContainsFunc(text, odd) && !strings.HasPrefix(text, EnvPrefix)
}

func isCommand(text string) bool {
	_, err := splitCommand(text)
	return err == nil && !strings.ContainsFunc(text, unicode.IsControl)
}

// errQuotes is a command whose quotes do not match, or whose program nobody could write down again.
var errQuotes = errors.New("a quote is not closed, or stands in the name of the program")

// splitCommand splits a command at blanks. What stands between single or double quotes is taken as it is. There is no
// shell: no variables, no escapes.
func splitCommand(text string) (args []string, err error) {
	var word strings.Builder
	var quote rune
	begun := false
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				args = append(args, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		args = append(args, word.String())
	}
	if quote != 0 || len(args) > 0 && (args[0] == "" || strings.Contains(args[0], `"`) && strings.Contains(args[0], "'")) {
		return nil, errQuotes
	}
	return args, nil
}

// CheckProvider reports what the provider called name lacks, or cannot do together with the rest. An error begins with
// what names it: a setting and its value, or a sentence without its verb.
func (l *Loaded) CheckProvider(where, name string) error {
	s := l.Service(name)
	switch {
	case name == playback.Name && l.PlaybackFile == "":
		return fmt.Errorf("%s %w", where, ErrNoPlayback)
	case name == claudecli.Name && l.ClaudeModel == "":
		return fmt.Errorf("%s needs claude_cli_model, the model that it asks", where)
	case name == claudecli.Name && l.OutputForm == FormStructured:
		return fmt.Errorf("%s answers in XML alone: set output_form to auto or xml", where)
	case s == nil:
		return nil
	case s.Model == "":
		return fmt.Errorf("%s needs %s_model, the model that it asks", where, name)
	case l.KeySource(name).none() && s.URL == standardOf(name+"_url"):
		return fmt.Errorf("%s needs a key: set one of %s_key_env, %[2]s_key_file and %[2]s_key_command", where, name)
	}
	return nil
}

// checkKeys reports services with more than one source of their key. A default is none that somebody chose.
func (l *Loaded) checkKeys() error {
	var errs []error
	for _, name := range ProviderNames() {
		if l.Service(name) == nil {
			continue
		}
		var set []string
		for _, key := range []string{name + "_key_env", name + "_key_file", name + "_key_command"} {
			if l.From[key] != FromDefault && l.Values()[key] != "" {
				set = append(set, key)
			}
		}
		if len(set) > 1 {
			errs = append(errs, fmt.Errorf("%s are set together: a key comes from one of them", strings.Join(set, " and ")))
		}
	}
	return errors.Join(errs...)
}

// KeySource is where the key of a service comes from; nothing where none is sent.
func (l *Loaded) KeySource(name string) (k keySource) {
	s := l.Service(name)
	command, _ := splitCommand(s.KeyCommand) // it was checked when it was set
	switch {
	case len(command) > 0:
		k.command = command
	case s.KeyFile != "":
		k.file = s.KeyFile
	case name == openai.Name && l.From[name+"_key_env"] == FromDefault && IsLoopbackURL(s.URL):
	default:
		k.env = s.KeyEnv
	}
	return k
}

// keySource names one source of a key at most.
type keySource struct {
	env, file string
	command   []string
}

func (k keySource) none() bool { return k.env == "" && k.file == "" && len(k.command) == 0 }

// Key returns the key from k, to be read when it is needed; nil where none is sent.
func (k keySource) Key(getenv func(string) string) (*model.Key, error) {
	if k.none() {
		return nil, nil
	}
	return model.NewKey(model.KeySource{Env: k.env, File: k.file, Command: k.command, Getenv: getenv})
}

// IsLoopbackURL reports whether no other machine is asked at address.
func IsLoopbackURL(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// standardOf is the default of a key.
func standardOf(key string) string {
	all := Settings()
	i := slices.IndexFunc(all, func(s Setting) bool { return s.Key == key })
	return all[i].Standard
}

// ModesDir is where a home keeps modes of its own.
func (l *Loaded) ModesDir() string { return filepath.Join(l.Home, "modes") }

// Getenv returns a variable of the environment that the settings were read with.
func (l *Loaded) Getenv(name string) (value string) {
	for _, kv := range l.Environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

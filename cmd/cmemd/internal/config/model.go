package config

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/claudecli"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/internal/observer/openai"
	"github.com/cmemd/cmemd/internal/setting"
)

// Services is what is set of the providers that ask a language model, beside the model.
type Services struct {
	ClaudePath string
	Endpoints  setting.PerProvider[serviceConfig]

	OutputForm      string
	Thinking        string
	Mode            string
	Language        string
	MaxOutputTokens int
	ObserverRetries int
}

// serviceConfig is what is set of one service that is asked over HTTP.
type serviceConfig struct {
	URL        string
	KeyEnv     string
	KeyFile    string
	KeyCommand string
}

// The forms in which a model may be asked to answer.
const (
	formAuto       = "auto"
	FormXML        = "xml"
	FormStructured = "structured"
)

// How much a model may be asked to think before it answers.
const (
	ThinkingLeast   = "least"
	thinkingDefault = "own"
)

// settings is the part of the table that says how models are asked, with the models, which are v's.
func (c *Services) settings(v *setting.InForce) []setting.Row {
	var services []setting.Row
	for _, p := range setting.Providers() {
		if p.New != nil {
			services = append(services, c.Endpoints.Of(p.Name).settings(p, v)...)
		}
	}
	return slices.Concat(
		v.ModelRow(claudecli.Name),
		[]setting.Row{
			setting.Path(&c.ClaudePath, "claude_cli_path", "the program of claude-cli; empty: claude on PATH, or where its installers put it"),
		},
		services,
		[]setting.Row{
			setting.Word(&c.OutputForm, "output_form", formAuto, []string{formAuto, FormXML, FormStructured}, "of a model's answers; auto: structured where the service takes it"),
			setting.Word(&c.Thinking, "thinking", ThinkingLeast, []string{ThinkingLeast, thinkingDefault},
				"of a model before it answers, which is paid as output: as little as it can, or as it likes; claude-cli always asks for little"),
			setting.Text(&c.Mode, "mode", observer.CodeMode().ID, "the name of a mode: see `cmemd observer modes`", "what a model records, and in which words", isModeWord),
			setting.Text(&c.Language, "language", "", "the name of a language, or empty: the mode's", "that a model writes in", isLanguage),
			setting.Number(&c.MaxOutputTokens, "max_output_tokens", 8192, 256, 131072, "of one answer of a model"),
			setting.Number(&c.ObserverRetries, "observer_retries", 2, 0, 2, "of one turn where a service was busy or not reached; claude-cli retries by itself"),
		},
	)
}

// settings are the keys of one service.
func (s *serviceConfig) settings(p setting.Provider, v *setting.InForce) []setting.Row {
	none := "empty: none is sent"
	if p.Name == openai.Name {
		none = "empty: none is sent, nor to a loopback address unless this is set"
	}
	return slices.Concat(v.ModelRow(p.Name), []setting.Row{
		secret(setting.Text(&s.URL, p.Name+"_url", p.URL, "an http or https URL without a user and a query", "where the service is asked", isBaseURL), unmasked),
	}, s.keySettings(p.Name, "the key", "its first line", p.KeyEnv, none))
}

// keySettings are the keys of a service that say where its key comes from, which key names in a sentence, as line does the
// place of it in a file.
func (s *serviceConfig) keySettings(name, key, line, variable, none string) []setting.Row {
	return []setting.Row{
		secret(setting.Text(&s.KeyEnv, name+"_key_env", variable, "the name of a variable in capitals that is not cmemd's, or empty",
			"the variable that holds "+key+"; "+none, isVariable), unmasked),
		secret(setting.Path(&s.KeyFile, name+"_key_file", "a file (0600) with "+key+" in "+line), unmasked),
		secret(setting.Text(&s.KeyCommand, name+"_key_command", "", "a program with arguments, quoted where they have blanks, or empty",
			"a program that prints "+key+"; only its name is ever shown", isCommand), programOnly),
	}
}

// secret is s, of which no value is repeated in an error, as somebody may have put a key there, and which is shown as mask
// has it.
func secret(s setting.Row, mask func(string) string) setting.Row {
	get := s.Get
	s.Secret = true
	s.Get = func() string { return mask(get()) }
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
	return starts && len(text) <= 100 && !strings.ContainsFunc(text, odd) && !strings.HasPrefix(text, setting.EnvPrefix)
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

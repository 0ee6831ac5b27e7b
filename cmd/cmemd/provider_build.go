package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/anthropic"
	"github.com/cmemd/cmemd/internal/observer/claudecli"
	"github.com/cmemd/cmemd/internal/observer/extractive"
	"github.com/cmemd/cmemd/internal/observer/gemini"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/internal/observer/openai"
	"github.com/cmemd/cmemd/internal/observer/playback"
	"github.com/cmemd/cmemd/internal/observer/prompt"
	"github.com/cmemd/cmemd/internal/redact/full"
)

// A built provider is one that can be asked, with what it was made of.
type built struct {
	observer.Provider
	mode  observer.Mode       // whose types its observations have
	sweep func() (int, error) // ends what still runs of it from an earlier life, and says how many did; nil: nothing can
	idle  func()              // closes the connections that it keeps; nil: it has none
	key   *model.Key          // nil: none is sent
	cli   *claudecli.Client   // of claude-cli
}

// A builder makes providers by name from settings. Nothing is asked, started or connected to.
type builder struct {
	settings *config.Loaded
	runs     string               // the folder of what claude-cli runs
	asked    func(model.Question) // is told of each question that goes out; may be nil
	called   string               // under which a model is known where it is not its service's own; empty: the service's name
	log      *slog.Logger         // is told how they have to be asked; may be nil
}

// provider makes the provider called name, or says what it lacks.
func (b builder) provider(name string) (*built, error) {
	l := b.settings
	if !slices.Contains(config.ProviderNames(), name) {
		return nil, fmt.Errorf("there is no provider %q: there are %s", name, strings.Join(config.ProviderNames(), ", "))
	}
	if err := l.CheckProvider("provider = "+name, name); err != nil {
		return nil, err
	}
	mode, err := l.LoadMode()
	if err != nil {
		return nil, err
	}
	made := &built{mode: mode}
	switch name {
	case extractive.Name: // it knows the words of the code mode alone
		made.Provider, made.mode = extractive.New(extractive.Config{}), observer.CodeMode()
		return made, nil
	case playback.Name:
		made.Provider, err = newPlayback(l)
		return made, err
	}
	return made, b.model(name, made)
}

// model makes made ask a language model.
func (b builder) model(name string, made *built) error {
	l := b.settings
	asker, err := b.asker(name, made)
	if err != nil {
		return err
	}
	redact := full.New().Plain // of captured texts before they are shortened, and of all that is sent
	renderer, err := prompt.New(prompt.Config{Mode: made.mode, Language: l.Language, Redact: redact})
	if err != nil {
		return err
	}
	c := model.Config{
		Name: cmp.Or(b.called, name), Asker: model.Guarded{Asker: asker, Key: made.key, Asked: b.asked}, Renderer: renderer, Mode: made.mode, Redact: redact,
		Retries: l.ObserverRetries, Timeout: l.TurnTimeout, MaxTokens: l.MaxOutputTokens, Log: b.log,
		LeastThinking: l.Thinking == config.ThinkingLeast && name != claudecli.Name, // whose client is asked for none by itself
	}
	if l.ObserverRetries == 0 || name == claudecli.Name { // which asks its service again by itself
		c.Retries = -1
	}
	switch {
	case l.OutputForm == config.FormXML || name == claudecli.Name:
		c.Form = events.FormXML
	case l.OutputForm == config.FormStructured:
		c.Form = events.FormStructured
	}
	made.Provider, err = model.New(c)
	return err
}

// asker makes what knows the wire of the service called name.
func (b builder) asker(name string, made *built) (model.Asker, error) {
	l := b.settings
	if name == claudecli.Name {
		made.sweep = func() (int, error) { return claudecli.Sweep(b.runs) }
		var err error
		made.cli, err = claudecli.New(claudecli.Config{Dir: b.runs, Path: l.ClaudePath, Model: l.ClaudeModel, Env: slices.Clip(l.Environ)})
		return made.cli, err
	}
	var err error
	if made.key, err = l.KeySource(name).Key(l.Getenv); err != nil {
		return nil, err
	}
	s := l.Service(name)
	at := model.Endpoint{URL: s.URL, Key: made.key}
	var asker interface {
		model.Asker
		CloseIdleConnections()
	}
	switch name {
	case anthropic.Name:
		asker, err = anthropic.New(anthropic.Config{Model: s.Model, Endpoint: at})
	case openai.Name:
		asker, err = openai.New(openai.Config{Model: s.Model, Endpoint: at})
	case gemini.Name:
		asker, err = gemini.New(gemini.Config{Model: s.Model, Endpoint: at})
	}
	if err != nil {
		return nil, err
	}
	made.idle = asker.CloseIdleConnections
	return asker, nil
}

// begin ends what an earlier life left running, and says how much that was. It must come before the first question.
func (b *built) begin() (found int, err error) {
	if b.sweep == nil {
		return 0, nil
	}
	return b.sweep()
}

// close lets go what it keeps, once nobody asks any more.
func (b *built) close() error {
	if b.idle != nil {
		b.idle()
	}
	_, err := b.begin()
	return err
}

// made makes one of those whom the settings name.
func (b builder) made(who config.Asked) (*built, error) {
	b.called, b.settings = b.settings.Called(who), b.settings.As(who)
	return b.provider(who.Name)
}

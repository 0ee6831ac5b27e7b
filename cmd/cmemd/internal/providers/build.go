package providers

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/claudecli"
	"github.com/cmemd/cmemd/internal/observer/extractive"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/internal/observer/playback"
	"github.com/cmemd/cmemd/internal/observer/prompt"
	"github.com/cmemd/cmemd/internal/redact/full"
	"github.com/cmemd/cmemd/internal/setting"
)

// A Built provider is one that can be asked, with what it was made of.
type Built struct {
	observer.Provider
	Mode      observer.Mode       // whose types its observations have
	sweep     func() (int, error) // ends what still runs of it from an earlier life, and says how many did; nil: nothing can
	closeIdle func()              // closes the connections that it keeps; nil: it has none
	Key       *model.Key          // nil: none is sent
	CLI       *claudecli.Client   // of claude-cli
}

// A Builder makes providers by name from settings. Nothing is asked, started or connected to.
type Builder struct {
	Settings   *config.Loaded
	Runs       string               // the folder of what claude-cli runs
	onQuestion func(model.Question) // is called with each question that goes out; may be nil
	called     string               // under which a model is known where it is not its service's own; empty: the service's name
	Log        *slog.Logger         // learns how they have to be asked; may be nil
}

// build makes the provider called name, or says what it lacks.
func (b Builder) build(name string) (*Built, error) {
	l := b.Settings
	if !slices.Contains(setting.ProviderNames(), name) {
		return nil, fmt.Errorf("there is no provider %q: there are %s", name, strings.Join(setting.ProviderNames(), ", "))
	}
	if err := l.CheckProvider("provider = "+name, name); err != nil {
		return nil, err
	}
	mode, err := l.LoadMode()
	if err != nil {
		return nil, err
	}
	made := &Built{Mode: mode}
	switch name {
	case extractive.Name: // it knows the words of the code mode alone
		made.Provider, made.Mode = extractive.New(), observer.CodeMode()
		return made, nil
	case playback.Name:
		made.Provider, err = newPlayback(l)
		return made, err
	}
	return made, b.model(name, made)
}

// model makes made ask a language model.
func (b Builder) model(name string, made *Built) error {
	l := b.Settings
	asker, err := b.asker(name, made)
	if err != nil {
		return err
	}
	redact := full.New().TextOrAll // of captured texts before they are shortened, and of all that is sent
	renderer, err := prompt.New(prompt.Config{Mode: made.Mode, Language: l.Language, Redact: redact})
	if err != nil {
		return err
	}
	c := model.Config{
		Name: cmp.Or(b.called, name), Asker: model.Guarded{Asker: asker, Key: made.Key, OnAsk: b.onQuestion}, Renderer: renderer,
		Mode: made.Mode, Redact: redact,
		Retries: l.ObserverRetries, Timeout: l.TurnTimeout, MaxTokens: l.MaxOutputTokens, Log: b.Log,
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
func (b Builder) asker(name string, made *Built) (model.Asker, error) {
	l := b.Settings
	if name == claudecli.Name {
		made.sweep = func() (int, error) { return claudecli.Sweep(b.Runs) }
		var err error
		made.CLI, err = claudecli.New(claudecli.Config{
			Dir: b.Runs, Path: cmp.Or(l.ClaudePath, config.Program(l.Programs.Claude)), Model: l.ModelOf(name), Env: l.ClaudeEnviron(),
		})
		return made.CLI, err
	}
	at, err := l.Endpoint(name)
	if err != nil {
		return nil, err
	}
	made.Key = at.Key
	asker, err := setting.ProviderNamed(name).New(l.ModelOf(name), at) // build looked for it
	if err != nil {
		return nil, err
	}
	made.closeIdle = asker.CloseIdleConnections
	return asker, nil
}

// Sweep ends what an earlier life left running, and says how much that was. It must come before the first question.
func (b *Built) Sweep() (found int, err error) {
	if b.sweep == nil {
		return 0, nil
	}
	return b.sweep()
}

// Close lets go what it keeps, once nobody asks any more.
func (b *Built) Close() error {
	if b.closeIdle != nil {
		b.closeIdle()
	}
	_, err := b.Sweep()
	return err
}

// Make makes one of those whom the settings name.
func (b Builder) Make(who setting.Asked) (*Built, error) {
	b.called, b.Settings = b.Settings.Called(who), b.Settings.As(who)
	return b.build(who.Name)
}

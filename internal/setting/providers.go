package setting

import (
	"slices"

	"github.com/cmemd/cmemd/internal/observer/anthropic"
	"github.com/cmemd/cmemd/internal/observer/claudecli"
	"github.com/cmemd/cmemd/internal/observer/extractive"
	"github.com/cmemd/cmemd/internal/observer/gemini"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/internal/observer/openai"
	"github.com/cmemd/cmemd/internal/observer/playback"
)

// A Provider is what is known of one that may observe.
type Provider struct {
	Name     string
	modelKey string // of the setting that names the model that it asks; empty: it asks none that could be chosen
	model    string // that it asks unless another one is set
	modelDoc string

	// Of a service that is asked over HTTP; empty and nil of others.
	URL    string // where it is asked
	KeyEnv string // the variable that holds its key
	New    func(model string, at model.Endpoint) (Service, error)
}

// A Service knows the wire of a service that is asked over HTTP.
type Service interface {
	model.Asker
	// CloseIdleConnections closes those on which nothing is asked.
	CloseIdleConnections()
}

// providers are all that may observe, the default first.
var providers = [...]Provider{
	{Name: extractive.Name},
	{Name: playback.Name},
	{Name: claudecli.Name, modelKey: "claude_cli_model", model: "claude-haiku-5-5", modelDoc: "the model that claude-cli asks"},
	service(anthropic.Name, "https://api.anthropic.com", "ANTHROPIC_API_KEY", func(model string, at model.Endpoint) (Service, error) {
		return anthropic.New(model, at)
	}),
	service(openai.Name, "https://api.openai.com/v1", "OPENAI_API_KEY", func(model string, at model.Endpoint) (Service, error) {
		return openai.New(model, at)
	}),
	service(gemini.Name, "https://generativelanguage.googleapis.com", "GEMINI_API_KEY", func(model string, at model.Endpoint) (Service, error) {
		return gemini.New(model, at)
	}),
}

func service(name, url, keyEnv string, make func(model string, at model.Endpoint) (Service, error)) Provider {
	doc := "the model that is asked; needed with provider = " + name
	return Provider{Name: name, modelKey: name + "_model", modelDoc: doc, URL: url, KeyEnv: keyEnv, New: make}
}

// ProviderNamed is the one of that name; the zero Provider if there is none.
func ProviderNamed(name string) (p Provider) {
	if i := slices.Index(ProviderNames(), name); i >= 0 {
		p = providers[i]
	}
	return p
}

// Providers lists what the setting provider may be, the default first.
func Providers() []Provider { return slices.Clone(providers[:]) }

// ProviderNames lists their names.
func ProviderNames() (names []string) {
	for _, p := range providers {
		names = append(names, p.Name)
	}
	return names
}

// IsFree reports whether the answers of a provider cost nothing, so that no budget holds it.
func IsFree(name string) bool { return name == extractive.Name }

// PerProvider has a value of each provider.
type PerProvider[T any] [len(providers)]T

// Of is where the value of the provider called name is; nil if there is none of that name.
func (all *PerProvider[T]) Of(name string) *T {
	i := slices.Index(ProviderNames(), name)
	if i < 0 {
		return nil
	}
	return &all[i]
}

// ModelRow is the setting of the model that a provider asks; none where it asks none that could be chosen.
func (v *InForce) ModelRow(name string) []Row {
	p := ProviderNamed(name)
	if p.modelKey == "" {
		return nil
	}
	return []Row{Model(v.Models.Of(name), p.modelKey, p.model, p.modelDoc)}
}

// ModelKey is the setting that names the model that a provider asks; empty where it asks none that could be chosen.
func ModelKey(provider string) string {
	return ProviderNamed(provider).modelKey
}

// Model is where the model of a provider is set; nil where none can be.
func (v *InForce) Model(provider string) *string {
	if ModelKey(provider) == "" {
		return nil
	}
	return v.Models.Of(provider)
}

// ModelOf is the model that is set of a provider; empty where none can be.
func (v *InForce) ModelOf(provider string) string {
	if model := v.Model(provider); model != nil {
		return *model
	}
	return ""
}

package setting

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/provider"
)

// Choice is what is set of who is asked when, and of what that may cost.
type Choice struct {
	Fallbacks []string // providers that stand in for the chosen one, in their order
	Summary   Tier
	Trivial   Tier
	Budget    policy.Budget
}

// A Tier is who is asked about one sort of turns. Without a provider it is the chosen one, without a model the provider's
// own; without either there is no tier.
type Tier struct{ Provider, Model string }

// The keys of the tiers.
const (
	SummaryTier = "summary"
	TrivialTier = "trivial"
)

// The limits of budgets: beyond them is a slip of the hand.
const (
	maxBudgetTokens = 2_000_000_000
	maxBudgetUSD    = 100_000
)

// ChoiceRows are the settings that say who is asked when, and what that may cost.
func (v *InForce) ChoiceRows() []Row {
	names := ProviderNames()
	known := func(list []string) bool {
		return !slices.ContainsFunc(list, func(name string) bool { return !slices.Contains(names, name) })
	}
	fallbacks := List(&v.Fallbacks, "fallbacks", "none or more of "+strings.Join(names, ", "),
		"asked in this order where provider, and each before it, is paused", known)
	fallbacks.Words = names
	return []Row{
		fallbacks,
		tierProvider(&v.Summary, SummaryTier, "what is asked for summaries first; empty: provider, if summary_model is set"),
		Model(&v.Summary.Model, SummaryTier+"_model", "", "the model that is asked for summaries; empty: that of summary_provider"),
		tierProvider(&v.Trivial, TrivialTier, "what is asked first about listings and the like alone; empty: provider, if trivial_model is set"),
		Model(&v.Trivial.Model, TrivialTier+"_model", "", "the model that is asked about listings and the like alone; empty: that of trivial_provider"),
		Number(&v.Budget.TokensDay, policy.LimitTokensDay, 0, 0, maxBudgetTokens, "tokens of a day, in and out, from which on inputs are held; 0: no limit"),
		Number(&v.Budget.TokensSession, policy.LimitTokensSession, 0, 0, maxBudgetTokens, "tokens of one session from which on its inputs are held; 0: no limit"),
		Money(&v.Budget.USDDay, policy.LimitUSDDay, maxBudgetUSD, "US dollars of a day from which on inputs are held, as far as prices are known; 0: no limit"),
		Money(&v.Budget.USDSession, policy.LimitUSDSession, maxBudgetUSD, "US dollars of one session from which on its inputs are held; 0: no limit"),
	}
}

func tierProvider(t *Tier, tier, doc string) Row {
	r := Word(&t.Provider, tier+"_provider", "", append(ProviderNames(), ""), doc)
	r.Words = ProviderNames()
	r.Limits = strings.Join(r.Words, ", ") + ", or empty"
	return r
}

// An Asked names who is asked: a provider, and a model where it is not the provider's own.
type Asked struct{ Name, Model string }

// Resolve returns who the tier t asks; ok is false where there is no tier.
func (v *InForce) Resolve(t Tier) (who Asked, ok bool) {
	who = Asked{t.Provider, t.Model}
	who.Name = cmp.Or(who.Name, v.Provider)
	if who.Model == v.ModelOf(who.Name) {
		who.Model = ""
	}
	return who, t != Tier{}
}

// Called is the name under which who is asked. A tier's model is a provider of its own: what a service says of one model, a
// limit or that there is none of that name, must not keep the others waiting.
func (v *InForce) Called(who Asked) string {
	if who.Model == "" {
		return who.Name
	}
	if s, ok := v.Resolve(v.Summary); ok && s == who {
		return who.Name + "-" + SummaryTier
	}
	return who.Name + "-" + TrivialTier
}

// ServiceOf is the provider whose settings the one called name goes by.
func ServiceOf(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, "-"+SummaryTier), "-"+TrivialTier)
}

// Order is the provider and what stands in for it.
func (v *InForce) Order() []string { return append([]string{v.Provider}, v.Fallbacks...) }

// Configured lists everybody who may be asked, each once: the provider, what stands in for it, and those of the tiers.
func (v *InForce) Configured() []Asked {
	var all []Asked
	add := func(who Asked) {
		if !slices.Contains(all, who) {
			all = append(all, who)
		}
	}
	for _, name := range v.Order() {
		add(Asked{Name: name})
	}
	for _, t := range []Tier{v.Summary, v.Trivial} {
		if who, ok := v.Resolve(t); ok {
			add(who)
		}
	}
	return all
}

// ConfiguredProviders lists the names of everybody who may be asked, each once.
func (v *InForce) ConfiguredProviders() []string {
	var names []string
	for _, who := range v.Configured() {
		if !slices.Contains(names, who.Name) {
			names = append(names, who.Name)
		}
	}
	return names
}

// Routes are whom turns may be asked of, by the names under which they are; there are none without a provider.
func (v *InForce) Routes() (r provider.Routes) {
	if v.Provider == "" {
		return r
	}
	n := 0
	add := func(who Asked) provider.Candidate {
		n++
		name := v.Called(who)
		return provider.Candidate{Index: n, Provider: name, Free: IsFree(name)}
	}
	for _, name := range v.Order() {
		r.Providers = append(r.Providers, add(Asked{Name: name}))
	}
	tier := func(t Tier) *provider.Candidate {
		who, ok := v.Resolve(t)
		if !ok {
			return nil
		}
		c := add(who)
		return &c
	}
	r.Summaries, r.Trivial = tier(v.Summary), tier(v.Trivial)
	return r
}

package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/observer/claudecli"
	"github.com/cmemd/cmemd/internal/observer/extractive"
)

// Choice is what is set of who is asked when, and of what that may cost.
type Choice struct {
	Fallbacks []string // providers that stand in for the chosen one, in their order
	Summary   tier
	Trivial   tier
	Budget    policy.Budget
}

// A tier is who is asked about one sort of turns. Without a provider it is the chosen one, without a model the provider's
// own; without either there is no tier.
type tier struct{ Provider, Model string }

// The keys of the tiers.
const (
	summaryTier = "summary"
	trivialTier = "trivial"
)

// The limits of budgets: beyond them is a slip of the hand.
const (
	maxBudgetTokens = 2_000_000_000
	maxBudgetUSD    = 100_000
)

// ChoiceSettings is the part of the table that says who is asked when, and what that may cost.
func ChoiceSettings() []Setting {
	return []Setting{
		listKey("fallbacks", ProviderNames(), "asked in this order where provider, and each before it, is paused",
			func(c *Config) *[]string { return &c.Fallbacks }),
		tierKey(summaryTier, "what is asked for summaries first; empty: provider, if summary_model is set",
			func(c *Config) *tier { return &c.Summary }),
		tierModelKey(summaryTier, "the model that is asked for summaries; empty: that of summary_provider",
			func(c *Config) *tier { return &c.Summary }),
		tierKey(trivialTier, "what is asked first about listings and the like alone; empty: provider, if trivial_model is set",
			func(c *Config) *tier { return &c.Trivial }),
		tierModelKey(trivialTier, "the model that is asked about listings and the like alone; empty: that of trivial_provider",
			func(c *Config) *tier { return &c.Trivial }),
		tokensKey(policy.LimitTokensDay, "tokens of a day, in and out, from which on inputs are held; 0: no limit",
			func(c *Config) *int64 { return &c.Budget.TokensDay }),
		tokensKey(policy.LimitTokensSession, "tokens of one session from which on its inputs are held; 0: no limit",
			func(c *Config) *int64 { return &c.Budget.TokensSession }),
		moneyKey(policy.LimitUSDDay, "US dollars of a day from which on inputs are held, as far as prices are known; 0: no limit",
			func(c *Config) *float64 { return &c.Budget.USDDay }),
		moneyKey(policy.LimitUSDSession, "US dollars of one session from which on its inputs are held; 0: no limit",
			func(c *Config) *float64 { return &c.Budget.USDSession }),
	}
}

// listComma stands between the texts of a list.
const listComma = ","

// listKey is a setting whose value is any of words, several with commas between them, or none.
func listKey(key string, words []string, doc string, at func(*Config) *[]string) Setting {
	return Setting{
		Key: key, Kind: kindList, Doc: doc, Limits: "none or more of " + strings.Join(words, ", "),
		Set: func(c *Config, text string) bool {
			*at(c) = splitList(text)
			return !slices.ContainsFunc(*at(c), func(w string) bool { return !slices.Contains(words, w) })
		},
		Get:   func(c *Config) string { return strings.Join(*at(c), ", ") },
		Words: words,
	}
}

// splitList parts what has commas between; a text without any word is no list.
func splitList(text string) (list []string) {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	for w := range strings.SplitSeq(text, listComma) {
		list = append(list, strings.TrimSpace(w))
	}
	return list
}

func tierKey(name, doc string, at func(*Config) *tier) Setting {
	words := ProviderNames()
	return Setting{
		Key: name + "_provider", Kind: kindText, Doc: doc, Limits: strings.Join(words, ", ") + ", or empty",
		Set: func(c *Config, text string) bool {
			at(c).Provider = text
			return text == "" || slices.Contains(words, text)
		},
		Get:   func(c *Config) string { return at(c).Provider },
		Words: words,
	}
}

func tierModelKey(name, doc string, at func(*Config) *tier) Setting {
	return wordsKey(name+"_model", "", modelLimits, doc, isModel, func(c *Config) *string { return &at(c).Model })
}

func tokensKey(key, doc string, at func(*Config) *int64) Setting {
	return Setting{
		Key: key, Kind: KindNumber, Standard: "0", Doc: doc, Limits: fmt.Sprintf("0 to %d", maxBudgetTokens),
		Set: func(c *Config, text string) bool {
			n, err := strconv.ParseInt(text, 10, 64)
			*at(c) = n
			return err == nil && within(n, 0, maxBudgetTokens)
		},
		Get: func(c *Config) string { return strconv.FormatInt(*at(c), 10) },
	}
}

func moneyKey(key, doc string, at func(*Config) *float64) Setting {
	return Setting{
		Key: key, Kind: kindMoney, Standard: formatMoney(0), Doc: doc, Limits: fmt.Sprintf("0 to %d", maxBudgetUSD),
		Set: func(c *Config, text string) bool {
			usd, ok := parseMoney(text)
			*at(c) = usd
			return ok && within(usd, 0, maxBudgetUSD)
		},
		Get: func(c *Config) string { return formatMoney(*at(c)) },
	}
}

// parseMoney reads an amount: digits, and behind a point at most two more. ok is false for anything else.
func parseMoney(text string) (usd float64, ok bool) {
	whole, cents, _ := strings.Cut(text, ".")
	digits := func(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' }) }
	if whole == "" || len(cents) > 2 || !digits(whole) || !digits(cents) || strings.HasSuffix(text, ".") {
		return 0, false
	}
	usd, err := strconv.ParseFloat(text, 64)
	return usd, err == nil
}

// formatMoney writes an amount to the cent.
func formatMoney(usd float64) string { return strconv.FormatFloat(usd, 'f', 2, 64) }

// An Asked names who is asked: a provider, and a model where it is not the provider's own.
type Asked struct{ Name, model string }

// Resolve returns who the tier t asks; ok is false where there is no tier.
func (l *Loaded) Resolve(t tier) (who Asked, ok bool) {
	who = Asked{t.Provider, t.Model}
	if who.Name == "" {
		who.Name = l.Provider
	}
	if who.model == l.ModelOf(who.Name) {
		who.model = ""
	}
	return who, t != tier{}
}

// Called is the name under which who is asked. A tier's model is a provider of its own: what a service says of one model, a
// limit or that there is none of that name, must not keep the others waiting.
func (l *Loaded) Called(who Asked) string {
	if who.model == "" {
		return who.Name
	}
	if s, ok := l.Resolve(l.Summary); ok && s == who {
		return who.Name + "-" + summaryTier
	}
	return who.Name + "-" + trivialTier
}

// serviceOf is the provider whose settings the one called name goes by.
func serviceOf(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, "-"+summaryTier), "-"+trivialTier)
}

// ModelOf is the model that is set of a provider; empty where none can be.
func (c *Config) ModelOf(name string) string {
	switch s := c.Service(name); {
	case s != nil:
		return s.Model
	case name == claudecli.Name:
		return c.ClaudeModel
	}
	return ""
}

// takesModel reports whether the model of a provider is a setting.
func takesModel(name string) bool { return (&Config{}).Service(name) != nil || name == claudecli.Name }

// As is l where the provider of who asks that model.
func (l *Loaded) As(who Asked) *Loaded {
	if who.model == "" {
		return l
	}
	with := *l
	if s := with.Service(who.Name); s != nil {
		s.Model = who.model
	} else {
		with.ClaudeModel = who.model
	}
	return &with
}

// Order is the provider and what stands in for it.
func (l *Loaded) Order() []string { return append([]string{l.Provider}, l.Fallbacks...) }

// Configured lists everybody who may be asked, each once: the provider, what stands in for it, and those of the tiers.
func (l *Loaded) Configured() []Asked {
	var all []Asked
	add := func(who Asked) {
		if !slices.Contains(all, who) {
			all = append(all, who)
		}
	}
	for _, name := range l.Order() {
		add(Asked{Name: name})
	}
	for _, t := range []tier{l.Summary, l.Trivial} {
		if who, ok := l.Resolve(t); ok {
			add(who)
		}
	}
	return all
}

// ConfiguredNames lists the names of everybody who may be asked, each once.
func (l *Loaded) ConfiguredNames() []string {
	var names []string
	for _, who := range l.Configured() {
		if !slices.Contains(names, who.Name) {
			names = append(names, who.Name)
		}
	}
	return names
}

// checkChoice reports what those who are chosen lack, or cannot do together.
func (l *Loaded) checkChoice() error {
	errs := []error{l.CheckProvider("provider = "+l.Provider, l.Provider)}
	seen := map[string]bool{l.Provider: true}
	for _, name := range l.Fallbacks {
		switch {
		case name == l.Provider:
			errs = append(errs, fmt.Errorf("fallbacks names %s, which is what stands in for: it is the provider", name))
		case seen[name]:
			errs = append(errs, fmt.Errorf("fallbacks names %s twice", name))
		default:
			errs = append(errs, l.CheckProvider("fallbacks names "+name+", which", name))
		}
		seen[name] = true
	}
	return errors.Join(append(errs, l.checkTier(summaryTier, l.Summary), l.checkTier(trivialTier, l.Trivial))...)
}

// checkTier reports what the tier t of that name lacks. What the provider's own settings lack is told of them.
func (l *Loaded) checkTier(name string, t tier) error {
	who, ok := l.Resolve(t)
	switch {
	case !ok:
		return nil
	case t.Model != "" && !takesModel(who.Name):
		return fmt.Errorf("%s_model is set, and %s asks no model that could be chosen: unset it, or let %[1]s_provider name another one", name, who.Name)
	case t.Provider == "" || slices.Contains(l.Order(), t.Provider) && who.model == "":
		return nil
	}
	return l.As(who).CheckProvider(name+"_provider = "+who.Name, who.Name)
}

// limitsMoney reports whether a budget is one of US dollars.
func (l *Loaded) limitsMoney() bool { return l.Budget.USDDay != 0 || l.Budget.USDSession != 0 }

// paysAs reports whether l limits the same money as other, and spends it on the same models.
func (l *Loaded) paysAs(other *Loaded) bool {
	same := func(a, b Asked) bool { return a == b && l.As(a).ModelOf(a.Name) == other.As(b).ModelOf(b.Name) }
	return l.Budget.USDDay == other.Budget.USDDay && l.Budget.USDSession == other.Budget.USDSession &&
		slices.EqualFunc(l.Configured(), other.Configured(), same)
}

// CheckPrices reports a budget of money where nobody knows what is paid.
func (l *Loaded) CheckPrices(ps Prices) error {
	if !l.limitsMoney() {
		return nil
	}
	var errs []error
	for _, who := range l.Configured() {
		model := l.As(who).ModelOf(who.Name)
		if !takesModel(who.Name) || ps.knows(who.Name, model) { // claude-cli too: one that is stopped does not say what it cost
			continue
		}
		errs = append(errs, fmt.Errorf("no price is known of %s: a budget in US dollars would not hold it", terminal.NameOfModel(who.Name, model)))
	}
	return terminal.Advise(errors.Join(errs...), "add a [[price]] to %s in CMEMD_HOME (`cmemd usage --help` shows one), or limit tokens: %s, %s",
		pricesFile, policy.LimitTokensDay, policy.LimitTokensSession)
}

// knows reports whether there is a price of a provider's model. That of what costs nothing is one.
func (ps Prices) knows(provider, model string) bool {
	_, ok := ps.of(provider, model)
	return ok
}

// IsFree reports whether the answers of a provider cost nothing, so that no budget holds it.
func IsFree(name string) bool { return name == extractive.Name }

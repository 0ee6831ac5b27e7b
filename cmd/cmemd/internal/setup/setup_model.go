package setup

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/providers"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/observer/extractive"
	"github.com/cmemd/cmemd/internal/setting"
)

// keyProvider is the setting that says who observes. Where somebody set it, the question is answered.
const keyProvider = "provider"

// askModel asks once whether a model may observe. Without a word the built-in observer does, which asks nobody.
func (s *setupRun) askModel(ctx context.Context) error {
	l, err := config.ForHome(s.app)
	if err != nil {
		return err
	}
	answer := &observerAnswer{Provider: l.Provider, Answered: l.From[keyProvider] != config.FromDefault}
	s.report.Observer = answer
	next, err := homedir.ReadNextObserver(s.paths().NextObserver)
	if err == nil && answer.Answered {
		err = s.forgetNext() // of a process that did not come to it
	}
	if err != nil {
		return err
	}
	if next.Provider != "" && !answer.Answered {
		return s.observeNext(ctx, answer, next)
	}
	if answer.Answered || s.app.JSON || !terminal.IsTerminal(s.app.In) || s.flags.yes {
		s.app.Infof("observer: %s%s", l.Provider, whoElse(answer.Answered))
		return nil
	}
	if answer.Day, err = providers.EstimateDay(ctx, s.app); err != nil {
		return err
	}
	if answer.Models, err = providers.Candidates(s.app, l, answer.Day); err != nil {
		return err
	}
	if len(answer.Models) == 0 {
		s.app.Infof("observer: %s; no model is at hand, neither Claude Code nor the key of a service in a variable", l.Provider)
		return nil
	}
	s.showModels(answer)
	for {
		said, err := s.app.Question(ctx, "May one of them observe? Its number, or Enter for no:")
		if errors.Is(err, terminal.ErrNoAnswer) {
			s.app.Infof("the built-in observer works, and `cmemd setup` asks again")
			return nil
		}
		if err != nil {
			return err
		}
		if n, ok := numberIn(answer.Models, said); ok {
			return s.choose(ctx, answer, n)
		}
		s.app.Infof("%q is no number of the list", terminal.VisibleLine(said))
	}
}

// whoElse says where the choice is, where nobody has made one.
func whoElse(answered bool) string {
	if answered {
		return ""
	}
	return ", which asks no model; `cmemd setup` at a terminal says which one could, and what a day would cost"
}

// showModels lists the models that could observe, and what a day would cost.
func (s *setupRun) showModels(o *observerAnswer) {
	s.app.Printf("The built-in observer asks nobody. A model writes better memory; what agents do is then sent to it:\n")
	for i, c := range o.Models {
		cost := "what it costs is not known"
		if c.DayUSD != nil {
			cost = fmt.Sprintf("from %s a day by the list of prices, and what it answers", terminal.Dollars(*c.DayUSD))
		}
		s.app.Printf("  %d  %s, by %s: %s\n", i+1, terminal.NameOfModel(c.Provider, c.Model), terminal.VisibleLine(c.By), cost)
	}
	if d := o.Day; d.Days > 0 {
		s.app.Printf("  as by %s of %s (%s to %s): %s and %s a day\n", number.Plural(d.Sessions, "session"), number.Plural(d.Days, "day"),
			d.First.Local().Format(time.DateOnly), d.Last.Local().Format(time.DateOnly), number.Plural(int(math.Ceil(d.Turns)), "question"), number.Plural(d.Tokens, "token"))
	}
}

// numberIn is the number of the model that a person chose, from 1, or 0 for none of them; false: it is no answer.
func numberIn(models []providers.Candidate, said string) (int, bool) {
	switch strings.ToLower(said) {
	case "", "n", "no":
		return 0, true
	}
	n, err := strconv.Atoi(said)
	return n, err == nil && n >= 1 && n <= len(models)
}

// choose writes down which model the person chose, by its number; 0: none.
func (s *setupRun) choose(ctx context.Context, o *observerAnswer, n int) error {
	if n == 0 {
		return s.set(ctx, o, extractive.Name, "")
	}
	return s.observeNext(ctx, o, homedir.NextObserver{Provider: o.Models[n-1].Provider, Model: o.Models[n-1].Model, Chosen: s.app.Now().UTC()})
}

// set writes down who observes.
func (s *setupRun) set(ctx context.Context, o *observerAnswer, provider, model string) error {
	changes := []config.Change{{Key: keyProvider, Value: &provider}}
	l, err := config.ForHome(s.app)
	if err != nil {
		return err
	}
	if model != "" && l.ModelOf(provider) != model {
		changes = append(changes, config.Change{Key: setting.ModelKey(provider), Value: &model})
	}
	if _, err := config.Write(ctx, s.app, changes); err != nil {
		return err
	}
	o.Provider, o.Answered = provider, true
	return nil
}

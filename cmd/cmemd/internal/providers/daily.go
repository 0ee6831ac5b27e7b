package providers

import (
	"context"
	"path/filepath"
	"time"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/offline"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/extractive"
	"github.com/cmemd/cmemd/internal/observer/prompt"
	"github.com/cmemd/cmemd/internal/redact/full"
)

// sampledBytes bounds what is read of the log for an estimate, so that it takes a few seconds: some months of a person's work.
const sampledBytes = 16 << 20

// A DailyWork is what a model would be asked on a day of work, by sessions that are on record.
type DailyWork struct {
	Sessions int       `json:"sessions"`
	Days     int       `json:"days"` // on which there was work
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	Turns    float64   `json:"turns"`  // a day
	Tokens   int64     `json:"tokens"` // of questions a day, with all that is said around what was captured: a quarter of their bytes
}

// EstimateDay has a model's questions made of the first sessions of the log, and asks nobody. A log without work gives the zero value.
func EstimateDay(ctx context.Context, a *terminal.App) (d DailyWork, err error) {
	l, err := config.ForHome(a)
	if err != nil {
		return d, err
	}
	mode, err := l.LoadMode()
	if err != nil {
		return d, err
	}
	asked, err := prompt.New(prompt.Config{Mode: mode, Language: l.Language, Redact: full.New().TextOrAll})
	if err != nil {
		return d, err
	}
	by := &countingProvider{Provider: extractive.New(), renderer: asked}
	err = homedir.PathsOf(l.Home).WithScratch(ctx, func(ctx context.Context, dir string) error {
		var captured [][]events.Record
		err := offline.WithLog(ctx, a, func(log offline.Source) (err error) {
			captured, err = firstSessions(ctx, log)
			return err
		})
		d = dailyWorkOf(captured)
		if err != nil {
			return err
		}
		return countQuestions(ctx, dir, by, captured)
	})
	if d.Days > 0 {
		d.Turns, d.Tokens = float64(by.turns)/float64(d.Days), by.bytes/number.CharactersPerToken/int64(d.Days)
	}
	return d, err
}

// firstSessions returns what was captured of the sessions in the first sampledBytes of the log.
func firstSessions(ctx context.Context, log offline.Source) (all [][]events.Record, err error) {
	of, size := map[events.StreamID]int{}, 0
	for r, err := range offline.Records(ctx, log) {
		if err != nil {
			return nil, err
		}
		if size += int(r.Size); size > sampledBytes {
			break
		}
		if !isCaptured(r.Kind) {
			continue
		}
		i, known := of[r.Stream]
		if !known {
			i = len(all)
			of[r.Stream] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], r)
	}
	return all, nil
}

// dailyWorkOf counts the sessions with anything to observe, and the days of this machine on which there was some.
func dailyWorkOf(captured [][]events.Record) (d DailyWork) {
	days := map[string]bool{}
	for _, one := range captured {
		works := false
		for _, r := range one {
			if !r.IsInput() {
				continue
			}
			works = true
			days[r.OccurredAt.Local().Format(time.DateOnly)] = true
			if d.First.IsZero() || r.OccurredAt.Before(d.First) {
				d.First = r.OccurredAt
			}
			if r.OccurredAt.After(d.Last) {
				d.Last = r.OccurredAt
			}
		}
		if works {
			d.Sessions++
		}
	}
	d.Days = len(days)
	return d
}

// countQuestions has by work through sessions over a log in dir.
func countQuestions(ctx context.Context, dir string, by *countingProvider, captured [][]events.Record) error {
	r, end, err := newRehearsal(filepath.Join(dir, "counted.db"), by, observer.CodeMode().TypeIDs(), time.Minute)
	if err != nil {
		return err
	}
	defer end()
	return r.playAll(ctx, captured)
}

// countingProvider counts what a model would be asked, and answers as the built-in observer does: what it kept is in the next question.
type countingProvider struct {
	observer.Provider
	renderer *prompt.Renderer
	turns    int
	bytes    int64
}

// BatchLimits implements observer.Provider: those of models.
func (a *countingProvider) BatchLimits() policy.BatchLimits { return policy.ModelLimits() }

// Complete implements observer.Provider.
func (a *countingProvider) Complete(ctx context.Context, p observer.Prompt) (observer.Reply, error) {
	q := a.renderer.Question(p, events.FormXML)
	a.turns++
	a.bytes += int64(len(q.System) + len(q.User))
	return a.Provider.Complete(ctx, p)
}

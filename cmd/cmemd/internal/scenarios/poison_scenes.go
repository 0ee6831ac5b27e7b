package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

func poisonScenes() []poisonScene {
	return []poisonScene{
		{name: "the quiet session", file: "quiet-session-3032", factor: 4000, lockstep: true, script: quietScript, assert: assertQuiet},
		{name: "the weekly limit", file: "weekly-limit-3037", factor: 4000, script: limitScript, assert: assertLimit},
		{name: "the slow crash loop", file: "slow-restart-8s", factor: 200, script: crashScript, assert: assertCrashes},
	}
}

// playPoison plays every scene twice: through replay under all policies, and through a real daemon under the default one.
func playPoison(ctx context.Context, a *terminal.App) error {
	began := a.Now()
	for _, scene := range poisonScenes() {
		if err := playScene(ctx, a, scene, began); err != nil {
			return fmt.Errorf("%s: %w", scene.name, err)
		}
	}
	return nil
}

func playScene(ctx context.Context, a *terminal.App, scene poisonScene, began time.Time) (err error) {
	d, err := newStage(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.clear()) }()
	d.began = began
	p := &poisonRun{stage: d, scene: scene, account: account{Scene: scene.file, Factor: scene.factor}}
	for _, act := range []func(context.Context) error{p.compare, p.prepare, p.raise, p.feed, p.rest, p.reobserveDropped, p.audit, p.verdict} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	return nil
}

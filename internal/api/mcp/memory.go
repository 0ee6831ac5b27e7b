package mcp

import (
	"context"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// Memory is what a Server asks. An *api.Client is one, over a socket or inside the daemon; see there for what its methods
// promise. It must be safe for concurrent use.
type Memory interface {
	Finder
	Teller
	Keeper
}

// Finder finds and reads rows.
type Finder interface {
	Search(ctx context.Context, q api.SearchQuery) (api.SearchResults, error)
	Timeline(ctx context.Context, q api.TimelineQuery) (api.Timeline, error)
	Observations(ctx context.Context, q api.RowsQuery) (api.Rows, error)
	Inputs(ctx context.Context, id string, after events.Position, limit int) (api.Inputs, error)
}

// Teller tells what is around rows.
type Teller interface {
	WhyAsOf(ctx context.Context, q api.WhyQuery) (api.Why, error)
	Context(ctx context.Context, q api.ContextQuery) (api.ContextAnswer, error)
	Session(ctx context.Context, id string) (api.SessionDetail, error)
	Status(ctx context.Context) (api.Status, error)
}

// Keeper writes and erases.
type Keeper interface {
	Save(ctx context.Context, m api.Memory) (api.Saved, error)
	PlanForget(ctx context.Context, q api.ForgetRequest) (api.ForgetPlan, error)
	Forget(ctx context.Context, q api.ForgetRequest, progress func(api.Progress)) (api.Forgotten, error)
}

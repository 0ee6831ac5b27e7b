package api

import "github.com/cmemd/cmemd/internal/capture"

// The headers with which a hook names a payload.
const (
	DeliveryHeader = capture.DeliveryField
	OccurredHeader = capture.OccurredField
)

// The names of server-sent events that report work.
const (
	EventProgress = "progress"
	EventResult   = "result"
	EventProblem  = "problem"
)

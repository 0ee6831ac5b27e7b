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

// EventHello is the name of the server-sent event that a stream of records may begin with.
const EventHello = "hello"

package api

import "github.com/cmemd/cmemd/internal/capture"

// The headers with which a hook names a payload.
const (
	DeliveryHeader = capture.DeliveryField
	OccurredHeader = capture.OccurredField
)

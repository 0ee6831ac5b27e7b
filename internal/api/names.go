package api

// The headers with which a hook names a payload.
const (
	DeliveryHeader = "Cmemd-Delivery"    // a UUID, the same when the payload comes again
	OccurredHeader = "Cmemd-Occurred-At" // RFC 3339, when the hook was called
)

package panics

import (
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
)

// Catch is for `defer panics.Catch(&err, logger, where)`: where the function panics, err is what Caught says.
func Catch(err *error, logger *slog.Logger, where string) {
	if r := recover(); r != nil {
		*err = Caught(logger, where, r)
	}
}

// Caught logs what recover returned, with the stack, and returns an error that says where that was. What was panicked with
// may hold words of a payload, so only its kind is logged. It is called in the deferred function that recovered.
func Caught(logger *slog.Logger, where string, recovered any) error {
	kind := fmt.Sprintf("%T", recovered)
	if e, ok := recovered.(runtime.Error); ok {
		kind = e.Error()
	}
	logger.Error("panic", "where", where, "err", kind, "stack", string(debug.Stack()))
	return fmt.Errorf("panic in %s", where)
}

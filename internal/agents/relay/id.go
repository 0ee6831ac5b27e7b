package relay

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// newDeliveryID makes a UUIDv7 for a payload that arrived at t. It names, it does not protect: its random bits come from
// the runtime's generator, which the system seeds, because crypto/rand costs a short process more to load than to use.
func newDeliveryID(t time.Time) string {
	hi := uint64(t.UnixMilli())<<16 | 0x7000 | rand.Uint64()>>52
	lo := 1<<63 | rand.Uint64()>>2
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&(1<<48-1))
}

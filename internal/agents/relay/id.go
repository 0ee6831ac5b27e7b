package relay

import (
	"math/rand/v2"
	"time"
)

// newDeliveryID makes a UUIDv7 for a payload that arrived at t. It names, it does not protect: its random bits come from
// the runtime's generator, which the system seeds, because crypto/rand costs a short process more to load than to use.
func newDeliveryID(t time.Time) string {
	var id [16]byte
	ms := uint64(t.UnixMilli())
	hi, lo := rand.Uint64(), rand.Uint64()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	for i := range 8 {
		id[8+i] = byte(lo >> (8 * i))
	}
	id[6], id[7] = 0x70|byte(hi)&0x0f, byte(hi>>8)
	id[8] = 0x80 | id[8]&0x3f
	return formatUUID(id)
}

func formatUUID(id [16]byte) string {
	const hex = "0123456789abcdef"
	out := make([]byte, 0, 36)
	for i, b := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			out = append(out, '-')
		}
		out = append(out, hex[b>>4], hex[b&15])
	}
	return string(out)
}

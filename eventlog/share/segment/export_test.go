package segment

// SealPlain seals bytes that no batch gathered.
func SealPlain(c *Codec, h Header, plain []byte, count int, epoch EpochKey) []byte {
	h.Kind, h.First, h.Count = Whole, 1, count
	return c.seal(h, plain, epoch)
}

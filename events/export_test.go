package events

// Encode returns e's payload and schema, without envelope: for golden files and exports.
func (c *Codec) Encode(e Event) (payload []byte, schema uint16, err error) {
	b, err := c.enc.Marshal(e)
	return b, schemaOf(e), err
}

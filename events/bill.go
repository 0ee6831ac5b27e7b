package events

// Bill is what the requests of one turn cost together, the failed ones among them, as far as it was stated.
type Bill struct {
	Usage      Usage   `cbor:"1,keyasint,omitzero" json:"usage,omitzero"`
	Model      string  `cbor:"2,keyasint,omitempty" json:"model,omitempty"`  // what answered, where it says so and it is not the one that was asked
	Cost       float64 `cbor:"3,keyasint,omitempty" json:"cost,omitempty"`   // US dollars, as the provider states it
	CostStated bool    `cbor:"4,keyasint,omitempty" json:"told,omitempty"`   // the provider stated Cost, also where it is 0
	Uncosted   Usage   `cbor:"5,keyasint,omitzero" json:"unstated,omitzero"` // of Usage, that of requests which Cost says nothing of
	Calls      int     `cbor:"6,keyasint,omitempty" json:"calls,omitempty"`  // requests sent
	SentBytes  int64   `cbor:"7,keyasint,omitempty" json:"sent,omitempty"`   // bytes of the questions as they went out; 0: not counted, or nothing did
}

// Stated reports whether the provider stated a cost, if only of some of the requests.
func (b Bill) Stated() bool { return b.CostStated || b.Cost > 0 }

// UncostedUsage returns the tokens of which nobody stated what they cost: all of them where no cost was stated.
func (b Bill) UncostedUsage() Usage {
	if !b.Stated() {
		return b.Usage
	}
	return b.Uncosted
}

// Bill returns what the turn cost. A turn that was answered sent one request at least.
func (e TurnReceived) Bill() Bill {
	return Bill{e.Usage, e.Model, e.Cost, e.CostStated, e.Uncosted, max(1, e.Calls), e.SentBytes}
}

// WithBill returns e with b for what it cost.
func (e TurnReceived) WithBill(b Bill) TurnReceived {
	e.Usage, e.Model, e.Cost, e.CostStated, e.Uncosted, e.Calls, e.SentBytes = b.Usage, b.Model, b.Cost, b.CostStated, b.Uncosted, b.Calls, b.SentBytes
	return e
}

// Bill returns what the turn cost.
func (e TurnFailed) Bill() Bill {
	return Bill{e.Usage, e.Model, e.Cost, e.CostStated, e.Uncosted, e.Calls, e.SentBytes}
}

// WithBill returns e with b for what it cost.
func (e TurnFailed) WithBill(b Bill) TurnFailed {
	e.Usage, e.Model, e.Cost, e.CostStated, e.Uncosted, e.Calls, e.SentBytes = b.Usage, b.Model, b.Cost, b.CostStated, b.Uncosted, b.Calls, b.SentBytes
	return e
}

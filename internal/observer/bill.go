package observer

import "github.com/cmemd/cmemd/events"

// Bill returns what r cost.
func (r Reply) Bill() events.Bill {
	return events.Bill{
		Usage: r.Usage, Model: r.Model, Cost: r.Cost, Told: r.Told, Unstated: r.Unstated, Calls: r.Calls, Sent: r.Sent,
	}
}

// WithBill returns r with b for what it cost.
func (r Reply) WithBill(b events.Bill) Reply {
	r.Usage, r.Model, r.Cost, r.Told, r.Unstated, r.Calls, r.Sent = b.Usage, b.Model, b.Cost, b.Told, b.Unstated, b.Calls, b.Sent
	return r
}

// Bill returns what was paid although f came of it.
func (f *Failure) Bill() events.Bill {
	return events.Bill{
		Usage: f.Usage, Model: f.Model, Cost: f.Cost, Told: f.Told, Unstated: f.Unstated, Calls: f.Calls, Sent: f.Sent,
	}
}

// WithBill returns a copy of f with b for what was paid.
func (f Failure) WithBill(b events.Bill) *Failure {
	f.Usage, f.Model, f.Cost, f.Told, f.Unstated, f.Calls, f.Sent = b.Usage, b.Model, b.Cost, b.Told, b.Unstated, b.Calls, b.Sent
	return &f
}

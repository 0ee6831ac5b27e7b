package space

import "time"

// Fold reads a manifest as a machine does that sees it first.
func Fold(b []byte, id ID) error {
	_, err := fold(b, id)
	return err
}

// Sample is a manifest of two machines, of which one was revoked: the same in each process.
func Sample() (b []byte, id ID, err error) {
	var m Manifest
	member := func(secret byte) (k *Keys, p Public) {
		if k, err = keysOf(append(make([]byte, codeSecret), secret)); err == nil {
			p = k.Public()
		}
		return k, p
	}
	add := func(c change, by *Keys) {
		c.Number, c.Previous, c.At, c.By = m.Number+1, m.Hash, time.Unix(1_700_000_000, 0).UTC(), by.ID()
		var e entry
		if e, err = newEntry(c, by); err == nil {
			if m, err = m.with(e); err == nil {
				b = appendEntries(b, e)
			}
		}
	}
	laptop, laptopPublic := member(1)
	door, doorPublic := member(2)
	desktop, desktopPublic := member(3)
	_, recovery := member(4)
	for _, s := range []struct {
		change
		by *Keys
	}{
		{change{Kind: created, Member: &laptopPublic, Recovery: &recovery, Epoch: 1, Commitment: commitment(1, EpochKey{1})}, laptop},
		{change{Kind: invited, Member: &Public{Sign: doorPublic.Sign}, Who: door.ID(), Expires: time.Unix(1_700_000_100, 0).UTC()}, laptop},
		{change{Kind: entered, Member: &desktopPublic, Name: []byte("desktop")}, door},
		{change{Kind: revoked, Who: laptop.ID(), Epoch: 2, Commitment: commitment(2, EpochKey{2})}, desktop},
	} {
		if err == nil {
			add(s.change, s.by)
		}
	}
	return b, m.ID, err
}

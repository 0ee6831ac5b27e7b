package projections

import "github.com/cmemd/cmemd/events"

// injectionView keeps what each agent was given, and when. It holds ids, never words.
type injectionView struct{}

func (injectionView) name() string       { return "injections" }
func (injectionView) version() int       { return 1 }
func (injectionView) skipsUnknown() bool { return true }

func injectionTable() table[Injection] { return table[Injection]{name: "rows"} }

func (injectionView) tables() []tableSpec { return []tableSpec{injectionTable().spec(showPlace)} }

type injectionFold struct{ x *tx }

func (injectionView) fold(x *tx) fold { return injectionFold{x} }

func (f injectionFold) apply(r *record) error {
	if r.Kind != events.KindContextInjected {
		return nil
	}
	e, ok, err := payloadOf[events.ContextInjected](r)
	if err != nil || !ok {
		return err
	}
	return injectionTable().put(f.x, placeKey(r.session, r.Position), Injection{
		Session: r.session, Position: r.Position, At: r.OccurredAt, Hook: e.Hook, IDs: e.IDs, Characters: e.Characters,
		Knew: events.Position(e.Position),
	})
}

func (injectionFold) flush() error { return nil }

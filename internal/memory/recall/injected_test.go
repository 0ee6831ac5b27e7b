package recall

import "testing"

// TestInjectionsAreKnownByTheViews: what was injected is known once the views know it, wherever the index is.
func TestInjectionsAreKnownByTheViews(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open("a", "shop")
	if err := w.views.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := w.InjectionsKnown(), w.views.Position(); got != want || want == 0 || w.Position() != 0 {
		t.Errorf("known up to %d, the views up to %d, answers up to %d", got, want, w.Position())
	}
}

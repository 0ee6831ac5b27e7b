package eventlog_test

import (
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/testkit/logtest"
)

func TestBolt(t *testing.T) {
	t.Parallel()
	logtest.RunDurable(t, func(tb testing.TB, dir string) logtest.Log {
		l, err := eventlog.Open(filepath.Join(dir, "log"), eventlog.Config{})
		if err != nil {
			tb.Fatalf("Open: %v", err)
		}
		return l
	})
}

//go:build unix

package machines

import (
	"errors"
	"flag"
	"syscall"
	"testing"
	"time"

	"github.com/cmemd/cmemd/testkit/storetest"
)

// errLag is a lag that has not shrunk.
var errLag = errors.New("the lag does not shrink")

var cutFor = flag.Duration("cut", 6*time.Second, "how long a network is cut; 60 s with -figures")

// TestMachineKilled kills a machine's daemon while agents report, three times.
func TestMachineKilled(t *testing.T) {
	over(t, func(t *testing.T, over string) {
		w := newWorld(t, over, "desktop", "laptop")
		w.underLoad(func() {
			for range 3 {
				time.Sleep(1500 * time.Millisecond)
				w.machines[0].kill()
				w.beside.kill()
				time.Sleep(300 * time.Millisecond)
				w.machines[0].start()
				w.beside.start()
			}
		})
		w.holds()
	})
}

// TestHubKilled kills the store while agents report, three times.
func TestHubKilled(t *testing.T) {
	w := newWorld(t, "hub", "desktop", "laptop")
	w.underLoad(func() {
		for range 3 {
			time.Sleep(1500 * time.Millisecond)
			w.hub.kill()
			time.Sleep(time.Second)
			w.hub.start()
		}
	})
	w.holds()
}

// TestHubStopped stops the store for eight seconds: connections stay, and nothing is answered.
func TestHubStopped(t *testing.T) {
	w := newWorld(t, "hub", "desktop", "laptop")
	w.underLoad(func() {
		time.Sleep(time.Second)
		must(t, w.hub.cmd.Process.Signal(syscall.SIGSTOP))
		time.Sleep(8 * time.Second)
		must(t, w.hub.cmd.Process.Signal(syscall.SIGCONT))
		time.Sleep(time.Second)
	})
	w.holds()
}

// TestNetworkCut cuts one machine off for a while.
func TestNetworkCut(t *testing.T) {
	w := newWorld(t, "hub", "desktop", "laptop")
	length := *cutFor
	if *figures {
		length = time.Minute
	}
	w.underLoad(func() {
		time.Sleep(time.Second)
		w.hub.proxy.Set(storetest.Cut)
		time.Sleep(length)
		c, err := w.machines[0].cluster()
		must(t, err)
		if c.Status.Own.Records == 0 || len(c.Status.Problems) == 0 {
			t.Errorf("cut off for %v, nothing waits or nothing is said: %+v", length, c.Status)
		}
		w.hub.proxy.Set(storetest.Healed)
	})
	began := time.Now()
	w.holds()
	t.Logf("even %v after the network was back", time.Since(began).Round(time.Millisecond))
}

// TestStoreWiped empties the store under the machines: they send everything again.
func TestStoreWiped(t *testing.T) {
	over(t, func(t *testing.T, over string) {
		w := newWorld(t, over, "desktop", "laptop")
		w.underLoad(func() {
			time.Sleep(2 * time.Second)
			w.wipe()
			time.Sleep(2 * time.Second)
		})
		w.holds()
		w.enters("server") // and has all of it from the store
		w.holds()
	})
}

// TestSlowNetwork has one machine 200 ms and 1 Mbit/s away: its lag grows while much is reported, and shrinks.
func TestSlowNetwork(t *testing.T) {
	const delay, rate, records = 100 * time.Millisecond, 1_000_000 / 8, 1600
	w := newWorld(t, "hub", "desktop", "laptop")
	w.hub.proxy.Slow(delay, rate)
	m := w.machines[0]
	began := time.Now()
	var most uint64
	w.underLoad(func() {
		m.post(records, 700)
		err := within(time.Minute, func() error {
			c, err := m.cluster()
			if err != nil {
				return err
			}
			most = max(most, c.Status.Own.Records)
			if c.Status.Own.Records > most/4 {
				return errLag
			}
			return nil
		})
		if err != nil || most < records/4 {
			t.Errorf("of %d records %d waited at most; %v", records, most, err)
		}
	})
	t.Logf("%d records waited at most, %v later a quarter of them", most, time.Since(began).Round(time.Millisecond))
	w.holds()
}

package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Name is one of the nine policies: what is done about outputs that did not parse, observers that ended, and providers
// that failed.
type Name string

// The policies. The first four are rules that were tried and looped; they exist for replay alone.
const (
	LegacyKeyword Name = "legacy-keyword" // a phrase, or three unparsed outputs in a row, blank ones included: respawn
	Windowed      Name = "windowed"       // a phrase, or three in an anchored window, blank ones exempt: respawn
	WindowedNoKW  Name = "windowed-nokw"  // windowed without phrases
	Consecutive   Name = "consecutive"    // three unparsed outputs in a row, blank ones included: respawn
	Ignore        Name = "ignore"         // outputs are ignored, and a dead observer is restarted without limit
	WindowOnly    Name = "window-only"    // outputs are ignored; restarts are limited in a window
	OTP           Name = "otp"            // window-only, and restarts in a row without a parsed turn are limited
	OTPHold       Name = "otp-hold"       // otp with probes; inputs are held while their provider fails. The default
	Supervised    Name = "supervised"     // otp-hold; unparsed outputs earn a fresh observer now and then
)

// Names lists the policies, the oldest rules first. The slice is the caller's.
func Names() []Name {
	return []Name{LegacyKeyword, Windowed, WindowedNoKW, Consecutive, Ignore, WindowOnly, OTP, OTPHold, Supervised}
}

// Live lists the policies that a daemon may run, the default first. The slice is the caller's.
func Live() []Name { return []Name{OTPHold, Supervised} }

// Parse returns the policy called name. Its error lists the names there are.
func Parse(name string) (Name, error) {
	among := Names()
	if slices.Contains(among, Name(name)) {
		return Name(name), nil
	}
	known := make([]string, len(among))
	for i, n := range among {
		known[i] = string(n)
	}
	return "", fmt.Errorf("policy: %q is none of %s", name, strings.Join(known, ", "))
}

// words are the policies in a person's words.
var words = map[Name]string{
	LegacyKeyword: "starts a new observer after a phrase, or after three outputs in a row that did not parse, blank ones too; what waited is lost",
	Windowed:      "starts a new observer after a phrase, or after three outputs within a window that did not parse; what waited is lost",
	WindowedNoKW:  "starts a new observer after three outputs within a window that did not parse; what waited is lost",
	Consecutive:   "starts a new observer after three outputs in a row that did not parse, blank ones too",
	Ignore:        "drops outputs that did not parse, and starts a dead observer again without limit",
	WindowOnly:    "drops outputs that did not parse, and starts a dead observer again so many times within a window",
	OTP:           "drops outputs that did not parse, and gives up an observer that dies too often within a window, or too often in a row",
	OTPHold:       "as otp, tries a given-up observer again later, and keeps inputs waiting while the provider itself fails",
	Supervised:    "as otp-hold, and starts a new observer now and then where outputs do not parse",
}

// Words say what n does, in a person's words.
func (n Name) Words() string { return words[n] }

// ReadsPhrases reports whether n looks for the legacy phrases in outputs that did not parse.
func (n Name) ReadsPhrases() bool { return n == LegacyKeyword || n == Windowed }

// KeepsBatch reports whether n carries the inputs of a respawned observer's turn to the next one. The policies that do
// not are those whose code emptied its queue at a respawn.
func (n Name) KeepsBatch() bool { return n != LegacyKeyword && n != Windowed && n != WindowedNoKW }

// holds reports whether n believes what a transport says of a failed turn. A halt of such a policy ends in a probe; one of the others
// never ends.
func (n Name) holds() bool { return n == OTPHold || n == Supervised }

// limits reports whether n limits restarts at all.
func (n Name) limits() bool { return n == WindowOnly || n == OTP || n.holds() }

package agents

import (
	"strings"

	"github.com/cmemd/cmemd/internal/agents/relay"
)

// cutNotices removes from s what cmemd has shown a person about itself, wherever it comes back. A notice that a terminal has
// wrapped is one still, so one whose end was cut away takes what follows up to the next bracket that is near, else the rest
// of its line. Linear time.
func cutNotices(s string) string { return cutSpans(s, relay.NoticeOpen, "", noticeEnd) }

// maxNoticeFraming is what a terminal adds to a notice, at most: line ends and borders on each of its lines.
const maxNoticeFraming = 1000

// noticeEnd returns where a notice ends in the text behind its opening mark.
func noticeEnd(after string) int {
	reach := after[:min(len(after), relay.MaxNotice+maxNoticeFraming)]
	if i := strings.Index(reach, relay.NoticeClose); i >= 0 {
		return i + len(relay.NoticeClose)
	}
	end := len(reach)
	for _, line := range []string{"\n", `\n`} {
		if i := strings.Index(reach[:end], line); i >= 0 {
			end = i
		}
	}
	return end
}

func hasNotice(s string) bool { return strings.Contains(s, relay.NoticeOpen) }

// hasNoticeOrFence reports whether s holds something of this memory's own that stands there without an angle bracket.
func hasNoticeOrFence(s string) bool {
	return strings.Contains(s, "cmemd-") && (hasNotice(s) || hasEscapedFence(s))
}

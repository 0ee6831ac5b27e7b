package relay

import "strings"

// What a person is shown about cmemd itself stands between these two, on one line and without the second inside. By them it
// is recognised wherever it comes back, in a prompt, a transcript or a tool's output, and is not recorded: news of a sick
// observer must not reach that observer, which would answer it.
const (
	NoticeOpen  = "[cmemd-notice:"
	NoticeClose = "]"

	// MaxNotice is how long a notice is at most, in bytes, marks included.
	MaxNotice = 1000
)

// Notice is text as a notice: on one line, without brackets, and cut where it is too long. An empty text stays empty; one
// that is a notice already stays as it is.
func Notice(text string) string {
	if plain := PlainNotice(text); plain != text && plain != "" && noticeText(plain) == plain {
		return text
	}
	if text = noticeText(text); text == "" {
		return ""
	}
	return NoticeOpen + " " + text + NoticeClose
}

// PlainNotice is the text of a notice, for people at a terminal. What is none stays as it is.
func PlainNotice(notice string) string {
	text, ok := strings.CutPrefix(notice, NoticeOpen+" ")
	if !ok {
		return notice
	}
	text, ok = strings.CutSuffix(text, NoticeClose)
	if !ok {
		return notice
	}
	return text
}

func noticeText(text string) string {
	text = strings.ToValidUTF8(strings.NewReplacer("[", "(", "]", ")").Replace(text), "\uFFFD")
	text = strings.Join(strings.Fields(text), " ")
	const room = MaxNotice - len(NoticeOpen) - len(" ") - len(NoticeClose)
	if len(text) <= room {
		return text
	}
	const more = "..."
	return strings.ToValidUTF8(text[:room-len(more)], "") + more
}

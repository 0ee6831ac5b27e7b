package evidence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wordKind is what the words around a token make of it.
type wordKind int

const (
	noWord wordKind = iota
	commitWord
	otherWord
)

// reachOther is how many words before a hash may make it something else than a commit.
const reachOther = 3

// wordBefore returns the last word of s in lowercase, and what stands before it. The word is empty where the sentence
// begins.
func wordBefore(s string) (word, rest string) {
	for s != "" {
		r, n := utf8.DecodeLastRuneInString(s)
		if isLetter(r) {
			break
		}
		s = s[:len(s)-n]
		if strings.ContainsRune(".!?;。！？", r) || r == '\n' && strings.HasSuffix(s, "\n") {
			return "", ""
		}
	}
	rest = strings.TrimRightFunc(s, isLetter)
	return strings.ToLower(s[len(rest):]), rest
}

// wordAfter returns the first word of s in lowercase, if only blanks and quotes stand before it.
func wordAfter(s string) string {
	s = strings.TrimLeft(s, " `\"'")
	return strings.ToLower(strings.TrimSuffix(s, strings.TrimLeftFunc(s, isLetter)))
}

// lastWord is the word that s ends with, lowercase, with nothing but blanks and quotes behind it.
func lastWord(s string) string {
	s = strings.TrimRight(s, " `\"'\n")
	return strings.ToLower(s[len(strings.TrimRightFunc(s, isLetter)):])
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// isCommitWord reports whether w, in lowercase, speaks of a commit or of what is done with commits.
func isCommitWord(w string) bool {
	switch w {
	case "sha", "head", "rev", "git", "ref", "changeset", "fixup", "checkout":
		return true
	}
	return begins(w,
		"commit", "revis", "révis", "merg", "revert", "rebas", "cherry", "squash", "bisect", "amend", "backport", "push", "commici", "коммит", "комміт", "коміт", "ревизи",
	) || nearestPart(w) == commitWord
}

// isDelivery reports whether w, in lowercase, says that work was handed on.
func isDelivery(w string) bool {
	switch w {
	case "change", "fix", "live":
		return true
	}
	return begins(w, "shipp", "releas", "tagged", "deploy", "landed", "publish")
}

// begins reports whether w begins with one of the stems.
func begins(w string, stems ...string) bool {
	return slices.ContainsFunc(stems, func(stem string) bool { return strings.HasPrefix(w, stem) })
}

// nearestPart tells what the end of w speaks of, in the languages that put no blanks between words.
func nearestPart(w string) (what wordKind) {
	at := -1
	look := func(kind wordKind, parts ...string) {
		for _, part := range parts {
			if i := strings.LastIndex(w, part); i > at {
				at, what = i, kind
			}
		}
	}
	look(commitWord, "提交", "コミット", "커밋", "リビジョン", "修订")
	look(otherWord, "颜色", "地址", "会话", "令牌", "镜像", "容器", "构建", "校验", "摘要", "セッション", "トークン", "アドレス", "ビルド", "イメージ", "색상", "주소", "토큰",
		"세션", "빌드", "이미지")
	return what
}

// isOtherWord reports whether w, in lowercase, speaks of something else that is written in hex digits.
func isOtherWord(w string) bool {
	switch w {
	case "color", "colors", "colour", "colours", "rgb", "rgba", "palette", "background", "foreground", "cor",
		"build", "builds", "container", "docker", "image", "layer", "pod",
		"digest", "checksum", "checksums", "md5", "sha256", "sha512", "crc", "crc32", "etag", "fingerprint", "signature", "blob", "tree",
		"session", "request", "trace", "span", "token", "uuid", "guid", "cookie", "nonce", "salt", "secret", "password", "ticket", "invoice",
		"address", "pointer", "offset", "register", "memory", "heap", "stack", "hex", "hexadecimal", "magic", "constant", "mac", "serial", "device",
		"chunk", "bundle", "asset", "cache", "job", "pipeline", "phone", "bytes":
		return true
	}
	return begins(w,
		"адрес", "цвет", "токен", "сесси", "сборк", "контейнер", "prüfsumm", "farb", "sitzung", "adress", "contrôl", "couleur", "jeton", "sesión", "sessão",
		"direcci", "endereço",
	) || nearestPart(w) == otherWord
}

// isDoubtful reports whether w makes a token a name of something: of a commit only if the commit is named before it.
func isDoubtful(w string) bool {
	switch w {
	case "id", "ids", "identifier", "key", "number", "code", "value", "serial":
		return true
	}
	return false
}

// isPreposition reports whether w, right before a hash, says that something was done there: "fixed in 1a2b3c4".
func isPreposition(w string) bool {
	switch w {
	case "in", "by", "from", "since", "until", "via", "before", "after", "as", // English
		"en", "dans", "depuis", "par", "desde", "por", "em", "da", "im", "seit", "von", "durch", "mit", "в", "с", "на", "из":
		return true
	}
	return false
}

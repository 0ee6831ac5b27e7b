package privacy

// CutReport is a payload of which a rule said that its contents go.
func CutReport(body []byte) (out []byte, ok bool) {
	return cutReport(body, Finding{Left: LeftFile, What: "contents"})
}

// Unescaped is a JSON text without the escapes that hide what a string says.
func Unescaped(s string) string { return unescaped(s) }

package privacy

import "strings"

// mayStay reports whether what came of a private file is none: .pem is the ending of certificates and public keys too.
func (f Finding) mayStay(text string) bool { return f.What == keyFile && isPublicPEM(text) }

// isPublicPEM reports whether a text is certificates and public keys, and nothing beside them.
func isPublicPEM(text string) bool {
	if !strings.HasPrefix(text, "-----BEGIN ") {
		return false
	}
	inside := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		label, begins := strings.CutPrefix(line, "-----BEGIN ")
		switch {
		case inside == "" && begins:
			if inside = label; label != "CERTIFICATE-----" && label != "PUBLIC KEY-----" && label != "RSA PUBLIC KEY-----" {
				return false
			}
		case inside == "" && line != "", begins:
			return false
		case line == "-----END "+inside:
			inside = ""
		case strings.Trim(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") != "":
			return false
		}
	}
	return inside == ""
}

package privacy

import (
	"encoding/pem"
	"strings"
)

// mayStay reports whether what came of a private file is none: .pem is the ending of certificates and public keys too.
func (f Finding) mayStay(text string) bool { return f.What == keyFile && isPublicPEM(text) }

// publicBlocks are the kinds of PEM that are no secret.
var publicBlocks = signs("CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY")

// isPublicPEM reports whether a text is certificates and public keys, and nothing beside them.
func isPublicPEM(text string) bool {
	var public strings.Builder
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		if !publicBlocks.has(block.Type) || len(block.Headers) > 0 {
			return false
		}
		public.Write(pem.EncodeToMemory(block))
	}
	return text != "" && unspaced(public.String()) == unspaced(text)
}

// unspaced is a text without the white space in it.
func unspaced(text string) string { return strings.Join(strings.Fields(text), "") }

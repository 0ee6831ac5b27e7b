package jet

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Address says where one server is, who may enter it, and how it is known:
//
//	nats://TOKEN@HOST:PORT?pin=HEX
//
// The token, or USER:PASSWORD, may be missing, and so may the pin: the SHA-256 of the server's certificate. With a pin the connection
// is encrypted and no other certificate is accepted, whoever signed it. Without one tls:// asks the system's authorities, and nats://
// is encrypted where the server demands it.
type Address struct {
	URL url.URL // without a query
	Pin []byte  // 32 bytes, or none
}

// ErrAddress is returned for what is no address. Its text holds nothing of it, for it may hold a token.
var ErrAddress = errors.New("jet: an address is nats://TOKEN@HOST:PORT?pin=HEX or tls://HOST:PORT, several with commas between them")

// String is the address as ParseAddresses reads it, with the token.
func (a Address) String() string {
	u := a.URL
	if len(a.Pin) > 0 {
		u.RawQuery = "pin=" + hex.EncodeToString(a.Pin)
	}
	return u.String()
}

// ParseAddresses reads the addresses of one store's servers, with commas between them. All or none have a pin. The error is ErrAddress.
func ParseAddresses(text string) ([]Address, error) {
	var all []Address
	for i, one := range strings.Split(text, ",") {
		a, why := parseAddress(strings.TrimSpace(one))
		if why != "" {
			return nil, fmt.Errorf("%w: in address %d %s", ErrAddress, i+1, why)
		}
		all = append(all, a)
	}
	if slices.ContainsFunc(all, func(a Address) bool { return len(a.Pin) != len(all[0].Pin) }) {
		return nil, fmt.Errorf("%w: all of them have a pin, or none", ErrAddress)
	}
	return all, nil
}

// parseAddress reads one address; why says what is wrong with it.
func parseAddress(text string) (a Address, why string) {
	u, err := url.Parse(text)
	if err != nil {
		return Address{}, "something cannot be read"
	}
	query, err := url.ParseQuery(u.RawQuery)
	pin, hexErr := hex.DecodeString(query.Get("pin"))
	switch {
	case u.Scheme != "nats" && u.Scheme != "tls":
		return Address{}, "the beginning is neither nats:// nor tls://"
	case u.Hostname() == "":
		return Address{}, "there is no host"
	case u.Path != "" && u.Path != "/" || u.Fragment != "":
		return Address{}, "something follows the port"
	case err != nil || len(query) > 1 || len(query) == 1 && len(query["pin"]) != 1:
		return Address{}, "something other than one pin follows the question mark"
	case hexErr != nil || len(query) == 1 && len(pin) != sha256.Size:
		return Address{}, "the pin is not 64 digits of hex"
	}
	u.Path, u.RawQuery = "", ""
	return Address{URL: *u, Pin: pin}, ""
}

// Fingerprint is what a pin says of a certificate.
func Fingerprint(cert *x509.Certificate) []byte {
	sum := sha256.Sum256(cert.Raw)
	return sum[:]
}

// errPin is returned by a handshake with a server of another certificate than the pinned.
var errPin = errors.New("jet: the server has another certificate than the one that was pinned: ask who runs it for the address anew")

// pinned accepts the servers whose certificates are pinned, whatever their names and whoever signed them, and reports another one.
func pinned(addresses []Address, report func(error)) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // VerifyConnection decides, in every handshake
		VerifyConnection: func(state tls.ConnectionState) error {
			for _, a := range addresses {
				if len(state.PeerCertificates) > 0 && string(Fingerprint(state.PeerCertificates[0])) == string(a.Pin) {
					return nil
				}
			}
			report(errPin)
			return errPin
		},
	}
}

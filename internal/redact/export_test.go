package redact

import "slices"

// Rules lists the names that marks may have, sorted.
func Rules() []string {
	names := append(shapeNames(), generalName)
	for _, r := range tokenRules() {
		names = append(names, r.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// shapeNames lists the rules behind shapes.
func shapeNames() []string {
	return []string{
		"authorization", "azure-client-secret", "basic-auth", "bearer-token", "cookie", "discord-token", "json-web-token", "mailchimp-key",
		"okta-token", "one-time-secret", "password", "password-hash", "private-key", "secret", "telegram-token", "terraform-token", "url-password", "user-password",
	}
}

package relay

import "testing"

// TestWellKnownFiles adds to what TestPrivateFiles has.
func TestWellKnownFiles(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"~/.gemini/oauth_creds.json", "~/.claude.json", "~/.m2/settings.xml", "~/.gradle/gradle.properties", "~/.sbt/.credentials", "~/.config/github-copilot/hosts.json",
		"~/.config/github-copilot/apps.json", "NuGet.Config", ".vault_pass", ".vault-password", ".secrets", "secrets/db_password", "deploy/secrets/prod.yaml", "secrets/token.txt",
		".env~", ".env_prod", ".env-prod", ".env.bak", "prod.env.old", "id_rsa.bak", "mykey.pem.old", "server.key.txt", "credentials.json.orig", ".npmrc.save", "id_rsa.bak~", "secrets.txt", "/secrets/db",
	} {
		if privateFile(path) == "" {
			t.Errorf("%s is recorded", path)
		}
	}
	for _, path := range []string{
		"src/secrets/store.go", "src/secrets/index.tsx", "internal/secrets/testdata", "secrets/README.md", "secrets/README", "secrets/kustomization.yaml", "secrets/package.json", "src/secrets",
		"https://docs.example/actions/secrets/intro", "https://docs.example/secrets/intro.txt", "locales/secret.json", "src/i18n/secrets.yml", "src/locales/en/secrets/a.json", "settings.xml",
		"gradle.properties", "app/gradle.properties", "inventory/hosts.json", "notes.txt", "main.go.orig", "main.go~", ".env.example~", ".env-example", ".env_sample", "id_rsa.pub.bak",
		".secrets.baseline", "requirements.txt", "keys.txt", "config.bak", ".environment",
	} {
		if what := privateFile(path); what != "" {
			t.Errorf("%s is %s", path, what)
		}
	}
}

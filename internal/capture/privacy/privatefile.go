package privacy

import "strings"

// privateFile says what a file is whose contents are never recorded, by its name; empty: they may be. Names of public keys,
// and of samples without values, are no such files.
func privateFile(path string) string { return privateAmong(path, true) }

// privateAmong is privateFile; that a folder is one for secrets counts if secrets says so.
func privateAmong(path string, secrets bool) string {
	if len(path) > maxPath || !mayBePrivate(path) || strings.ContainsAny(path, "\n\x00") {
		return ""
	}
	folder, base := parts(path)
	if strings.Contains(path, "://") && !strings.HasPrefix(path, "file://") {
		folder = strings.ReplaceAll(folder, "/secrets/", "/") // documents and services have such addresses
	}
	for what := ""; ; {
		original, copied := withoutCopy(base)
		switch {
		case base == "" || isSample(base) || isMember(base):
			return ""
		case isDotenv(base):
			what = "contents of a dotenv file"
		case isKeyFile(folder, base):
			what = keyFile
		case isCredentials(folder, base), secrets && isInSecrets(folder, base):
			what = "contents of a credentials file"
		}
		if !copied {
			return what
		}
		base = original
	}
}

// keyFile is what is said of the contents of one.
const keyFile = "contents of a key file"

// withoutCopy is the name of the file of which one is a copy, as editors and people name them.
func withoutCopy(base string) (original string, copied bool) {
	for _, end := range [...]string{"~", ".bak", ".old", ".orig", ".save", ".txt"} {
		if original, copied = strings.CutSuffix(base, end); copied {
			return original, true
		}
	}
	return base, false
}

// maxPath is the longest path in bytes that is looked at; Linux refuses longer ones.
const maxPath = 4096

// mayBePrivate is the quick look: all private files have a dot or an underscore in their names, stand in a folder, or go by
// one of few words.
func mayBePrivate(path string) bool {
	for i := range len(path) {
		switch path[i] {
		case '.', '/', '\\', '_':
			return true
		}
	}
	switch strings.ToLower(path) {
	case "kubeconfig", "login data":
		return true
	}
	return false
}

// hasPrivateFolder reports whether what a file in a folder is may depend on that folder's name. It is quick, and not exact.
func hasPrivateFolder(folder string) bool {
	return strings.Contains(folder, "/.") || strings.Contains(folder, `\.`) || strings.HasPrefix(folder, "/etc") || strings.Contains(folder, "/run/") ||
		strings.Contains(folder, "opencode") || strings.Contains(folder, "private-keys") || strings.Contains(folder, "/containers") ||
		strings.Contains(folder, "secrets")
}

// isAnyName reports whether a private file's name may be something else as well: event.key is the member of a value.
func isAnyName(path string) bool {
	folder, base := parts(path)
	if !strings.HasSuffix(base, ".key") && !strings.HasSuffix(base, ".env") || base == ".env" || base == "master.key" {
		return false
	}
	return privateFile(folder+"x") == ""
}

// isMember knows what looks like a file's name, and is how a program speaks of its environment.
func isMember(base string) bool {
	switch base {
	case "process.env", "meta.env", "import.meta.env", "rails.env", "deno.env", "bun.env", "app.env", "self.env", "ctx.env", "context.env", "c.env", "this.env":
		return true
	}
	return strings.HasSuffix(base, ".process.env") || strings.HasSuffix(base, ".meta.env")
}

// parts are the folder and the name of a path of any system, in lower case.
func parts(path string) (folder, base string) {
	path = strings.ToLower(path)
	if strings.IndexByte(path, '\\') >= 0 {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	i := strings.LastIndexByte(path, '/')
	return "/" + strings.TrimPrefix(path[:max(i, 0)], "/") + "/", path[i+1:]
}

// isSample knows the names of files that show what to fill in.
func isSample(base string) bool {
	for _, end := range [...]string{".example", ".sample", ".template", ".dist", ".defaults", ".schema", ".pub", ".tmpl", ".go", ".md", ".ts", ".js", ".py",
		"_example", "-example", "_sample", "-sample", "_template", "-template"} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	return strings.Contains(base, ".example.") || strings.Contains(base, ".sample.")
}

func isDotenv(base string) bool {
	switch base {
	case ".env", ".envrc", ".dev.vars", ".flaskenv":
		return true
	}
	return strings.HasPrefix(base, ".env.") || strings.HasPrefix(base, ".env_") || strings.HasPrefix(base, ".env-") || strings.HasPrefix(base, ".dev.vars.") || strings.HasSuffix(base, ".env") && !strings.ContainsAny(base, " ()\"'")
}

func isKeyFile(folder, base string) bool {
	switch base {
	case "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "identity", "secring.gpg", "master.key":
		return base != "identity" || strings.HasSuffix(folder, "/.ssh/")
	}
	switch {
	case strings.HasSuffix(folder, "/.ssh/"):
		return base != "config" && base != "authorized_keys" && !strings.HasPrefix(base, "known_hosts")
	case strings.Contains(folder, "/.gnupg/"), strings.Contains(folder, "/private-keys-v1.d/"), strings.Contains(folder, "/etc/wireguard/"):
		return true
	}
	for _, end := range [...]string{
		".pem", ".key", ".p12", ".pfx", ".p8", ".pk8", ".pkcs12", ".jks", ".keystore", ".ppk", ".kdbx", ".kdb", ".snk", ".keychain",
		".keychain-db", ".ovpn", ".asc.key", ".agekey",
	} {
		if strings.HasSuffix(base, end) && len(base) > len(end) {
			return true
		}
	}
	return false
}

func isCredentials(folder, base string) bool {
	switch base {
	case ".netrc", "_netrc", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".npmrc", ".pypirc", ".git-credentials", ".dockercfg",
		".dockerconfigjson", ".htpasswd", ".vault-token", ".terraformrc", "terraform.rc", "credentials.tfrc.json", ".s3cfg", ".boto", "rclone.conf",
		"kubeconfig", "application_default_credentials.json", "gshadow", "shadow", "logins.json", "key4.db", "cookies.sqlite", "login data",
		".credentials.json", ".yarnrc.yml", ".gem-credentials", ".condarc", "oauth_creds.json", ".claude.json",
		"nuget.config", ".credentials", ".vault_pass", ".vault-pass", ".vault_password", ".vault-password", ".secrets", "accesstokens.json", "msal_token_cache.json", "hosts.yml":
		return base != "hosts.yml" && base != "shadow" && base != "gshadow" || base == "hosts.yml" && strings.HasSuffix(folder, "/gh/") ||
			base != "hosts.yml" && strings.HasSuffix(folder, "/etc/")
	}
	for _, end := range [...]string{".tfstate", ".tfstate.backup", ".tfvars", ".tfvars.json", ".kubeconfig"} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	switch {
	case base == "settings.xml":
		return strings.HasSuffix(folder, "/.m2/")
	case base == "gradle.properties":
		return strings.HasSuffix(folder, "/.gradle/")
	case base == "hosts.json" || base == "apps.json":
		return strings.HasSuffix(folder, "/github-copilot/")
	case base == "auth.json":
		return holdsLogins(folder)
	case base == "credentials":
		return strings.HasSuffix(folder, "/.aws/") || strings.HasSuffix(folder, "/.gem/") || strings.HasSuffix(folder, "/.cargo/") ||
			strings.HasSuffix(folder, "/.config/gh/") || strings.HasSuffix(folder, "/.modal/") || strings.HasSuffix(folder, "/.databricks/")
	case base == "config" && (strings.HasSuffix(folder, "/.kube/") || strings.HasSuffix(folder, "/.aws/")),
		base == "config.json" && strings.HasSuffix(folder, "/.docker/"),
		strings.Contains(folder, "/.aws/"), strings.Contains(folder, "/.config/gcloud/"), strings.Contains(folder, "/.azure/"),
		strings.Contains(folder, "/run/secrets/"):
		return true
	}
	return isNamedSecret(base) && !isOfTexts(folder)
}

// isOfTexts knows the folders in which what is said in other languages stands: there a secret is a word.
func isOfTexts(folder string) bool {
	for _, name := range [...]string{"/locales/", "/locale/", "/i18n/", "/lang/", "/langs/", "/translations/"} {
		if strings.Contains(folder, name) {
			return true
		}
	}
	return false
}

// isInSecrets knows files in a folder for secrets, in a format for settings or in none: of Docker, say. A folder of sources may
// have that name too, and a project.
func isInSecrets(folder, base string) bool {
	if !strings.Contains(folder, "/secrets/") || isOfTexts(folder) || isOfProject(base) {
		return false
	}
	dot := strings.LastIndexByte(base, '.')
	if dot < 0 {
		return strings.HasSuffix(folder, "/secrets/") && !isOfSources(folder+base+"/")
	}
	switch base[dot:] {
	case ".json", ".yml", ".yaml", ".toml", ".ini", ".xml", ".properties", ".txt", ".conf", ".enc", ".asc", ".gpg", ".age", ".env":
		return true
	}
	return false
}

// isOfProject knows the names of files that any project may have, and that its tools read.
func isOfProject(base string) bool {
	switch base {
	case "readme", "license", "makefile", "dockerfile", "codeowners", "gemfile", "rakefile", "procfile", "justfile", "jenkinsfile", "vagrantfile", "changelog", "copying",
		"package.json", "package-lock.json", "composer.json", "deno.json", "biome.json", "lerna.json", "turbo.json", "nx.json", "angular.json", "vercel.json", "renovate.json",
		"kustomization.yaml", "kustomization.yml", "chart.yaml", "pnpm-lock.yaml", "pnpm-workspace.yaml", "pubspec.yaml", "mkdocs.yml", "codecov.yml", "dependabot.yml",
		"docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml", ".gitlab-ci.yml", ".travis.yml", ".golangci.yml", ".golangci.yaml", ".pre-commit-config.yaml",
		"cargo.toml", "pyproject.toml", "rustfmt.toml", "clippy.toml", "netlify.toml", "poetry.toml", "uv.toml", "rust-toolchain.toml", "setup.cfg", "tox.ini", "pytest.ini", "mypy.ini",
		"pom.xml", "readme.txt", "license.txt", "cmakelists.txt", "requirements.txt", "requirements-dev.txt", "robots.txt", "openapi.json", "openapi.yaml", "openapi.yml":
		return true
	}
	return strings.HasPrefix(base, "tsconfig.") || strings.HasPrefix(base, ".eslintrc.") || strings.HasPrefix(base, ".prettierrc.")
}

// mayBeInSecrets reports whether a word may name a secret because the folder in which a tool works is one for secrets: only
// where nothing but a file may stand, and outside of sources. That folder may be a project, in which any word would name one.
func mayBeInSecrets(word string, as role) bool {
	folder, base := parts(word)
	return strings.Contains(folder, "/secrets/") || as != shown && strings.Trim(base, ".") != "" && !isOfSources(folder+base+"/")
}

func isOfSources(folder string) bool {
	for _, name := range [...]string{"/src/", "/internal/", "/pkg/", "/lib/", "/cmd/", "/docs/", "/test/", "/tests/", "/testkit/", "/testdata/"} {
		if strings.Contains(folder, name) {
			return true
		}
	}
	return false
}

// holdsLogins knows the folders whose auth.json holds what its program signs in with.
func holdsLogins(folder string) bool {
	for _, end := range [...]string{"/.codex/", "/.docker/", "/.composer/", "/composer/", "/opencode/", "/.opencode/", "/containers/", "/.pi/agent/", "/amp/"} {
		if strings.HasSuffix(folder, end) {
			return true
		}
	}
	return false
}

// isNamedSecret knows files whose name says that they hold secrets, in a format for settings.
func isNamedSecret(base string) bool {
	name, ending, _ := strings.Cut(base, ".")
	switch ending {
	case "", "json", "yml", "yaml", "toml", "ini", "xml", "properties", "txt", "csv", "conf", "enc.yaml", "yml.enc":
	default:
		return false
	}
	switch name {
	case "credentials", "credential", "creds", "service-account", "service_account", "serviceaccount", "client_secret", "client-secret":
		return ending != ""
	case "secrets", "secret":
		return ending != ""
	}
	return ending == "json" && (strings.HasPrefix(name, "client_secret") || strings.HasPrefix(name, "service-account") || strings.HasPrefix(name, "service_account"))
}

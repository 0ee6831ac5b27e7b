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
		case base == "" || samples.has(base) || environmentMembers.has(base):
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
	return strings.ContainsAny(path, `./\_`) || strings.EqualFold(path, "kubeconfig") || strings.EqualFold(path, "login data")
}

// folderSigns are the signs of a folder whose name may say what a file in it is. They are quick, and not exact.
var folderSigns = newList("*/.*", `*\.*`, "/etc*", "*/run/*", "*opencode*", "*private-keys*", "*/containers*", "*secrets*", "*/config*", "*_vars*")

// isAnyName reports whether a private file's name may be something else as well: event.key is the member of a value.
func isAnyName(path string) bool {
	folder, base := parts(path)
	if !strings.HasSuffix(base, ".key") && !strings.HasSuffix(base, ".env") || base == ".env" || base == "master.key" {
		return false
	}
	return privateFile(folder+"x") == ""
}

// environmentMembers are what looks like a file's name, and is how a program speaks of its environment.
var environmentMembers = newList(
	"process.env", "meta.env", "import.meta.env", "rails.env", "deno.env", "bun.env", "app.env", "self.env", "ctx.env", "context.env", "c.env",
	"this.env", "*.process.env", "*.meta.env",
)

// parts are the folder and the name of a path of any system, in lower case.
func parts(path string) (folder, base string) {
	path = strings.ToLower(path)
	if strings.IndexByte(path, '\\') >= 0 {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	i := strings.LastIndexByte(path, '/')
	return "/" + strings.TrimPrefix(path[:max(i, 0)], "/") + "/", path[i+1:]
}

// samples are the names of files that show what to fill in, and of others that hold no values.
var samples = newList(
	"*.example", "*.sample", "*.template", "*.dist", "*.defaults", "*.schema", "*.pub", "*.tmpl", "*.go", "*.md", "*.ts", "*.js", "*.py",
	"*_example", "*-example", "*_sample", "*-sample", "*_template", "*-template", "*.example.*", "*.sample.*",
)

// dotenvs are the names of dotenv files, beside those that end in .env.
var dotenvs = newList(".env", ".envrc", ".dev.vars", ".flaskenv", ".env.*", ".env_*", ".env-*", ".dev.vars.*")

func isDotenv(base string) bool {
	return dotenvs.has(base) || strings.HasSuffix(base, ".env") && !strings.ContainsAny(base, " ()\"'")
}

var (
	keyNames   = newList("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "secring.gpg", "master.key")
	keyEndings = newList( // of files that have a name before them
		"*.pem", "*.key", "*.p12", "*.pfx", "*.p8", "*.pk8", "*.pkcs12", "*.jks", "*.keystore", "*.ppk", "*.kdbx", "*.kdb", "*.snk",
		"*.keychain", "*.keychain-db", "*.ovpn", "*.asc.key", "*.agekey",
	)
	keyFolders = newList("*/.gnupg/*", "*/private-keys-v1.d/*", "*/etc/wireguard/*")
	sshPublic  = newList("config", "authorized_keys", "known_hosts*") // in a folder that holds keys
)

func isKeyFile(folder, base string) bool {
	ssh := strings.HasSuffix(folder, "/.ssh/")
	switch {
	case keyNames.has(base):
		return true
	case base == "identity":
		return ssh
	case ssh:
		return !sshPublic.has(base)
	}
	return keyFolders.has(folder) || keyEndings.has(base[1:])
}

// credentials are the names of files that hold them: in some folders, or wherever they are.
var credentials = []struct{ names, in *list }{
	{names: newList(
		".netrc", "_netrc", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".npmrc", ".pypirc", ".git-credentials", ".dockercfg",
		".dockerconfigjson", ".htpasswd", ".vault-token", ".terraformrc", "terraform.rc", "credentials.tfrc.json", ".s3cfg", ".boto",
		"rclone.conf", "kubeconfig", "application_default_credentials.json", "logins.json", "key4.db", "cookies.sqlite", "login data",
		".credentials.json", ".yarnrc.yml", ".gem-credentials", ".condarc", "oauth_creds.json", ".claude.json", "nuget.config",
		".credentials", "wp-config.php", ".vault_pass", ".vault-pass", ".vault_password", ".vault-password", ".secrets", "accesstokens.json",
		"msal_token_cache.json", "*.tfstate", "*.tfstate.backup", "*.tfvars", "*.tfvars.json", "*.kubeconfig",
	)},
	{names: newList( // what was typed, secrets among it
		".bash_history", ".zsh_history", ".sh_history", ".history", "fish_history", ".psql_history", ".mysql_history", ".python_history",
		".node_repl_history", ".rediscli_history", ".irb_history",
	)},
	{names: newList("hosts.yml"), in: newList("*/gh/")},
	{names: newList("shadow", "gshadow"), in: newList("*/etc/")},
	{names: newList("config"), in: newList("*/.kube/")},
	{names: newList("database.yml"), in: newList("*/config/")},
	{names: newList("vault.yml", "vault.yaml"), in: newList("*/group_vars/*", "*/host_vars/*")},
	{names: newList("config.json"), in: newList("*/.docker/")},
	{names: newList("settings.xml"), in: newList("*/.m2/")},
	{names: newList("gradle.properties"), in: newList("*/.gradle/")},
	{names: newList("hosts.json", "apps.json"), in: newList("*/github-copilot/")},
	{names: newList("auth.json"), in: newList(
		"*/.codex/", "*/.docker/", "*/.composer/", "*/composer/", "*/opencode/", "*/.opencode/", "*/containers/", "*/.pi/agent/", "*/amp/",
	)},
	{names: newList("credentials"), in: newList("*/.aws/", "*/.gem/", "*/.cargo/", "*/.config/gh/", "*/.modal/", "*/.databricks/")},
}

// credentialFolders are those of which all files hold credentials.
var credentialFolders = newList("*/.aws/*", "*/.config/gcloud/*", "*/.azure/*", "*/run/secrets/*")

func isCredentials(folder, base string) bool {
	for _, row := range credentials {
		if row.names.has(base) && (row.in == nil || row.in.has(folder)) {
			return true
		}
	}
	return credentialFolders.has(folder) || isNamedSecret(base) && !textFolders.has(folder)
}

// textFolders are those in which what is said in other languages stands: there a secret is a word.
var textFolders = newList("*/locales/*", "*/locale/*", "*/i18n/*", "*/lang/*", "*/langs/*", "*/translations/*")

// isInSecrets knows files in a folder for secrets, in a format for settings or in none: of Docker, say. A folder of sources may
// have that name too, and a project.
func isInSecrets(folder, base string) bool {
	if !strings.Contains(folder, "/secrets/") || textFolders.has(folder) || projectFiles.has(base) {
		return false
	}
	dot := strings.LastIndexByte(base, '.')
	if dot < 0 {
		return strings.HasSuffix(folder, "/secrets/") && !sourceFolders.has(folder+base+"/")
	}
	return inSecrets.has(base[dot:])
}

// inSecrets are the endings of files that hold secrets, in a folder for them.
var inSecrets = newList(
	".json", ".yml", ".yaml", ".toml", ".ini", ".xml", ".properties", ".txt", ".conf", ".enc", ".asc", ".gpg", ".age", ".env",
)

// projectFiles are the names of files that any project may have, and that its tools read.
var projectFiles = newList(
	"readme", "license", "makefile", "dockerfile", "codeowners", "gemfile", "rakefile", "procfile", "justfile", "jenkinsfile", "vagrantfile",
	"changelog", "copying", "package.json", "package-lock.json", "composer.json", "deno.json", "biome.json", "lerna.json", "turbo.json",
	"nx.json", "angular.json", "vercel.json", "renovate.json", "kustomization.yaml", "kustomization.yml", "chart.yaml", "pnpm-lock.yaml",
	"pnpm-workspace.yaml", "pubspec.yaml", "mkdocs.yml", "codecov.yml", "dependabot.yml", "docker-compose.yml", "docker-compose.yaml",
	"compose.yml", "compose.yaml", ".gitlab-ci.yml", ".travis.yml", ".golangci.yml", ".golangci.yaml", ".pre-commit-config.yaml",
	"cargo.toml", "pyproject.toml", "rustfmt.toml", "clippy.toml", "netlify.toml", "poetry.toml", "uv.toml", "rust-toolchain.toml",
	"setup.cfg", "tox.ini", "pytest.ini", "mypy.ini", "pom.xml", "readme.txt", "license.txt", "cmakelists.txt", "requirements.txt",
	"requirements-dev.txt", "robots.txt", "openapi.json", "openapi.yaml", "openapi.yml", "tsconfig.*", ".eslintrc.*", ".prettierrc.*",
)

// mayBeInSecrets reports whether a word may name a secret because the folder in which a tool works is one for secrets: only
// where nothing but a file may stand, and outside of sources. That folder may be a project, in which any word would name one.
func mayBeInSecrets(word string, as role) bool {
	folder, base := parts(word)
	return strings.Contains(folder, "/secrets/") || as != roleShown && strings.Trim(base, ".") != "" && !sourceFolders.has(folder+base+"/")
}

// sourceFolders are those of sources.
var sourceFolders = newList(
	"*/src/*", "*/internal/*", "*/pkg/*", "*/lib/*", "*/cmd/*", "*/docs/*", "*/test/*", "*/tests/*", "*/testkit/*", "*/testdata/*",
)

var (
	secretNames = newList(
		"credentials", "credential", "creds", "service-account", "service_account", "serviceaccount", "client_secret", "client-secret",
		"secrets", "secret", "application-secrets",
	)
	secretJSON    = newList("client_secret*", "service-account*", "service_account*")
	secretEndings = newList("json", "yml", "yaml", "toml", "ini", "xml", "properties", "txt", "csv", "conf", "enc.yaml", "yml.enc")
)

// isNamedSecret knows files whose name says that they hold secrets, in a format for settings.
func isNamedSecret(base string) bool {
	name, ending, _ := strings.Cut(base, ".")
	return secretEndings.has(ending) && (secretNames.has(name) || ending == "json" && secretJSON.has(name))
}

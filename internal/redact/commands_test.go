package redact_test

import (
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/redact"
)

// commandTaken are secrets in commands and in files of a known form. What is between « and » has to go.
func commandTaken() []struct{ rule, text string } {
	const drawn, word = "q7Zr2Lw9" + "Xk4Tn8Vb3Md6", "hunter" + "22"
	const hex, base32 = "e5d490340494b35ec2daca1760147d9f", "5ZKM6FIXDZPDXCAN" + "5THI3FMHWKXVAQ23"
	const uuid = "7b478c08-9e07-4aaa-b1b1-123456789abc"
	a, b := strings.Repeat("q7Zr2Lw9", 8), strings.Repeat("Xk4Tn8Vb", 8)
	bot := "MTI" + "zNDU2Nzg5MDEyMzQ1Njc4" + ".Gx7Zr2." + drawn + "Zr2Lw9Xk4T"
	return []struct{ rule, text string }{
		{"secret", "SECRET_KEY_BASE=«" + hex + hex + "»"}, {"secret", "secret_key_base: «" + hex + hex + hex + hex + "»\n"},
		{"secret", "secret_key_base = '«" + hex + hex + "»'"}, {"secret", "export SESSION_SALT=«" + hex + "»"}, {"secret", "passwordSalt: \"«" + hex + "»\""},
		{"plaid-token", "plaid «access-production-" + uuid + "»"}, {"plaid-token", "PLAID=«access-sandbox-" + uuid + "»\n"}, {"plaid-token", "«access-development-" + uuid + "»."},
		{"okta-token", "the header is SSWS «00" + drawn + drawn + "»"}, {"okta-token", "-H 'X: SSWS «00" + drawn + "-_" + drawn[:16] + "Zz»'"},
		{"one-time-secret", "otpauth://totp/Shop:bob?secret=«" + base32 + "»&issuer=Shop"}, {"one-time-secret", "otpauth://hotp/x?counter=1&secret=«" + base32 + "»"},
		{"private-key", "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 3\n«" + a + "\n" + b + "\nXk4Tn8==»\nPrivate-MAC: 0a1b"},
		{"private-key", "Private-Lines: 1\n«" + a + "»\nPrivate-MAC: 0a1b\n"}, {"private-key", "Private-Lines: 14\n«" + a + "\n" + b + "»"},
		{"private-key", "     7→Private-Lines: 2\n     8→«" + a + "\n     9→" + b + "»\n    10→Private-MAC: 0a1b"},
		{"private-key", "+Private-Lines: 2\n«+" + a + "\n+Xk4Tn8=»\n+Private-MAC: 0a1b"},
		// of other shells
		{"secret", "set -gx API_TOKEN «" + drawn + "»"}, {"secret", "set -x GITHUB_TOKEN «" + drawn + "»; and run"}, {"secret", "set --global --export API_KEY '«" + drawn + "»'"},
		{"password", "set -Ux DB_PASSWORD «correcthorse»\n"}, {"secret", "setx API_KEY «" + drawn + "» /M"}, {"password", "setx DB_PASSWORD \"«" + word + "»\""},
		{"secret", "setenv API_TOKEN «" + drawn + "»"}, {"secret", "a; set -gx API_TOKEN \"«" + drawn + "»\""},
		{"password", "$s = ConvertTo-SecureString \"«correct horse; battery»\" -AsPlainText -Force"}, {"password", "ConvertTo-SecureString -String '«" + word + "»' -AsPlainText"},
		{"password", "convertto-securestring -asplaintext -force «correcthorse»\n"},
		// behind options, in pairs, through pipes
		{"secret", "ngrok config add-authtoken «" + drawn + "»"}, {"secret", "ngrok authtoken «" + drawn + "_4kQ8v2nFz0»\n"},
		{"password", "echo «correcthorse» | docker login -u bob --password-stdin"}, {"password", "echo -n '«correct horse»' | docker login r.example --password-stdin"},
		{"password", "printf '%s' \"«" + word + "»\" | helm registry login --password-stdin"}, {"password", "echo hi | wc; echo «" + word + "»|podman login --password-stdin"},
		{"password", "gh secret set DEPLOY --body «correcthorse»"}, {"password", "gh secret set DEPLOY -R a/b -b\"«correct; horse»\""}, {"password", "gh secret set DEPLOY --body=«" + word + "» --repo a/b"},
		{"password", "kubectl create secret generic x --from-literal=pw=«correcthorse»"}, {"password", "kubectl -n a create secret generic x --from-literal 'pw=«correct horse»'"},
		{"password", "kubectl create secret generic x --from-literal=pw='«correct horse»' -n a"},
		{"password", "vault kv put secret/x pw=«correcthorse»"}, {"password", "vault kv put -mount=secret x note='«a b; c»'\n"}, {"password", "vault kv patch secret/x pw=«" + word + "» && ls"},
		{"discord-token", "it is " + "«" + bot + "» now"},
	}
}

func TestWhatIsTakenFromCommands(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for _, tc := range commandTaken() {
		before, rest, _ := strings.Cut(tc.text, "«")
		secret, after, ok := strings.Cut(rest, "»")
		if !ok {
			t.Fatalf("%q marks nothing", tc.text)
		}
		want := before + redact.Mark(tc.rule) + after
		if got, _ := r.Text(before + secret + after); got != want {
			t.Errorf("%s:\n got %q\nwant %q", tc.rule, got, want)
		}
		if again, _ := r.Text(want); again != want {
			t.Errorf("%s: the second time it is %q", tc.rule, again)
		}
		wanted := quoted(t, map[string]any{"command": want, "n": 1})
		if got, _ := r.JSON(quoted(t, map[string]any{"command": before + secret + after, "n": 1})); got != wanted {
			t.Errorf("JSON, %s:\n got %q\nwant %q", tc.rule, got, wanted)
		}
	}
}

func TestEveryPairIsTaken(t *testing.T) {
	t.Parallel()
	got, found := redact.New().Text("kubectl create secret generic x --from-literal=a=correct --from-literal=b=horse; vault kv put s/x c=battery d=staple e=@file")
	want := "kubectl create secret generic x --from-literal=a=* --from-literal=b=*; vault kv put s/x c=* d=* e=@file"
	if got = strings.ReplaceAll(got, redact.Mark("password"), "*"); got != want || found["password"] != 4 {
		t.Errorf("got %q, %v", got, found)
	}
}

// TestKeysOfPuttyInLists: a file that is told line by line has a string for each line of a key.
func TestKeysOfPuttyInLists(t *testing.T) {
	t.Parallel()
	a, mark := strings.Repeat("q7Zr2Lw9", 8), redact.Mark("private-key")
	want := quoted(t, []string{"+Private-Lines: 2", mark, mark, "+Private-MAC: 0a"})
	got, found := redact.New().JSON(quoted(t, []string{"+Private-Lines: 2", "+" + a, "+Xk4Tn8==", "+Private-MAC: 0a"}))
	if got != want || found["private-key"] != 1 {
		t.Errorf("got %q, %v\nwant %q", got, found, want)
	}
}

// TestKeysOfPuttyBehindEscapes: a key that stands behind an escape sequence goes without any of its digits.
func TestKeysOfPuttyBehindEscapes(t *testing.T) {
	t.Parallel()
	a := strings.Repeat("q7Zr2Lw9", 8)
	for _, before := range []string{`\u003c`, `\n`, `\n\u0009`, `\\`} {
		in, want := `["Private-Lines: 1\n`+before+a+`"]`, `["Private-Lines: 1\n`+before+redact.Mark("private-key")+`"]`
		if got, _ := redact.New().JSON(in); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}

func commandStays() []string {
	return []string{
		"SECRET_KEY_BASE=$SECRET_KEY_BASE", "secret_key_base: <%= ENV[\"SECRET_KEY_BASE\"] %>", "salt: 16", "salt = generate_salt(rounds)", "basalt: q7Zr2Lw9Xk4Tn8Vb3Md6",
		"salt: str = \"\"", "const salt = await bcrypt.genSalt(10)", "the salt is drawn anew", "pinch of salt: a little", "asphalt_2024: q7Zr2Lw9",
		"access-production-database", "access-sandbox-7b478c08", "the access-development-team", "SSWS is a scheme", "SSWS 00 and more", "SSWS ${OKTA_TOKEN}",
		"otpauth://totp/x?issuer=Shop", "otpauth://totp/x?secret=$SECRET", "otpauth: a scheme", "Private-Lines: 14", "Private-Lines: 14\nPrivate-MAC: 0a1b",
		"Private-Lines: many\nq7Zr2Lw9", "private-lines: 2 of them are short\nand this is prose about them",
		"set -x", "set -euxo pipefail\nexport API_TOKEN", "set -x API_TOKEN $TOKEN", "set -x PATH /usr/local/bin $PATH", "set -l API_TOKEN", "set -gx EDITOR vim", "set -x\nAPI_TOKEN q7Zr",
		"setx PATH \"%PATH%;C:\\bin\"", "setx API_KEY %API_KEY%", "setx JAVA_HOME \"C:\\Java\"", "setenv API_TOKEN $TOKEN", "set -gx DB_PASSWORD\nnext line",
		"ConvertTo-SecureString $plain -AsPlainText -Force", "ConvertTo-SecureString -String $p", "ConvertTo-SecureString is a command", "Read-Host -AsSecureString",
		"ConvertTo-SecureString $encrypted -Key $key",
		"ngrok config add-authtoken $NGROK", "ngrok config add-authtoken <token>", "ngrok http 8080", "ngrok config add-authtoken", "the authtoken of ngrok",
		"echo \"$PW\" | docker login --password-stdin", "cat pw.txt | docker login --password-stdin", "docker login --password-stdin < pw.txt", "echo hello | wc -c",
		"echo a b | docker login --password-stdin", "aws ecr get-login-password | docker login --password-stdin", "| --password-stdin | reads it |", "--password-stdin",
		"gh secret set X < file", "gh secret set X --body \"$V\"", "gh secret set X --env prod", "gh secret list", "gh secret set --help",
		"kubectl create configmap x --from-literal=mode=production", "kubectl create secret generic x --from-file=a", "kubectl create secret tls x --cert=a.pem", "--from-literal=a=b",
		"kubectl create secret generic x --from-literal=pw=$PW", "kubectl create secret generic x --from-literal=pw=\"$PW\"",
		"vault kv get secret/x", "vault kv put secret/x pw=@file", "vault kv put secret/x pw=$PW", "vault kv put -mount=secret x @data.json", "vault kv put secret/x -", "vault status",
		"ARG DB_PASSWORD\nRUN make", "ENV DB_PASSWORD\n",
	}
}

func TestWhatStaysInCommands(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for _, s := range commandStays() {
		if got, found := r.Text(s); got != s {
			t.Errorf("%q became %q %v", s, got, found)
		}
		if got, found := r.JSON(quoted(t, s)); got != quoted(t, s) {
			t.Errorf("JSON: %q became %q %v", s, got, found)
		}
	}
}
